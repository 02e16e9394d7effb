/**
 * Whole members that hear messages which are well formed and make no sense, in every role. A member may leave any conversation,
 * but it must not fall, and must not say of its disk what is not so (Z2).
 */
import { NO_SESSION, type SessionId, type Sid, toZxid, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeWriteRequest, type WriteRequest } from '../pipeline/write-request.ts';
import { TreeScript } from '../tree/tree-script.fixture.ts';
import { encodeTxn } from '../tree/txn-codec.ts';
import type { StorageCommand } from '../zab/host.ts';
import type { LogRecord, StateRecord } from '../zab/messages.ts';
import type { PeerAction } from './actions.ts';
import { DEFAULT_LIMITS, DEFAULT_TIMING } from './config.ts';
import type { PeerEvent } from './events.ts';
import type { PeerMessage } from './messages.ts';
import type { QuorumPeer } from './quorum-peer.ts';
import { Recovery } from './recovery.ts';
import { create } from './words.fixture.ts';

const OWN: Sid = 2;
const OTHERS: readonly Sid[] = [1, 3, 4];

/** A txn that any tree takes. */
const PAYLOAD = encodeTxn({
  origin: { sid: 9, incarnation: 1, seq: 1 },
  session: NO_SESSION,
  timeMs: 1,
  body: { kind: 'error', code: 'NO_NODE', path: '/a', message: 'none' },
});

/** The whole state of a tree at a zxid of epoch 1. */
const SNAPSHOT = ((): { readonly zxid: Zxid; readonly records: readonly StateRecord[] } => {
  const script = new TreeScript();
  for (let n = 0; n < 3; n++) script.create(`/s${n}`);
  script.tree.beginCheckpoint();
  return { zxid: script.tree.lastZxid, records: script.tree.nextCheckpointRecords(1_000_000).records };
})();

/** A member with a disk that does its work when it is told to, and whose word is held against that disk. */
class Listener {
  readonly peer: QuorumPeer;
  readonly now = { monotonicMs: 0, wallMs: 1 };
  readonly roles = new Set<string>();
  failure: string | undefined;
  faults = 0;
  #links = new Map<Sid, number>();
  #lastLink = 0;
  #work: { readonly ticket: number; readonly command: StorageCommand }[] = [];
  /** Durable. */
  #acceptedEpoch = 0;
  #currentEpoch = 0;
  #last: Zxid = toZxid(0n);

  constructor() {
    const recovery = new Recovery({
      sid: OWN,
      voters: [1, 2, 3],
      observers: [4],
      incarnation: 1,
      firstSessionId: 1n as SessionId,
      seed: 1,
      bootstrap: false,
      timing: DEFAULT_TIMING,
      limits: DEFAULT_LIMITS,
    });
    const zero = toZxid(0n);
    const epochs = { acceptedEpoch: 0, currentEpoch: 0, voteRight: 'held' as const };
    const { peer, actions } = recovery.finish({ ...epochs, checkpointZxid: zero, committed: zero }, this.now);
    this.peer = peer;
    this.#carryOut(actions);
    for (const sid of OTHERS) this.linkUp(sid);
  }

  linkUp(sid: Sid): void {
    if (this.#links.has(sid)) return;
    this.#links.set(sid, ++this.#lastLink);
    this.#step({ kind: 'linkUp', sid, link: this.#lastLink });
  }

  linkDown(sid: Sid): void {
    const link = this.#links.get(sid);
    if (link === undefined) return;
    this.#links.delete(sid);
    this.#step({ kind: 'linkDown', sid, link });
  }

  hear(sid: Sid, message: PeerMessage): void {
    const link = this.#links.get(sid);
    if (link !== undefined) this.#step({ kind: 'peerMessage', sid, link, message });
  }

  call(callId: number): void {
    const call = { callId, session: NO_SESSION, attachment: 0, token: undefined, linearizable: false };
    this.#step({ kind: 'call', call: { ...call, op: create('/c'), deadlineMs: this.now.monotonicMs + 500 } });
  }

  advance(ms: number): void {
    this.now.monotonicMs += ms;
    this.#step({ kind: 'tick' });
  }

  endTurn(): void {
    this.#step({ kind: 'turnEnded' });
  }

  /** The disk does up to `count` of what waits. */
  work(count: number): void {
    for (const { ticket, command } of this.#work.splice(0, count)) {
      if (command.kind === 'append') this.#last = command.records.at(-1)!.zxid;
      else if (command.kind === 'truncate') this.#last = command.after;
      else if (command.kind === 'installCommit') this.#last = command.zxid;
      else if (command.kind === 'saveEpochs') {
        this.#acceptedEpoch = command.acceptedEpoch;
        this.#currentEpoch = command.currentEpoch;
      }
      this.#step({ kind: 'persisted', ticket });
    }
  }

  #step(event: PeerEvent): void {
    this.#carryOut(this.peer.step(event, this.now));
    const { role, phase } = this.peer.status;
    this.roles.add(`${role} ${phase}`);
  }

  #carryOut(actions: readonly PeerAction[]): void {
    for (const action of actions) {
      if (action.kind === 'persist') this.#work.push(action);
      else if (action.kind === 'fail') this.failure = action.reason;
      else if (action.kind === 'closeLink') {
        if (this.#links.get(action.sid) === action.link) this.linkDown(action.sid);
      } else if (action.kind === 'trace' && action.name === 'badMessage') this.faults++;
      else if (action.kind === 'send') this.#checkWord(action.message);
    }
  }

  /** Z2: what is said about the disk is so. */
  #checkWord(message: PeerMessage): void {
    switch (message.kind) {
      case 'ack':
        expect(message.zxid, 'ack').toBeLessThanOrEqual(this.#last);
        break;
      case 'ackEpoch':
        expect(this.#acceptedEpoch, 'ackEpoch').toBeGreaterThanOrEqual(1);
        expect(message.currentEpoch, 'ackEpoch').toBe(this.#currentEpoch);
        expect(message.lastZxid, 'ackEpoch').toBe(this.#last);
        break;
      case 'ackNewLeader':
        expect(message.epoch, 'ackNewLeader').toBe(this.#currentEpoch);
        break;
      case 'leaderInfo':
        expect(message.epoch, 'leaderInfo').toBe(this.#acceptedEpoch);
        break;
      default:
    }
  }
}

const epoch = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 4 }) }, fc.constant(1_000));
const counter = fc.integer({ min: 0, max: 4 });
const zxid = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(epoch, counter).map(([e, c]) => toZxid((BigInt(e) << 32n) | BigInt(c))) },
  fc.constant(SNAPSHOT.zxid),
);
const seq = fc.oneof(fc.integer({ min: 0, max: 6 }), fc.constant(Number.MAX_SAFE_INTEGER));
const records = fc
  .array(zxid, { maxLength: 3 })
  .map((zxids): LogRecord[] => zxids.map((one) => ({ zxid: one, payload: PAYLOAD })));
const session = fc.bigInt({ min: 0n, max: 3n }).map((id) => id as SessionId);
const token = fc.uint8Array({ maxLength: 17 });
const path = fc.constantFrom('/a', '/a/b', '', '//', '/zookeeper', '/a/../b', '/q-');
const voteRight = fc.constantFrom('unformed' as const, 'held' as const, 'recovering' as const);
const HELD = { voteRight: 'held', isEmpty: false } as const;
const vote = fc.record({ leader: fc.constantFrom(0, 1, 2, 3, 4, 200), peerEpoch: epoch, zxid });
const op: fc.Arbitrary<WriteRequest['op']> = fc.oneof(
  fc
    .record({ path, sequential: fc.boolean(), mode: fc.constantFrom('persistent' as const, 'ephemeral' as const) })
    .map((about) => create(about.path, 'x', about)),
  path.map((one) => ({ kind: 'delete' as const, path: one, expectedVersion: undefined })),
  path.map((one) => ({ kind: 'setData' as const, path: one, data: undefined, expectedVersion: 3 })),
  fc.constant({ kind: 'createSession' as const, timeoutMs: 4_000, token: new Uint8Array(16) }),
  fc.constant({ kind: 'closeSession' as const }),
);
const request = fc
  .record({
    incarnation: fc.constantFrom(0, 1, 7),
    seq: fc.integer({ min: 0, max: 9 }),
    session,
    attached: fc.boolean(),
    op,
  })
  .map((one) => encodeWriteRequest(one));
const stateRecords = fc.oneof(
  fc.constant(SNAPSHOT.records),
  fc.constant(SNAPSHOT.records.slice(1)),
  fc.array(fc.record({ key: token, value: fc.option(token, { nil: undefined }) }), { maxLength: 2 }),
);

const message: fc.Arbitrary<PeerMessage> = fc.oneof(
  fc.record({
    kind: fc.constant('notification' as const),
    state: fc.constantFrom('looking' as const, 'following' as const, 'leading' as const, 'observing' as const),
    round: fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(2 ** 48)),
    vote,
    voteRight,
    isEmpty: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('followerInfo' as const), acceptedEpoch: epoch, voteRight }),
  fc.constantFrom({ kind: 'voteClaim' as const }, { kind: 'voteTaken' as const }),
  zxid.map((one) => ({ kind: 'voteGrant' as const, zxid: one })),
  epoch.map((one) => ({ kind: 'leaderInfo' as const, epoch: one })),
  fc.record({ kind: fc.constant('ackEpoch' as const), currentEpoch: epoch, lastZxid: zxid, counted: fc.boolean() }),
  zxid.map((one) => ({ kind: 'truncate' as const, after: one })),
  zxid.map((one) => ({ kind: 'snapshot' as const, zxid: one })),
  stateRecords.map((some) => ({ kind: 'stateChunk' as const, records: some })),
  zxid.map((one) => ({ kind: 'stateEnd' as const, zxid: one })),
  records.map((some) => ({ kind: 'diff' as const, records: some })),
  fc.record({ kind: fc.constant('newLeader' as const), epoch, lastZxid: zxid }),
  epoch.map((one) => ({ kind: 'ackNewLeader' as const, epoch: one })),
  zxid.map((one) => ({ kind: 'upToDate' as const, committed: one })),
  fc.record({ kind: fc.constant('propose' as const), records, committed: zxid }),
  zxid.map((one) => ({ kind: 'ack' as const, zxid: one })),
  zxid.map((one) => ({ kind: 'commit' as const, zxid: one })),
  fc.record({ kind: fc.constantFrom('ping' as const, 'pong' as const), seq }),
  fc.array(request, { maxLength: 3 }).map((requests) => ({ kind: 'forward' as const, requests })),
  fc.array(token, { maxLength: 2 }).map((requests) => ({ kind: 'forward' as const, requests })),
  seq.map((one) => ({ kind: 'syncRequest' as const, seq: one })),
  fc.record({ kind: fc.constant('syncReply' as const), seq, zxid }),
  fc.array(session).map((sessions) => ({ kind: 'touch' as const, sessions })),
  fc.record({ kind: fc.constant('revalidate' as const), seq, session, token, own: fc.boolean() }),
  fc.record({
    kind: fc.constant('revalidated' as const),
    seq,
    timeoutMs: fc.constant(4_000),
    error: fc.constantFrom(undefined, 'SESSION_EXPIRED' as const),
    grantedAt: zxid,
  }),
  session.map((one) => ({ kind: 'sessionMoved' as const, session: one })),
);

/** What a sane member would say next, so that the member under test gets far: most of the senseless comes in a late phase. */
const SANE: readonly ((listener: Listener) => void)[] = [
  (listener) => {
    const { lastLogged, epoch: peerEpoch } = listener.peer.status;
    const better = { leader: 3, peerEpoch, zxid: lastLogged };
    for (const sid of [1, 3])
      listener.hear(sid, { kind: 'notification', state: 'looking', round: 1, vote: better, ...HELD });
    listener.hear(3, { kind: 'notification', state: 'leading', round: 1, vote: better, ...HELD });
  },
  (listener) => {
    listener.hear(3, { kind: 'leaderInfo', epoch: listener.peer.status.acceptedEpoch + 1 });
    listener.work(99);
  },
  (listener) => {
    const { acceptedEpoch, lastLogged } = listener.peer.status;
    listener.hear(3, { kind: 'newLeader', epoch: acceptedEpoch, lastZxid: lastLogged });
    listener.work(99);
  },
  (listener) => listener.hear(3, { kind: 'upToDate', committed: listener.peer.status.lastLogged }),
  (listener) => {
    const { acceptedEpoch, lastLogged } = listener.peer.status;
    const isOfEpoch = lastLogged >> 32n === BigInt(acceptedEpoch);
    const next = toZxid(isOfEpoch ? lastLogged + 1n : (BigInt(acceptedEpoch) << 32n) | 1n);
    listener.hear(3, { kind: 'propose', records: [{ zxid: next, payload: PAYLOAD }], committed: next });
  },
  (listener) => {
    const { lastLogged, epoch: peerEpoch, acceptedEpoch } = listener.peer.status;
    const own = { leader: OWN, peerEpoch, zxid: lastLogged };
    const round = 5 + acceptedEpoch;
    for (const sid of [1, 3]) listener.hear(sid, { kind: 'notification', state: 'looking', round, vote: own, ...HELD });
    listener.hear(1, { kind: 'followerInfo', acceptedEpoch, voteRight: 'held' });
    listener.work(99);
  },
  (listener) => {
    const { lastLogged, epoch: currentEpoch } = listener.peer.status;
    listener.hear(1, { kind: 'ackEpoch', currentEpoch, lastZxid: lastLogged, counted: true });
    listener.work(99);
    listener.hear(1, { kind: 'ackNewLeader', epoch: listener.peer.status.acceptedEpoch });
  },
];

/** How far the sane part of a script goes: as a learner up to taking proposals, as a leader up to an established one. */
const CLIMBS: readonly (readonly number[])[] = [[0, 1], [0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 4], [5], [5, 6]];

/** One step of a script; printed when a script fails. */
interface Act {
  readonly name: string;
  readonly run: (listener: Listener) => void;
}

const senseless: fc.Arbitrary<Act> = fc.tuple(fc.constantFrom(1, 3, 3, 4), message).map(([sid, one]) => ({
  name: `${sid} says ${JSON.stringify(one, (_, value: unknown) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value))}`,
  run: (listener) => listener.hear(sid, one),
}));

const climb: fc.Arbitrary<Act> = fc.constantFrom(...CLIMBS).map((steps) => ({
  name: `climb ${steps.join()}`,
  run: (listener) => {
    for (const sid of OTHERS) listener.linkUp(sid);
    for (const step of steps) SANE[step]?.(listener);
  },
}));

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: senseless },
  { weight: 2, arbitrary: climb },
  {
    weight: 3,
    arbitrary: fc.nat(SANE.length - 1).map((i) => ({ name: `sane ${i}`, run: (on: Listener) => SANE[i]?.(on) })),
  },
  {
    weight: 1,
    arbitrary: fc.nat(3).map((count) => ({ name: `work ${count}`, run: (on: Listener) => on.work(count) })),
  },
  { weight: 2, arbitrary: fc.constant({ name: 'turn ends', run: (on: Listener) => on.endTurn() }) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(50, 250, 4_000)
      .map((ms) => ({ name: `${ms} ms`, run: (on: Listener) => on.advance(ms) })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...OTHERS)
      .map((sid) => ({ name: `link ${sid}`, run: (on: Listener) => on.linkUp(sid) })),
  },
);

describe('C167: messages that make no sense', () => {
  it('never make a member fall, nor say of its disk what is not so; they end conversations', () => {
    const roles = new Set<string>();
    let faults = 0;
    fc.assert(
      fc.property(fc.array(act, { minLength: 1, maxLength: 60, size: 'max' }), fc.nat(3), (acts, calls) => {
        const listener = new Listener();
        for (let i = 0; i < calls; i++) listener.call(i + 1);
        for (const one of acts) one.run(listener);
        listener.endTurn();
        listener.work(99);
        listener.endTurn();
        listener.advance(50);
        for (const role of listener.roles) roles.add(role);
        faults += listener.faults;
        expect(listener.failure).toBeUndefined();
      }),
      { numRuns: 2_000, seed: 11 },
    );
    // Not by luck: every role and phase was there, and conversations were ended.
    for (const role of [
      'looking election',
      'following synchronization',
      'following broadcast',
      'leading discovery',
      'leading broadcast',
    ]) {
      expect(roles).toContain(role);
    }
    expect(faults).toBeGreaterThan(100);
  });
});
