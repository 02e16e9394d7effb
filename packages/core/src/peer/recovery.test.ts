import { describe, expect, it } from 'vitest';
import { type Member, TestEnsemble, TOKEN } from './ensemble.fixture.ts';
import { Recovery } from './recovery.ts';
import { create, digests, get, set, shown } from './words.fixture.ts';

const OFTEN = { limits: { checkpointTxns: 10, historyBytesMax: 2_000 } };

function fill(ensemble: TestEnsemble, member: Member, prefix: string, count: number): void {
  for (let i = 0; i < count; i++) {
    expect(ensemble.call(member, create(`/${prefix}${i}`, `value ${i}`)).result.kind).toBe('create');
  }
}

describe('a member that starts again', () => {
  it('has what its log has, with no checkpoint', () => {
    const ensemble = new TestEnsemble({ voters: 1 });
    const [member] = ensemble.members;
    fill(ensemble, member!, 'a', 5);
    const { digest, lastZxid } = member!.peer!.status;
    ensemble.kill(member!);
    ensemble.start(member!);
    ensemble.advance(100);
    expect(member!.disk.checkpoints).toBe(0);
    expect(member!.peer!.status).toMatchObject({ digest, lastZxid });
  });

  it('has what its checkpoint and the log after it have, sessions and ephemerals among them', () => {
    const ensemble = new TestEnsemble({ voters: 1, ...OFTEN });
    const [member] = ensemble.members;
    const { session } = ensemble.open(member!, 1, 30_000);
    ensemble.call(member!, create('/mine', 'x', { mode: 'ephemeral' }), { session, attachment: 1 });
    fill(ensemble, member!, 'a', 25);
    expect(member!.disk.checkpoints).toBeGreaterThanOrEqual(2);
    expect(member!.disk.log.length).toBeLessThan(15);
    const { digest, lastZxid } = member!.peer!.status;
    ensemble.kill(member!);
    ensemble.start(member!);
    ensemble.advance(100);
    expect(member!.peer!.status).toMatchObject({ digest, lastZxid, sessions: 1, ephemerals: 1 });
    const id = ensemble.attach(member!, 2, session);
    expect(member!.ready.get(id)?.resumed).toBe(true);
  });

  it('C017: gives every session its full timeout after a restart of all members', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    ensemble.open(leader, 1, 6_000);
    ensemble.advance(5_000);
    for (const member of ensemble.members) ensemble.kill(member);
    ensemble.advance(60_000);
    for (const member of ensemble.members) ensemble.start(member);
    ensemble.advance(5_000);
    expect(ensemble.leader.peer!.status.sessions).toBe(1);
    ensemble.advance(4_500);
    expect(ensemble.leader.peer!.status.sessions).toBe(0);
  });

  it('refuses a state that is not whole, by name', () => {
    const ensemble = new TestEnsemble({ voters: 1, ...OFTEN });
    const [member] = ensemble.members;
    fill(ensemble, member!, 'a', 12);
    ensemble.kill(member!);
    const recovery = new Recovery(ensemble.configOf(member!));
    recovery.state(member!.disk.records.slice(1));
    const { checkpointZxid, acceptedEpoch, currentEpoch, voteRight } = member!.disk;
    const summary = { checkpointZxid, acceptedEpoch, currentEpoch, voteRight, committed: checkpointZxid };
    expect(() => recovery.finish(summary, ensemble.now)).toThrow(/The state/);
  });
});

describe('checkpoints', () => {
  it('are made one at a time, and give the log up that they cover', () => {
    const ensemble = new TestEnsemble(OFTEN);
    const follower = ensemble.followers[0]!;
    fill(ensemble, follower, 'a', 55);
    ensemble.advance(100);
    for (const { disk } of ensemble.members) {
      expect(disk.checkpoints).toBeGreaterThanOrEqual(5);
      expect(disk.log.every(({ zxid }) => zxid > disk.checkpointZxid)).toBe(true);
    }
    expect(digests(ensemble).size).toBe(1);
  });

  it('are exact at one zxid though writes go on while they are gathered', () => {
    const ensemble = new TestEnsemble({ voters: 1, limits: { checkpointTxns: 300 } });
    const [member] = ensemble.members;
    const big = 'x'.repeat(5_000);
    for (let i = 0; i < 400; i++) ensemble.submit(member!, create(`/n${i}`, big));
    for (let i = 0; i < 400; i++) ensemble.submit(member!, set(`/n${i}`, 'short'));
    while (member!.disk.checkpoints === 0) ensemble.turn(member!);
    ensemble.run();
    const { digest } = member!.peer!.status;
    ensemble.kill(member!);
    // The loader compares the digest of what it read with the one that the checkpoint noted.
    ensemble.start(member!);
    ensemble.advance(100);
    expect(member!.peer!.status.digest).toBe(digest);
  });
});

/** All that a member holds, path by path, and its sessions. */
function contents(member: Member): object {
  const { tree } = member.peer!;
  const all: Record<string, object> = {};
  const walk = (path: string): void => {
    const children = tree.children(path) ?? [];
    all[path] = { stat: tree.stat(path), data: String(tree.data(path)), children };
    expect(tree.stat(path)?.numChildren).toBe(children.length);
    for (const name of children) walk(path === '/' ? `/${name}` : `${path}/${name}`);
  };
  walk('/');
  const sessions = tree.sessions.ids().map((id) => {
    const { timeoutMs, token, ephemerals } = tree.sessions.get(id)!;
    return { id, timeoutMs, token, ephemerals: [...ephemerals].sort() };
  });
  const { znodes, ephemerals, dataBytes, lastZxid, digest } = member.peer!.status;
  return { all, sessions, counts: { znodes, ephemerals, dataBytes, lastZxid, digest } };
}

describe('a snapshot from the leader', () => {
  it('C071: replaces all that a member held in memory, and is merged with nothing of it', () => {
    const ensemble = new TestEnsemble({ limits: { checkpointTxns: 100, historyBytesMax: 2_000 } });
    const [entry] = ensemble.followers as [Member];
    const mine = ensemble.open(entry, 1, 20_000);
    const ended = ensemble.open(entry, 2, 20_000);
    for (let i = 0; i < 600; i++) ensemble.submit(entry, create(`/n${i}`, `value ${i}`));
    for (let i = 0; i < 20; i++) {
      const by = { session: (i % 2 ? mine : ended).session, attachment: i % 2 ? 1 : 2 };
      ensemble.submit(entry, create(`/e${i}`, '', { mode: 'ephemeral' }), by);
    }
    ensemble.run();
    expect(digests(ensemble).size).toBe(1);
    ensemble.isolate(entry);
    const { leader } = ensemble;
    for (let i = 0; i < 600; i += 2) {
      ensemble.submit(leader, { kind: 'delete', path: `/n${i}`, expectedVersion: undefined });
      ensemble.submit(leader, create(`/n${i + 1}/below`));
      ensemble.submit(leader, set(`/n${i + 1}`, 'another value'));
    }
    ensemble.call(leader, { kind: 'closeSession' }, { session: ended.session, token: TOKEN });
    ensemble.run();
    expect(leader.disk.log.every(({ zxid }) => zxid > leader.disk.checkpointZxid)).toBe(true);
    ensemble.heal();
    ensemble.advance(3_000);
    expect(entry.sent.concat(leader.sent).some(({ message: { kind } }) => kind === 'snapshot')).toBe(true);
    expect(contents(entry)).toEqual(contents(ensemble.leader));
    expect(entry.peer!.status).toMatchObject({ ephemerals: 10, sessions: 1 });
    // Clients of before have to ask for their sessions again.
    expect(entry.closed.map(({ attachment, code }) => `${attachment} ${code}`).sort()).toEqual([
      '1 UNAVAILABLE',
      '2 SESSION_EXPIRED',
    ]);
    ensemble.kill(entry);
    ensemble.start(entry);
    ensemble.advance(1_000);
    expect(contents(entry)).toEqual(contents(ensemble.leader));
  });

  it('replaces the state of a member that is too far behind', () => {
    const ensemble = new TestEnsemble(OFTEN);
    const behind = ensemble.followers[0]!;
    ensemble.kill(behind);
    fill(ensemble, ensemble.leader, 'a', 120);
    ensemble.start(behind);
    ensemble.advance(2_000);
    expect(digests(ensemble).size).toBe(1);
    expect(shown(behind, submitAndRun(ensemble, behind, '/a119'))).toBe('value 119');
  });

  it('leaves the fate of writes that had been forwarded unknown, and lets those go on that had not', () => {
    const ensemble = new TestEnsemble(OFTEN);
    const { leader } = ensemble;
    const [entry] = ensemble.followers;
    const deadlineMs = ensemble.now.monotonicMs + 60_000;
    const sent = ensemble.submit(entry!, create('/sent'), { deadlineMs });
    ensemble.turn(entry!);
    ensemble.turn(leader);
    ensemble.isolate(entry!);
    const unsent = ensemble.submit(entry!, create('/unsent'), { deadlineMs });
    fill(ensemble, ensemble.leader, 'a', 120);
    ensemble.heal();
    ensemble.advance(3_000);
    expect([shown(entry!, sent), shown(entry!, unsent)]).toEqual(['OUTCOME_UNKNOWN', 'create']);
    expect(digests(ensemble).size).toBe(1);
  });

  it('ends the connections of sessions that have ended in it', () => {
    const ensemble = new TestEnsemble({ ...OFTEN, timing: { staleReadMaxMs: 60_000 } });
    const [entry] = ensemble.followers;
    const { session } = ensemble.open(entry!, 1, 30_000);
    ensemble.isolate(entry!);
    const token = new Uint8Array(16).fill(7);
    const answer = ensemble.call(ensemble.leader, { kind: 'closeSession' }, { session, token });
    expect(answer.result.kind).toBe('closeSession');
    fill(ensemble, ensemble.leader, 'a', 120);
    ensemble.heal();
    ensemble.advance(3_000);
    expect(entry!.closed.map(({ attachment, code }) => [attachment, code])).toEqual([[1, 'SESSION_EXPIRED']]);
  });
});

function submitAndRun(ensemble: TestEnsemble, member: Member, path: string): number {
  const id = ensemble.submit(member, get(path));
  ensemble.run();
  return id;
}
