/**
 * For tests: whole members on an instant network and instant disks, under a clock that is moved by hand. Time, order and
 * outcome are the same in every run. Links break and members stop when a test says so; nothing else is ever lost.
 */
import {
  type Answer,
  CALL_TIMEOUT_DEFAULT_MS,
  type ErrorCode,
  firstSessionId,
  NO_SESSION,
  type Op,
  type SessionId,
  type Sid,
  type WatchPiece,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import type { PeerAction } from './actions.ts';
import { DEFAULT_LIMITS, DEFAULT_TIMING, type Limits, type MemberConfig, type Timing } from './config.ts';
import { InstantDisk } from './disk.fixture.ts';
import type { Call, PeerEvent } from './events.ts';
import type { QuorumPeer } from './quorum-peer.ts';
import { Recovery } from './recovery.ts';

export interface EnsembleOptions {
  readonly voters?: number;
  readonly observers?: number;
  readonly timing?: Partial<Timing>;
  readonly limits?: Partial<Limits>;
}

export type SessionReady = Extract<PeerAction, { kind: 'sessionReady' }>;

const TICK_MS = 50;

/** A client's token: any 16 bytes. */
export const TOKEN = new Uint8Array(16).fill(7);

/** One member with its disk and what came out of it. */
export class Member {
  readonly sid: Sid;
  readonly disk = new InstantDisk();
  peer: QuorumPeer | undefined;
  incarnation = 0;
  readonly queue: PeerEvent[] = [];
  readonly links = new Map<Sid, number>();
  readonly answers = new Map<number, Answer>();
  /** callIds in the order in which they were answered. */
  readonly answered: number[] = [];
  readonly ready = new Map<number, SessionReady>();
  readonly alive = new Map<number, number>();
  readonly moved = new Map<number, Sid>();
  readonly closed: Extract<PeerAction, { kind: 'closeAttachment' }>[] = [];
  readonly sent: Extract<PeerAction, { kind: 'send' }>[] = [];
  readonly rebuilds: Extract<PeerAction, { kind: 'rebuild' }>[] = [];
  readonly alarms: string[] = [];
  readonly warnings: string[] = [];
  /** What feeds were told, in order; the last word of each in `feedEnds`. */
  readonly pieces: { readonly feed: number; readonly piece: WatchPiece }[] = [];
  readonly feedEnds = new Map<number, ErrorCode>();
  /** Readers of feeds that take nothing. */
  readonly lazy = new Set<number>();
  failed: string | undefined;
  hasStopped = false;
  /** Its disk hangs: what it is asked waits here. */
  stalled: PeerAction[] | undefined;
  /** Its disk hangs when a checkpoint is written, and only then. */
  stallsCheckpoints = false;
  /** As SIGSTOP would: what comes waits. */
  isFrozen = false;

  constructor(sid: Sid) {
    this.sid = sid;
  }
}

export class TestEnsemble {
  readonly members: readonly Member[];
  readonly now = { monotonicMs: 1_000, wallMs: 1_700_000_000_000 };
  readonly #options: EnsembleOptions;
  readonly #voters: readonly Sid[];
  readonly #cut = new Set<string>();
  #nextLink = 1;
  #nextCall = 1;

  constructor(options: EnsembleOptions = {}) {
    this.#options = options;
    const voters = options.voters ?? 3;
    const sids = Array.from({ length: voters + (options.observers ?? 0) }, (_, i) => i + 1);
    this.#voters = sids.slice(0, voters);
    this.members = sids.map((sid) => new Member(sid));
    for (const member of this.members) this.start(member);
    this.advance(1_000);
  }

  get leader(): Member {
    const leader = this.members.find(({ peer }) => peer?.status.role === 'leading' && peer.status.hasQuorum);
    if (leader === undefined) throw new Error('There is no leader');
    return leader;
  }

  get followers(): readonly Member[] {
    return this.members.filter(({ peer }) => peer?.status.role === 'following');
  }

  member(sid: Sid): Member {
    const member = this.members.find((one) => one.sid === sid);
    if (member === undefined) throw new Error(`There is no member ${sid}`);
    return member;
  }

  /** Starts a member from its disk. */
  start(member: Member): void {
    member.incarnation++;
    const recovery = new Recovery(this.configOf(member));
    recovery.state(member.disk.records);
    recovery.log(member.disk.tail);
    const { acceptedEpoch, currentEpoch, voteRight, checkpointZxid } = member.disk;
    const committed = member.disk.committed > checkpointZxid ? member.disk.committed : checkpointZxid;
    const summary = { acceptedEpoch, currentEpoch, voteRight, checkpointZxid, committed };
    const { peer, actions } = recovery.finish(summary, this.now);
    member.peer = peer;
    this.#carryOut(member, actions);
    this.run();
  }

  /** Ends a member as SIGKILL would. */
  kill(member: Member): void {
    member.peer = undefined;
    member.queue.length = 0;
    for (const sid of [...member.links.keys()]) this.#unlink(member, this.member(sid));
    this.run();
  }

  /** Cuts the member off from all others, or from `others`, until `heal`. */
  isolate(member: Member, others: readonly Member[] = this.members): void {
    for (const other of others) {
      if (other === member) continue;
      this.#cut.add(pairOf(member, other));
      this.#unlink(member, other);
    }
    this.run();
  }

  heal(): void {
    this.#cut.clear();
  }

  /** Moves time on in ticks, each with everything that follows from it. */
  advance(ms: number): void {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.now.monotonicMs += TICK_MS;
      this.now.wallMs += TICK_MS;
      this.#relink();
      for (const member of this.members) {
        if (member.peer !== undefined && !member.isFrozen) member.queue.push({ kind: 'tick' });
      }
      this.run();
    }
  }

  /** A disk that hung answers again: what it was asked meanwhile is done. */
  unstall(member: Member): void {
    const waiting = member.stalled ?? [];
    member.stalled = undefined;
    this.#carryOut(member, waiting);
    this.run();
  }

  /** Hands an event to a member without anything that follows from it: see `run`. */
  give(member: Member, event: PeerEvent): void {
    member.queue.push(event);
  }

  /** Does everything that is to be done at this moment of time. */
  run(): void {
    for (let busy = true; busy; ) {
      busy = false;
      for (const member of this.members) {
        if (member.queue.length === 0 || member.isFrozen) continue;
        busy = true;
        this.turn(member);
      }
    }
  }

  /** One turn of one member: what has come so far, nothing that follows from it elsewhere. */
  turn(member: Member): void {
    for (const event of member.queue.splice(0)) this.#step(member, event);
    this.#step(member, { kind: 'turnEnded' });
  }

  /** Gives a call to a member and returns its number; `run` or `advance` carries it on. */
  submit(member: Member, op: Op, by: Partial<Call> = {}): number {
    const callId = this.#nextCall++;
    const deadlineMs = this.now.monotonicMs + CALL_TIMEOUT_DEFAULT_MS;
    const call = { session: NO_SESSION, attachment: 0, token: undefined, linearizable: false, deadlineMs };
    member.queue.push({ kind: 'call', call: { ...call, ...by, callId, op } });
    return callId;
  }

  /** One call, start to end, at this moment of time. */
  call(member: Member, op: Op, by: Partial<Call> = {}): Answer {
    const callId = this.submit(member, op, by);
    this.run();
    return answerOf(member, callId);
  }

  /** Opens a session at a member, by an attachment unless that is 0. */
  open(member: Member, attachment: number, timeoutMs = 10_000): SessionReady {
    const callId = this.#nextCall++;
    const deadlineMs = this.now.monotonicMs + CALL_TIMEOUT_DEFAULT_MS;
    member.queue.push({ kind: 'openSession', callId, attachment, timeoutMs, token: TOKEN, deadlineMs });
    this.run();
    const ready = member.ready.get(callId);
    if (ready === undefined) throw new Error(`No session: ${JSON.stringify(member.answers.get(callId), bigText)}`);
    return ready;
  }

  /** Asks a member to go on with a session; returns the number of the call. */
  attach(member: Member, attachment: number, session: SessionId, seen: Zxid = ZERO_ZXID, token = TOKEN): number {
    const callId = this.#nextCall++;
    const deadlineMs = this.now.monotonicMs + CALL_TIMEOUT_DEFAULT_MS;
    const lastZxidSeen = seen;
    member.queue.push({ kind: 'attachSession', callId, attachment, session, token, lastZxidSeen, deadlineMs });
    this.run();
    return callId;
  }

  /** Asks a member to hand the lead over; returns the number of the call. */
  moveLeader(member: Member, to?: Sid): number {
    const callId = this.#nextCall++;
    const deadlineMs = this.now.monotonicMs + CALL_TIMEOUT_DEFAULT_MS;
    member.queue.push({ kind: 'moveLeader', callId, to, deadlineMs });
    this.run();
    return callId;
  }

  keepAlive(member: Member, session: SessionId, token = TOKEN): number {
    const callId = this.#nextCall++;
    const deadlineMs = this.now.monotonicMs + CALL_TIMEOUT_DEFAULT_MS;
    member.queue.push({ kind: 'keepAlive', callId, session, token, deadlineMs });
    this.run();
    return callId;
  }

  /** What the member is told at its next start. */
  configOf({ sid, incarnation }: Member): MemberConfig {
    const { observers = 0, timing, limits } = this.#options;
    return {
      sid,
      voters: this.#voters,
      observers: Array.from({ length: observers }, (_, i) => this.#voters.length + i + 1),
      incarnation,
      firstSessionId: firstSessionId(sid, this.now.wallMs + incarnation),
      seed: sid,
      bootstrap: false,
      timing: { ...DEFAULT_TIMING, ...timing },
      limits: { ...DEFAULT_LIMITS, ...limits },
    };
  }

  #step(member: Member, event: PeerEvent): void {
    if (member.peer !== undefined) this.#carryOut(member, member.peer.step(event, this.now));
  }

  #carryOut(member: Member, actions: readonly PeerAction[]): void {
    for (const action of actions) {
      if (member.stalled !== undefined && action.kind === 'persist') {
        member.stalled.push(action);
        continue;
      }
      if (member.stallsCheckpoints && action.kind === 'checkpointCommit') continue;
      const events = member.disk.take(action);
      if (events !== undefined) member.queue.push(...events);
      else this.#carry(member, action);
    }
  }

  #carry(member: Member, action: PeerAction): void {
    switch (action.kind) {
      case 'send':
        return this.#send(member, action);
      case 'sendState': {
        const { sid, link, stream } = action;
        for (const record of member.disk.stream(stream)) {
          this.#send(member, { kind: 'send', sid, link, message: { kind: 'stateChunk', records: [record] } });
        }
        member.queue.push({ kind: 'stateSent', stream });
        return;
      }
      case 'closeLink':
        if (member.links.get(action.sid) === action.link) this.#unlink(member, this.member(action.sid));
        return;
      case 'answer':
        if (member.answers.has(action.callId)) throw new Error(`P2: call ${action.callId} is answered twice`);
        member.answers.set(action.callId, action.answer);
        member.answered.push(action.callId);
        return;
      case 'sessionReady':
        member.ready.set(action.callId, action);
        return;
      case 'sessionAlive':
        member.alive.set(action.callId, action.timeoutMs);
        return;
      case 'leaderMoved':
        member.moved.set(action.callId, action.leader);
        return;
      case 'closeAttachment':
        member.closed.push(action);
        return;
      case 'stopped':
        member.hasStopped = true;
        return;
      case 'rebuild':
        member.rebuilds.push(action);
        return;
      case 'warning':
        member.warnings.push(action.reason);
        return;
      case 'alarm':
        member.alarms.push(action.reason);
        return;
      case 'feedPiece':
        member.pieces.push(action);
        if (!member.lazy.has(action.feed)) member.queue.push({ kind: 'feedTaken', feed: action.feed });
        return;
      case 'feedEnded':
        member.feedEnds.set(action.feed, action.code);
        return;
      case 'diskFailed':
      case 'fail':
        member.failed = action.reason;
        return;
      default:
    }
  }

  #send(from: Member, action: Extract<PeerAction, { kind: 'send' }>): void {
    from.sent.push(action);
    if (from.links.get(action.sid) !== action.link) return;
    const { link, message } = action;
    this.member(action.sid).queue.push({ kind: 'peerMessage', sid: from.sid, link, message });
  }

  #relink(): void {
    for (const a of this.members) {
      for (const b of this.members) {
        if (a.sid >= b.sid || a.peer === undefined || b.peer === undefined) continue;
        if (a.links.has(b.sid) || this.#cut.has(pairOf(a, b))) continue;
        const link = this.#nextLink++;
        a.links.set(b.sid, link);
        b.links.set(a.sid, link);
        a.queue.push({ kind: 'linkUp', sid: b.sid, link });
        b.queue.push({ kind: 'linkUp', sid: a.sid, link });
      }
    }
  }

  #unlink(a: Member, b: Member): void {
    const link = a.links.get(b.sid);
    if (link === undefined) return;
    a.links.delete(b.sid);
    b.links.delete(a.sid);
    if (a.peer !== undefined) a.queue.push({ kind: 'linkDown', sid: b.sid, link });
    if (b.peer !== undefined) b.queue.push({ kind: 'linkDown', sid: a.sid, link });
  }
}

export function answerOf(member: Member, callId: number): Answer {
  const answer = member.answers.get(callId);
  if (answer === undefined) throw new Error(`Call ${callId} is not answered`);
  return answer;
}

function pairOf(a: Member, b: Member): string {
  return a.sid < b.sid ? `${a.sid}-${b.sid}` : `${b.sid}-${a.sid}`;
}

function bigText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `0x${value.toString(16)}` : value;
}
