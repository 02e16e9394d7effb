/** A tree that is not what the others have: who finds out, how soon, who leaves, and what becomes of the ensemble. */
import { formatZxid, type SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import type { DataTree } from '../tree/data-tree.ts';
import { pack } from '../tree/packed.ts';
import { CZXID } from '../tree/rows.ts';
import type { StoredZnode } from '../tree/znode.ts';
import { COMPARISON_MS } from './comparison.ts';
import { ComparisonRounds } from './comparison-rounds.ts';
import { InstantDisk } from './disk.fixture.ts';
import { type Member, TestEnsemble } from './ensemble.fixture.ts';
import { SCRUB_INTERVAL_MS } from './scrubbing.ts';
import { bytes, create, digests, get, set, shown } from './words.fixture.ts';

/** A tick, and both ways over a link. */
const FOUND_MS = COMPARISON_MS + 100;

function treeOf(member: Member): DataTree {
  return member.peer!.tree;
}

/** The next txns of this member are applied with other data than everybody else's. */
function plant(member: Member): void {
  const tree = treeOf(member);
  const apply = tree.apply.bind(tree);
  tree.apply = (zxid, txn) => {
    const { body } = txn;
    apply(zxid, body.kind === 'create' ? { ...txn, body: { ...body, data: bytes('planted') } } : txn);
  };
}

/** As the driver does: another core from the disk, or from an empty one. */
function rebuild(ensemble: TestEnsemble, member: Member): void {
  const { isDiskWrong } = member.rebuilds.at(-1)!;
  ensemble.kill(member);
  if (isDiskWrong) Object.assign(member, { disk: Object.assign(new InstantDisk(), { voteRight: 'recovering' }) });
  ensemble.start(member);
}

function works(ensemble: TestEnsemble, path: string): void {
  expect(ensemble.call(ensemble.leader, create(path)).result.kind).toBe('create');
}

describe('C053: a tree that differs', () => {
  it('is found within a second though nothing more is written; the member leaves at once and the others go on', () => {
    const ensemble = new TestEnsemble();
    const [member] = ensemble.followers as [Member];
    ensemble.open(member, 1);
    plant(member);
    works(ensemble, '/a');
    expect(digests(ensemble).size).toBe(2);
    const epoch = ensemble.leader.peer!.status.epoch;
    ensemble.advance(FOUND_MS);
    expect(member.rebuilds).toHaveLength(1);
    expect(member.rebuilds[0]?.isDiskWrong).toBe(false);
    const zxid = formatZxid(ensemble.leader.peer!.status.lastZxid);
    const words = `right after ${zxid}: its digest is 0x[0-9a-f]{16}, a quorum's is 0x[0-9a-f]{16}$`;
    expect(member.rebuilds[0]?.reason).toMatch(new RegExp(words));
    expect(member.closed).toMatchObject([{ attachment: 1, code: 'UNAVAILABLE' }]);
    expect(ensemble.call(member, get('/a')).result).toMatchObject({ kind: 'error', code: 'UNAVAILABLE' });
    expect(member.peer!.status.serving).toBe(false);
    works(ensemble, '/b');
    expect(ensemble.leader.peer!.status.epoch).toBe(epoch);
  });

  it('is right again when it is made anew from the disk, which has the same log as the others', () => {
    const ensemble = new TestEnsemble();
    const [member] = ensemble.followers as [Member];
    plant(member);
    works(ensemble, '/a');
    ensemble.advance(FOUND_MS);
    rebuild(ensemble, member);
    ensemble.advance(2_000);
    works(ensemble, '/b');
    ensemble.advance(1_000);
    expect(member.rebuilds).toHaveLength(1);
    expect(digests(ensemble).size).toBe(1);
    expect(member.peer!.status.serving).toBe(true);
  });

  it('was written to a checkpoint: what comes from the disk is wrong too, and the disk is given up', () => {
    const ensemble = new TestEnsemble({ limits: { checkpointTxns: 5, historyBytesMax: 1_000 } });
    const [member] = ensemble.followers as [Member];
    plant(member);
    for (let i = 0; i < 12; i++) works(ensemble, `/a${i}`);
    expect(member.disk.checkpoints).toBeGreaterThan(0);
    ensemble.advance(FOUND_MS);
    rebuild(ensemble, member);
    ensemble.advance(2_000);
    expect(member.rebuilds).toMatchObject([{ isDiskWrong: false }, { isDiskWrong: true }]);
    rebuild(ensemble, member);
    ensemble.advance(3_000);
    expect(member.rebuilds).toHaveLength(2);
    expect(digests(ensemble).size).toBe(1);
    expect(member.peer!.status.serving).toBe(true);
  });

  it("the leader's own is wrong: it gives the lead up, and is right again as a follower", () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    plant(leader);
    works(ensemble, '/a');
    ensemble.advance(FOUND_MS);
    expect(leader.rebuilds).toMatchObject([{ isDiskWrong: false }]);
    expect(ensemble.followers.concat(ensemble.leader).every(({ rebuilds }) => rebuilds.length === 0)).toBe(true);
    expect(ensemble.leader).not.toBe(leader);
    works(ensemble, '/b');
    rebuild(ensemble, leader);
    ensemble.advance(2_000);
    expect(digests(ensemble).size).toBe(1);
    expect(leader.peer!.status.role).toBe('following');
  });

  it("an observer's is found just the same", () => {
    const ensemble = new TestEnsemble({ observers: 1 });
    const observer = ensemble.member(4);
    plant(observer);
    works(ensemble, '/a');
    ensemble.advance(FOUND_MS);
    expect(observer.rebuilds).toHaveLength(1);
  });

  it('of a member that joins later is found when it joins', () => {
    const ensemble = new TestEnsemble();
    const [member] = ensemble.followers as [Member];
    ensemble.kill(member);
    works(ensemble, '/a');
    ensemble.advance(2_000);
    ensemble.start(member);
    plant(member);
    ensemble.advance(1_500);
    expect(member.rebuilds).toMatchObject([{ isDiskWrong: true }]);
  });

  it('no quorum has the same: everybody is told and nobody leaves, for nobody knows who is right', () => {
    const ensemble = new TestEnsemble();
    const [member, other] = ensemble.followers as [Member, Member];
    ensemble.kill(other);
    ensemble.advance(500);
    plant(member);
    works(ensemble, '/a');
    works(ensemble, '/b');
    ensemble.advance(3 * FOUND_MS);
    expect(ensemble.leader.alarms).toHaveLength(1);
    expect(ensemble.leader.alarms[0]).toContain('no quorum has the same');
    expect(ensemble.members.flatMap(({ rebuilds }) => rebuilds)).toEqual([]);
    // The third one comes back and decides.
    ensemble.start(other);
    ensemble.advance(1_500);
    expect(member.rebuilds).toHaveLength(1);
  });

  it('writes that it had taken are answered with what is known, and reads behind them not at all from its tree', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [member] = ensemble.followers as [Member];
    const { session } = ensemble.open(member, 1);
    plant(member);
    works(ensemble, '/a');
    ensemble.advance(COMPARISON_MS - 100);
    // What it forwards from now on stays on the way.
    const by = { session, attachment: 1 };
    for (let i = 0; i < 4 && member.rebuilds.length === 0; i++) {
      ensemble.submit(member, set('/a', `${i}`), by);
      const read = ensemble.submit(member, get('/a'), by);
      ensemble.turn(member);
      ensemble.give(member, {
        kind: 'peerMessage',
        sid: leader.sid,
        link: member.links.get(leader.sid)!,
        message: lie(leader),
      });
      ensemble.turn(member);
      expect(shown(member, read)).toBe('UNAVAILABLE');
      expect(shown(member, read - 1)).toBe('OUTCOME_UNKNOWN');
    }
    expect(member.rebuilds).toHaveLength(1);
  });

  it('is not asked of a member that hashes in another way', () => {
    const ensemble = new TestEnsemble();
    const { leader } = ensemble;
    const [member] = ensemble.followers as [Member];
    const { lastZxid: zxid } = member.peer!.status;
    const link = member.links.get(leader.sid)!;
    const before = member.sent.length;
    const message = { kind: 'compareDigest', zxid, version: 999 } as const;
    ensemble.give(member, { kind: 'peerMessage', sid: leader.sid, link, message });
    ensemble.turn(member);
    expect(member.sent.slice(before).filter(({ message: { kind } }) => kind === 'digestAt')).toEqual([]);
  });

  it('equal trees cost nothing while nothing is written', () => {
    const ensemble = new TestEnsemble();
    works(ensemble, '/a');
    ensemble.advance(2_000);
    const asked = (): number => ensemble.leader.sent.filter(({ message: { kind } }) => kind === 'compareDigest').length;
    const before = asked();
    ensemble.advance(10_000);
    expect(asked()).toBe(before);
  });
});

/** What a quorum is said to have at the last comparison, and has not. */
function lie(leader: Member): { kind: 'digestAgreed'; zxid: never; digest: bigint } {
  return { kind: 'digestAgreed', zxid: leader.peer!.status.lastZxid as never, digest: 1n };
}

describe('C053: memory that is altered by no txn', () => {
  const SCRUBBED_MS = 2 * SCRUB_INTERVAL_MS;

  interface Altered {
    readonly what: string;
    readonly alter: (tree: DataTree, session: SessionId) => void;
  }

  const cases: readonly Altered[] = [
    {
      what: 'one byte of the data',
      alter: (tree) => Object.assign(tree.znode('/a')!, { data: Uint8Array.of(1, 0x79, 0x7a) }),
    },
    { what: 'the version', alter: (tree) => Object.assign(tree.znode('/a')!, { version: 7 }) },
    { what: 'the mtime', alter: (tree) => Object.assign(tree.znode('/a')!, { mtimeMs: 7 }) },
    {
      what: 'the czxid',
      alter: (tree) => {
        const { words, at } = tree.znode('/a') as StoredZnode;
        words[at + CZXID + 1]! ^= 7;
      },
    },
    {
      what: 'the owner',
      alter: (tree) => Object.assign(tree.znode('/a')!, { rare: { acl: undefined, owner: 7n, children: undefined } }),
    },
    {
      what: "a session's timeout",
      alter: (tree, session) => Object.assign(tree.sessions.get(session)!, { timeoutMs: 7 }),
    },
    {
      what: "a session's token",
      alter: (tree, session) => {
        const stored = tree.sessions.get(session)!;
        Object.assign(stored, { packedToken: pack(stored.token.fill(0, 3, 4)) });
      },
    },
  ];

  it.each(cases)('$what: is found within two passes while others write; the member is made anew', ({ alter }) => {
    const ensemble = new TestEnsemble();
    const [member] = ensemble.followers as [Member];
    const { session } = ensemble.open(ensemble.leader, 1, 20_000);
    ensemble.call(member, create('/a', 'xyz'));
    alter(treeOf(member), session);
    for (let ms = 0; ms < SCRUBBED_MS && member.rebuilds.length === 0; ms += 500) {
      works(ensemble, `/b${ms}`);
      ensemble.advance(500);
    }
    expect(member.rebuilds).toMatchObject([{ isDiskWrong: false }]);
    expect(member.rebuilds[0]?.reason).toMatch(/znode \/a|session 0x/);
    expect(member.rebuilds[0]?.reason).not.toContain('07070707');
    rebuild(ensemble, member);
    ensemble.advance(2_000);
    expect(digests(ensemble).size).toBe(1);
    expect(ensemble.call(member, get('/a')).result.kind).toBe('getData');
  });
});

describe('a round of comparison', () => {
  const Z = 5n as never;

  it('is decided by a quorum of voters, of which observers are none', () => {
    const rounds = new ComparisonRounds([1, 2, 3]);
    rounds.begin(Z, [1, 2, 3, 4, 5]);
    expect(rounds.answered(4, Z, 9n)).toBeUndefined();
    expect(rounds.answered(5, Z, 9n)).toBeUndefined();
    expect(rounds.answered(1, Z, 9n)).toBeUndefined();
    expect(rounds.answered(2, Z, 8n)).toBeUndefined();
    expect(rounds.answered(3, Z, 8n)).toEqual({ kind: 'agreed', digest: 8n, to: [4, 5, 1, 2, 3] });
  });

  it('takes one answer of each member, only of those that were asked, and tells the late ones', () => {
    const rounds = new ComparisonRounds([1, 2, 3]);
    rounds.begin(Z, [1, 2]);
    expect(rounds.answered(1, Z, 9n)).toBeUndefined();
    expect(rounds.answered(1, Z, 9n)).toBeUndefined();
    expect(rounds.answered(3, Z, 9n)).toBeUndefined();
    expect(rounds.answered(2, 6n as never, 9n)).toBeUndefined();
    expect(rounds.answered(2, Z, 9n)).toMatchObject({ kind: 'agreed', to: [1, 2] });
    expect(rounds.answered(2, Z, 7n)).toEqual({ kind: 'agreed', digest: 9n, to: [2] });
    expect(rounds.isSettled(Z, [2])).toBe(true);
    expect(rounds.isSettled(Z, [2, 3])).toBe(false);
  });

  it('is given up when many later ones have begun', () => {
    const rounds = new ComparisonRounds([1]);
    for (let i = 1; i <= 17; i++) rounds.begin(BigInt(i) as never, [1]);
    expect(rounds.answered(1, 1n as never, 9n)).toBeUndefined();
    expect(rounds.answered(1, 2n as never, 9n)).toMatchObject({ kind: 'agreed' });
  });
});
