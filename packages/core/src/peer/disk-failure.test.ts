/** A disk that fails while the member runs: what becomes of its place, its calls, its sessions, and of the ensemble. */
import type { Op } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import type { PeerAction } from './actions.ts';
import { DiskWatch } from './disk-watch.ts';
import { answerOf, type Member, TestEnsemble } from './ensemble.fixture.ts';
import { Outbox } from './outbox.ts';
import { create, digests, get, set, shown } from './words.fixture.ts';

const SYNC: Op = { kind: 'sync', path: '/' };

function fail(ensemble: TestEnsemble, member: Member): void {
  ensemble.give(member, { kind: 'storageFailed', reason: 'ENOSPC' });
  ensemble.run();
}

/** As the driver does when the disk works again: a new member from what is on the disk. */
function reopen(ensemble: TestEnsemble, member: Member): void {
  ensemble.kill(member);
  ensemble.start(member);
}

function shownNow(ensemble: TestEnsemble, member: Member, op: Op): string | undefined {
  const id = ensemble.submit(member, op);
  ensemble.run();
  return shown(member, id);
}

describe('the place of a member whose disk fails', () => {
  it('C056: a leader gives it up at once and another one is elected without a timeout', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const { epoch } = leader.peer!.status;
    fail(ensemble, leader);
    expect(leader.failed).toBe('ENOSPC');
    expect(leader.peer!.status).toMatchObject({ role: 'looking', hasQuorum: false, diskFailed: 'ENOSPC' });
    ensemble.advance(200);
    expect(ensemble.leader).not.toBe(leader);
    expect(ensemble.leader.peer!.status.epoch).toBe(epoch + 1);
    expect(ensemble.call(ensemble.leader, create('/a')).result.kind).toBe('create');
  });

  it('C056: it says nothing to anybody any more, whatever it is told', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    fail(ensemble, follower);
    const said = follower.sent.length;
    // Links come up again, votes, proposals and pings come in.
    for (let i = 0; i < 40; i++) {
      expect(ensemble.call(ensemble.leader, create(`/a${i}`)).result.kind).toBe('create');
      ensemble.advance(100);
    }
    ensemble.give(follower, { kind: 'persisted', ticket: 1_000 });
    ensemble.run();
    expect(follower.sent.length).toBe(said);
    expect(follower.disk.log.length).toBeLessThan(ensemble.leader.disk.log.length);
  });

  it('C056: a leader with a single follower left does not go on: nothing is acknowledged without a quorum', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [one, two] = ensemble.followers as [Member, Member];
    fail(ensemble, one);
    fail(ensemble, leader);
    const id = ensemble.submit(two, create('/a'));
    ensemble.advance(4_000);
    expect(shown(two, id)).toBeUndefined();
    expect(two.peer!.status.hasQuorum).toBe(false);
    reopen(ensemble, one);
    ensemble.advance(1_000);
    expect(shown(two, id)).toBe('create');
  });

  it('C056: the only member of an ensemble does not elect itself again', () => {
    const ensemble = new TestEnsemble({ voters: 1 });
    const { leader } = ensemble;
    fail(ensemble, leader);
    ensemble.advance(5_000);
    expect(leader.peer!.status).toMatchObject({ role: 'looking', serving: true });
    reopen(ensemble, leader);
    expect(ensemble.call(leader, create('/a')).result.kind).toBe('create');
  });

  it('C057: made anew from its disk it has no gap, and the same tree as the others', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    ensemble.call(follower, create('/a'));
    fail(ensemble, follower);
    for (let i = 0; i < 20; i++) ensemble.call(ensemble.leader, create(`/b${i}`));
    expect(digests(ensemble).size).toBe(2);
    reopen(ensemble, follower);
    ensemble.advance(1_000);
    expect(digests(ensemble).size).toBe(1);
    expect(follower.peer!.status.diskFailed).toBeUndefined();
    expect(follower.disk.log.map(({ zxid }) => zxid)).toEqual(ensemble.leader.disk.log.map(({ zxid }) => zxid));
  });

  it('asks for no disk work, not even to tidy up what was begun', () => {
    const outbox = new Outbox();
    outbox.diskFailed();
    const first = outbox.persist({ kind: 'installAbort' });
    expect(outbox.persist({ kind: 'purgeLog', through: 1n as never })).toBe(first + 1);
    const work: PeerAction[] = [
      { kind: 'checkpointPut', records: [] },
      { kind: 'checkpointCommit', zxid: 1n as never },
      { kind: 'checkpointAbort' },
      { kind: 'openState', stream: 1 },
      { kind: 'sendState', stream: 1, sid: 2, link: 1 },
      { kind: 'closeState', stream: 1 },
    ];
    for (const action of work) outbox.push(action);
    outbox.push({ kind: 'statusChanged' });
    expect(outbox.take()).toEqual([{ kind: 'statusChanged' }]);
  });
});

describe('the calls of a member whose disk fails', () => {
  it('C056: those that wait are answered with what is known, once each', () => {
    const ensemble = new TestEnsemble();
    const [entry, other] = ensemble.followers as [Member, Member];
    const { leader } = ensemble;
    const { session } = ensemble.open(entry, 1);
    // Nothing comes back from the leader.
    leader.isFrozen = true;
    const by = { session, attachment: 1 };
    const sent = ensemble.submit(entry, create('/sent'));
    const sync = ensemble.submit(entry, SYNC, by);
    const behind = ensemble.submit(entry, create('/behind'), by);
    const read = ensemble.submit(entry, get('/'), by);
    ensemble.run();
    const unsent = ensemble.submit(entry, create('/unsent'));
    ensemble.give(entry, { kind: 'storageFailed', reason: 'EIO' });
    ensemble.run();
    const kept = ensemble.keepAlive(entry, session);
    expect([sent, sync, behind, unsent, kept].map((id) => shown(entry, id))).toEqual([
      'OUTCOME_UNKNOWN',
      'UNAVAILABLE',
      'UNAVAILABLE',
      'UNAVAILABLE',
      'UNAVAILABLE',
    ]);
    expect(shown(entry, read)).toBe('');
    const message = expect.stringContaining('EIO') as string;
    expect(answerOf(entry, unsent).result).toMatchObject({ message, goElsewhere: true });
    expect(answerOf(entry, sent).result).not.toHaveProperty('goElsewhere');
    leader.isFrozen = false;
    ensemble.advance(500);
    expect(ensemble.call(other, get('/unsent')).result).toMatchObject({ code: 'NO_NODE' });
    expect(entry.peer!.status.outstanding).toBe(0);
  });

  it('C056: writes, syncs, linearizable reads and sessions are refused by name, and reads are answered', () => {
    const ensemble = new TestEnsemble();
    const [entry] = ensemble.followers as [Member];
    ensemble.call(entry, create('/a', 'x'));
    const { session } = ensemble.open(entry, 1);
    fail(ensemble, entry);
    for (const answer of [
      ensemble.call(entry, set('/a', 'y')),
      ensemble.call(entry, set('/a', 'y'), { session, attachment: 1 }),
      ensemble.call(entry, SYNC),
      ensemble.call(entry, get('/a'), { linearizable: true }),
      answerOf(entry, ensemble.attach(entry, 2, session)),
      answerOf(entry, ensemble.keepAlive(entry, session)),
    ]) {
      const message = expect.stringContaining('disk of member') as string;
      expect(answer.result).toMatchObject({ kind: 'error', code: 'UNAVAILABLE', message });
    }
    expect(() => ensemble.open(entry, 3)).toThrow('The disk of member');
    expect(shownNow(ensemble, entry, get('/a'))).toBe('x');
    const { result } = ensemble.call(entry, get('/a'), { session, attachment: 1 });
    expect(result.kind).toBe('getData');
  });

  it('C056: reads end when they would be too stale, and sessions are let go of in time to move', () => {
    const ensemble = new TestEnsemble();
    const [entry] = ensemble.followers as [Member];
    ensemble.open(entry, 1, 12_000);
    fail(ensemble, entry);
    ensemble.advance(7_500);
    expect(entry.closed).toEqual([]);
    ensemble.advance(1_000);
    expect(entry.closed).toMatchObject([{ attachment: 1, code: 'UNAVAILABLE' }]);
    expect(ensemble.call(entry, get('/')).result.kind).toBe('getData');
    ensemble.advance(22_000);
    expect(ensemble.call(entry, get('/')).result).toMatchObject({ code: 'UNAVAILABLE' });
    expect(entry.peer!.status.serving).toBe(false);
  });

  it('C056: a client that writes gets its answers and is let go of at once, to write elsewhere; one that reads stays', () => {
    const ensemble = new TestEnsemble();
    const [entry, other] = ensemble.followers as [Member, Member];
    const { session } = ensemble.open(entry, 1);
    const reader = ensemble.open(entry, 2);
    fail(ensemble, entry);
    const by = { session, attachment: 1 };
    const ids = [create('/a'), set('/a', 'x'), create('/b')].map((op) => ensemble.submit(entry, op, by));
    const read = ensemble.submit(entry, get('/'), { session: reader.session, attachment: 2 });
    ensemble.run();
    ensemble.advance(50);
    const refused = { code: 'UNAVAILABLE', goElsewhere: true };
    expect(ids.map((id) => answerOf(entry, id).result)).toMatchObject([refused, refused, refused]);
    expect(shown(entry, read)).toBe('');
    expect(entry.closed).toMatchObject([{ attachment: 1, code: 'UNAVAILABLE' }]);
    ensemble.attach(other, 1, session);
    expect(ensemble.call(other, create('/a'), by).result.kind).toBe('create');
    ensemble.advance(1_000);
    expect(entry.closed).toHaveLength(1);
  });

  it('C056: the time without a leader counts, also before the disk failed', () => {
    const ensemble = new TestEnsemble();
    const [entry] = ensemble.followers as [Member];
    ensemble.isolate(entry);
    ensemble.advance(20_000);
    fail(ensemble, entry);
    ensemble.advance(11_000);
    expect(ensemble.call(entry, get('/')).result).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('the member stops when it is told to', () => {
    const ensemble = new TestEnsemble();
    const [entry] = ensemble.followers as [Member];
    ensemble.submit(entry, create('/a'));
    fail(ensemble, entry);
    ensemble.give(entry, { kind: 'stop' });
    ensemble.run();
    expect(entry.hasStopped).toBe(true);
  });
});

describe('a disk that hangs', () => {
  it('of a follower, for a while: the others go on, and it catches up', () => {
    const ensemble = new TestEnsemble();
    const follower = ensemble.followers[0]!;
    follower.stalled = [];
    for (let i = 0; i < 50; i++) {
      expect(ensemble.call(ensemble.leader, create(`/a${i}`)).result.kind).toBe('create');
      ensemble.advance(100);
    }
    expect(follower.peer!.status).toMatchObject({ role: 'following', diskFailed: undefined });
    ensemble.unstall(follower);
    ensemble.advance(500);
    expect(digests(ensemble).size).toBe(1);
  });

  it('of a leader, for less than diskStallMs: it leads on, the quorum of the others commits, and only its own clients wait', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [entry] = ensemble.followers as [Member];
    leader.stalled = [];
    for (let i = 0; i < 50; i++) {
      expect(ensemble.call(entry, create(`/a${i}`)).result.kind).toBe('create');
      ensemble.advance(100);
    }
    // A sync needs no disk of the leader, and shows what was committed meanwhile.
    expect(shownNow(ensemble, entry, SYNC)).toBe('sync');
    const own = ensemble.submit(leader, create('/own'));
    const read = ensemble.submit(leader, get('/a1'), { linearizable: true });
    ensemble.advance(1_000);
    expect(ensemble.leader).toBe(leader);
    expect([shown(leader, own), shown(leader, read)]).toEqual([undefined, undefined]);
    ensemble.unstall(leader);
    expect([shown(leader, own), shown(leader, read)]).toEqual(['create', '']);
    expect(digests(ensemble).size).toBe(1);
  });

  it('of a leader, for longer than diskStallMs: it counts as failed, and another one leads', () => {
    const ensemble = new TestEnsemble({ timing: { diskStallMs: 4_000 } });
    const { leader } = ensemble;
    leader.stalled = [];
    const deadlineMs = ensemble.now.monotonicMs + 60_000;
    const own = ensemble.submit(leader, create('/own'), { deadlineMs });
    ensemble.advance(3_900);
    expect(ensemble.leader).toBe(leader);
    ensemble.advance(500);
    expect(leader.peer!.status.diskFailed).toContain('has not answered for 4');
    expect(shown(leader, own)).toBe('OUTCOME_UNKNOWN');
    expect(ensemble.leader).not.toBe(leader);
    expect(ensemble.call(ensemble.leader, get('/own')).result.kind).toBe('getData');
    // What it did in the end counts for nothing in this run.
    const said = leader.sent.length;
    ensemble.unstall(leader);
    ensemble.advance(500);
    expect(leader.sent.length).toBe(said);
  });

  it('only while a checkpoint is written, for longer than 3 × diskStallMs: it counts as failed too', () => {
    const ensemble = new TestEnsemble({ timing: { diskStallMs: 1_000 }, limits: { checkpointTxns: 10 } });
    const { leader } = ensemble;
    leader.stallsCheckpoints = true;
    for (let i = 0; i < 20; i++) ensemble.call(leader, create(`/a${i}`));
    ensemble.advance(2_900);
    expect(leader.peer!.status.diskFailed).toBeUndefined();
    ensemble.advance(300);
    expect(leader.peer!.status.diskFailed).toMatch(/has not answered for 3\d\d\d ms \(a checkpoint\)/);
    expect(ensemble.leader).not.toBe(leader);
    for (const other of ensemble.members) if (other !== leader) expect(other.disk.checkpoints).toBeGreaterThan(0);
  });

  it('that is slow, but gets something done, has not failed; nor has that of a member that was frozen', () => {
    const watch = new DiskWatch(1_000, 0);
    let nowMs = 0;
    for (let ticket = 1; ticket < 100; ticket++) {
      expect(watch.tick((nowMs += 50), 1_000)).toBeUndefined();
      if (ticket % 10 === 0) watch.persisted(ticket);
    }
    expect(watch.tick((nowMs += 60_000), 1_000)).toBeUndefined();
    watch.persisted(1_000);
    for (let i = 0; i < 100; i++) expect(watch.tick((nowMs += 50), 1_000)).toBeUndefined();
  });
});
