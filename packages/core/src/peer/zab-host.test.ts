import { NO_SESSION, type SessionId, type Sid, toZxid } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { Entry, type EntryHost } from '../pipeline/entry.ts';
import { DataTree } from '../tree/data-tree.ts';
import { TreeScript } from '../tree/tree-script.fixture.ts';
import { encodeTxn } from '../tree/txn-codec.ts';
import type { StateRecord } from '../zab/messages.ts';
import { Checkpointing } from './checkpointing.ts';
import { DEFAULT_LIMITS, DEFAULT_TIMING } from './config.ts';
import { Outbox } from './outbox.ts';
import { Routing } from './routing.ts';
import { Trust } from './trust.ts';
import { MemberZabHost } from './zab-host.ts';

const NOW = { monotonicMs: 5, wallMs: 5 };
const SID: Sid = 1;

function unused(): never {
  throw new Error('The agreement is not asked from inside its own calls');
}

/** The surroundings of the agreement of one member, with an empty tree; checkpoints after one txn. */
class Surroundings {
  readonly state = { tree: DataTree.empty() };
  readonly outbox = new Outbox();
  readonly failures: string[] = [];
  readonly checkpointing: Checkpointing;
  readonly host: MemberZabHost;

  constructor() {
    const { outbox, state } = this;
    const entryHost: EntryHost = {
      now: () => NOW,
      upstream: () => undefined,
      readFault: () => undefined,
      answer: () => undefined,
      closeAttachment: () => undefined,
      sessionReady: () => undefined,
      sessionAlive: () => undefined,
      notify: () => undefined,
      wantTurn: () => undefined,
    };
    const options = {
      sid: SID,
      voters: [SID],
      observers: [],
      incarnation: 1,
      firstSessionId: 1n as SessionId,
      seed: 1,
      bootstrap: false,
      timing: DEFAULT_TIMING,
      limits: { ...DEFAULT_LIMITS, checkpointTxns: 1 },
    };
    const entry = new Entry(options, state, entryHost);
    const zab = {
      propose: unused,
      lastLogged: unused,
      committed: unused,
      confirmLeadership: unused,
      isHeld: unused,
      isLearner: unused,
    };
    this.checkpointing = new Checkpointing(options.limits, state, outbox, () => undefined);
    const routing = new Routing(options, zab, outbox, () => entry);
    this.host = new MemberZabHost({
      outbox,
      entry,
      routing,
      checkpointing: this.checkpointing,
      trust: new Trust(options, state, { status: unused }, { routing, outbox }),
      now: () => NOW,
      replaceTree: (tree) => {
        state.tree = tree;
      },
      fail: (reason) => this.failures.push(reason),
      hasFailed: () => this.failures.length > 0,
    });
  }

  /** A committed create at counter `n` of epoch 1. */
  deliver(n: number): void {
    const payload = encodeTxn({
      origin: { sid: 0, incarnation: 0, seq: 0 },
      session: NO_SESSION,
      timeMs: 1,
      body: { kind: 'create', path: `/n${n}`, data: undefined, ephemeralOwner: NO_SESSION, parentCreates: n },
    });
    this.host.deliver({ zxid: toZxid(0x1_0000_0000n + BigInt(n)), payload });
  }
}

/** The records of another member's state after some txns. */
function snapshot(txns: number): { readonly records: readonly StateRecord[]; readonly script: TreeScript } {
  const script = new TreeScript();
  for (let n = 0; n < txns; n++) script.create(`/other${n}`);
  script.tree.beginCheckpoint();
  return { records: script.tree.nextCheckpointRecords(1_000_000).records, script };
}

describe('a committed txn', () => {
  it('that cannot be read ends the member, and nothing is applied after it', () => {
    const around = new Surroundings();
    around.deliver(1);
    around.host.deliver({ zxid: toZxid(0x1_0000_0002n), payload: Uint8Array.of(9, 9) });
    around.deliver(3);
    expect(around.failures).toHaveLength(1);
    expect(around.failures[0]).toContain('0x100000002');
    expect(around.state.tree.lastZxid).toBe(0x1_0000_0001n);
  });
});

describe('a snapshot', () => {
  it('replaces the tree when it is complete, and not before', () => {
    const around = new Surroundings();
    around.deliver(1);
    const { records, script } = snapshot(5);
    around.host.installBegin();
    expect(around.host.installRecords(records)).toBeUndefined();
    expect(around.host.installCheck(script.tree.lastZxid)).toBeUndefined();
    expect(around.state.tree.znode('/n1')).toBeDefined();
    around.host.installEnd(script.tree.lastZxid);
    expect([around.state.tree.znode('/n1'), around.state.tree.digest]).toEqual([undefined, script.tree.digest]);
    expect(around.failures).toEqual([]);
  });

  it('that is given up leaves the tree as it was', () => {
    const around = new Surroundings();
    around.deliver(1);
    const before = around.state.tree;
    around.host.installBegin();
    around.host.installRecords(snapshot(5).records.slice(0, 3));
    around.host.installAbort();
    expect(around.state.tree).toBe(before);
    expect(() => around.host.installEnd(toZxid(5n))).toThrow('was not checked');
  });

  it('ends a checkpoint that is under way, and none is begun meanwhile', () => {
    const around = new Surroundings();
    around.deliver(1);
    around.checkpointing.turnEnded();
    expect(around.state.tree.checkpointActive).toBe(true);
    around.host.installBegin();
    expect(around.state.tree.checkpointActive).toBe(false);
    around.deliver(2);
    around.checkpointing.turnEnded();
    expect(around.outbox.take().map(({ kind }) => kind)).toEqual(['checkpointPut', 'checkpointAbort']);
    around.host.installAbort();
    around.checkpointing.turnEnded();
    expect(around.outbox.take().map(({ kind }) => kind)).toEqual(['checkpointPut']);
  });

  it('that is damaged or not whole is refused by name, and changes nothing', () => {
    const damaged = new Surroundings();
    damaged.deliver(1);
    damaged.host.installBegin();
    expect(damaged.host.installRecords([{ key: Uint8Array.of(0x3f), value: Uint8Array.of(1) }])).toBeDefined();
    const cut = new Surroundings();
    cut.deliver(1);
    const { records, script } = snapshot(5);
    cut.host.installBegin();
    expect(cut.host.installRecords(records.slice(0, -1))).toBeUndefined();
    expect(cut.host.installCheck(script.tree.lastZxid)).toBeDefined();
    for (const around of [damaged, cut]) {
      around.host.installAbort();
      expect([around.failures, around.state.tree.znode('/n1') !== undefined]).toEqual([[], true]);
    }
  });

  it('P12: never takes a member back', () => {
    const around = new Surroundings();
    for (let n = 1; n <= 9; n++) around.deliver(n);
    const { records, script } = snapshot(5);
    around.host.installBegin();
    around.host.installRecords(records);
    around.host.installCheck(script.tree.lastZxid);
    expect(() => around.host.installEnd(script.tree.lastZxid)).toThrow('P12');
  });
});
