/**
 * An ensemble of Zabs for tests: instant links and disks unless a test holds them, and a written record of what was said.
 * Not a mock: hosts that keep a real log, real epochs and a real state, in memory, and lose what was not synced in a crash.
 */
import { type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { VoteRight, ZabRecovered } from './config.ts';
import type { Standing, StorageCommand, ZabHost } from './host.ts';
import type { LogRecord, StateRecord, ZabMessage } from './messages.ts';
import { describeMessage } from './transcript.fixture.ts';
import { Zab } from './zab.ts';

interface Work {
  readonly ticket: number;
  readonly command: StorageCommand;
}

export class FixtureMember implements ZabHost {
  readonly sid: Sid;
  readonly ensemble: FixtureEnsemble;
  zab: Zab;
  /** Durable: what a crash leaves. */
  log: LogRecord[] = [];
  acceptedEpoch = 0;
  currentEpoch = 0;
  voteRight: VoteRight = 'held';
  stateZxid: Zxid = ZERO_ZXID;
  state: LogRecord[] = [];
  committedHint: Zxid = ZERO_ZXID;
  /** In memory. */
  delivered: LogRecord[] = [];
  current: Standing = { kind: 'looking' };
  standings: string[] = [];
  confirmed = 0;
  failure: string | undefined;
  /** Names of what it told in passing. */
  readonly traces: string[] = [];
  isDiskHeld = false;
  /** Snapshot streams are neither opened nor sent. */
  isStreamHeld = false;
  closedStreams: number[] = [];
  isUp = true;
  diskOrder: string[] = [];
  #work: Work[] = [];
  #ticket = 0;
  #incoming: LogRecord[] = [];
  #streams: number[] = [];
  #sends: { stream: number; sid: Sid; link: number }[] = [];

  constructor(ensemble: FixtureEnsemble, sid: Sid, recovered?: Partial<ZabRecovered>) {
    this.ensemble = ensemble;
    this.sid = sid;
    this.acceptedEpoch = recovered?.acceptedEpoch ?? 0;
    this.currentEpoch = recovered?.currentEpoch ?? 0;
    this.voteRight = recovered?.voteRight ?? 'held';
    this.stateZxid = recovered?.baseZxid ?? ZERO_ZXID;
    this.log = [...(recovered?.records ?? [])];
    this.zab = this.#boot();
  }

  #boot(): Zab {
    return new Zab({ ...this.ensemble.config, sid: this.sid }, this, {
      acceptedEpoch: this.acceptedEpoch,
      currentEpoch: this.currentEpoch,
      voteRight: this.voteRight,
      baseZxid: this.stateZxid,
      records: this.log,
      committed: this.committedHint > this.stateZxid ? this.committedHint : this.stateZxid,
    });
  }

  /** Loses memory and everything the disk had not done. */
  crash(): void {
    this.isUp = false;
    this.#work = [];
    this.#streams = [];
    this.#sends = [];
    for (const other of this.ensemble.members.values()) this.ensemble.cut(this.sid, other.sid);
  }

  /** The disk is replaced by an empty one, while the member is down. */
  wipe(voteRight: VoteRight): void {
    this.voteRight = voteRight;
    this.acceptedEpoch = 0;
    this.currentEpoch = 0;
    this.stateZxid = ZERO_ZXID;
    this.committedHint = ZERO_ZXID;
    this.state = [];
    this.log = [];
  }

  /** A new run from what the disk holds; not started yet. */
  reboot(): void {
    this.delivered = [...this.state];
    this.zab = this.#boot();
  }

  restart(): void {
    this.isUp = true;
    this.reboot();
    this.zab.start(this.ensemble.nowMs);
    for (const other of this.ensemble.members.values()) if (other !== this) this.ensemble.heal(this.sid, other.sid);
  }

  checkpoint(): void {
    const last = this.zab.status.delivered;
    this.state = [...this.delivered];
    this.stateZxid = last;
    this.log = this.log.filter((record) => record.zxid > last);
    this.zab.checkpointed(last);
  }

  /** Does the next disk work. Returns false when there is none or the disk is held. */
  doWork(): boolean {
    const stream = this.isStreamHeld ? undefined : this.#streams.shift();
    if (stream !== undefined) {
      this.zab.stateOpened(stream, this.stateZxid, this.ensemble.nowMs);
      return true;
    }
    const send = this.isStreamHeld ? undefined : this.#sends.shift();
    if (send !== undefined) {
      const records = this.state.map(({ zxid, payload }) => ({ key: key(zxid), value: payload }));
      this.send(send.sid, send.link, { kind: 'stateChunk', records });
      this.zab.stateSent(send.stream, this.ensemble.nowMs);
      return true;
    }
    if (this.isDiskHeld) return false;
    const work = this.#work.shift();
    if (work === undefined) return false;
    this.#carryOut(work.command);
    this.zab.persisted(work.ticket, this.ensemble.nowMs);
    return true;
  }

  #carryOut(command: StorageCommand): void {
    this.diskOrder.push(command.kind);
    switch (command.kind) {
      case 'append':
        this.log.push(...command.records);
        if (command.committed > this.committedHint) this.committedHint = command.committed;
        return;
      case 'truncate':
        this.log = this.log.filter((record) => record.zxid <= command.after);
        return;
      case 'saveEpochs':
        this.acceptedEpoch = command.acceptedEpoch;
        this.currentEpoch = command.currentEpoch;
        this.voteRight = command.voteRight;
        return;
      case 'installCommit':
        this.stateZxid = command.zxid;
        this.state = this.#incoming;
        this.log = [];
        return;
      default:
        return;
    }
  }

  send(sid: Sid, link: number, message: ZabMessage): void {
    this.ensemble.send(this.sid, sid, link, message);
  }
  persist(command: StorageCommand): number {
    this.#work.push({ ticket: ++this.#ticket, command });
    return this.#ticket;
  }
  deliver(record: LogRecord): void {
    this.delivered.push(record);
  }
  standing(standing: Standing): void {
    this.current = standing;
    this.standings.push(standing.kind);
    this.ensemble.say(`${this.sid} is ${standing.kind}`);
  }
  closeLink(sid: Sid, link: number, reason: string): void {
    this.ensemble.say(`${this.sid} closes the link to ${sid}: ${reason}`);
    this.ensemble.close(this.sid, sid, link);
  }
  openState(stream: number): void {
    this.#streams.push(stream);
  }
  sendState(stream: number, sid: Sid, link: number): void {
    this.#sends.push({ stream, sid, link });
  }
  closeState(stream: number): void {
    this.closedStreams.push(stream);
    this.#streams = this.#streams.filter((opening) => opening !== stream);
    this.#sends = this.#sends.filter((send) => send.stream !== stream);
  }
  installBegin(): void {
    this.#incoming = [];
  }
  installRecords(records: readonly StateRecord[]): string | undefined {
    for (const record of records)
      this.#incoming.push({ zxid: zxidOf(record.key), payload: record.value as Uint8Array });
    return undefined;
  }
  installCheck(): string | undefined {
    return undefined;
  }
  installEnd(): void {
    this.delivered = [...this.#incoming];
  }
  installAbort(): void {
    this.#incoming = [];
  }
  voteRightChanged(voteRight: VoteRight): void {
    this.ensemble.say(`${this.sid} is ${voteRight}`);
  }
  leadershipConfirmed(seq: number): void {
    this.confirmed = seq;
  }
  fail(reason: string): void {
    this.failure = reason;
  }
  trace(name: string): void {
    this.traces.push(name);
  }
}

interface Mail {
  readonly from: Sid;
  readonly to: Sid;
  readonly link: number;
  readonly message: ZabMessage;
}

export class FixtureEnsemble {
  nowMs = 0;
  readonly members = new Map<Sid, FixtureMember>();
  readonly record: string[] = [];
  readonly config: {
    voters: Sid[];
    observers: Sid[];
    timing: typeof TIMING;
    bootstrap: boolean;
    limits: { historyBytesMax: number; syncMessageBytes: number; epochTxnsMax: number };
  };
  #mail: Mail[] = [];
  #links = new Map<string, number>();
  #nextLink = 1;

  constructor(voters: Sid[], observers: Sid[] = [], historyBytesMax = 1 << 20) {
    this.config = {
      voters,
      observers,
      timing: TIMING,
      bootstrap: false,
      limits: { historyBytesMax, syncMessageBytes: 2 ** 20, epochTxnsMax: 2 ** 32 - 2 ** 20 },
    };
    for (const sid of [...voters, ...observers]) this.members.set(sid, new FixtureMember(this, sid));
  }

  member(sid: Sid): FixtureMember {
    return this.members.get(sid) as FixtureMember;
  }

  get leader(): FixtureMember | undefined {
    return [...this.members.values()].find((member) => member.isUp && member.current.kind === 'leading');
  }

  start(...sids: Sid[]): void {
    const starting = sids.length > 0 ? sids : [...this.members.keys()];
    for (const member of this.members.values()) member.isUp = starting.includes(member.sid);
    for (const sid of starting) this.member(sid).zab.start(this.nowMs);
    for (const a of starting) for (const b of starting) if (a < b) this.heal(a, b);
    this.settle();
  }

  /** Number of the link between two members; 0 for none. */
  linkBetween(a: Sid, b: Sid): number {
    return this.#links.get(pair(a, b)) ?? 0;
  }

  heal(a: Sid, b: Sid): void {
    if (this.#links.has(pair(a, b)) || !this.member(a).isUp || !this.member(b).isUp) return;
    const link = this.#nextLink++;
    this.#links.set(pair(a, b), link);
    this.member(a).zab.linkUp(b, link, this.nowMs);
    this.member(b).zab.linkUp(a, link, this.nowMs);
  }

  cut(a: Sid, b: Sid): void {
    const link = this.#links.get(pair(a, b));
    if (link === undefined) return;
    this.#links.delete(pair(a, b));
    this.#mail = this.#mail.filter((mail) => mail.link !== link);
    if (this.member(a).isUp) this.member(a).zab.linkDown(b, link, this.nowMs);
    if (this.member(b).isUp) this.member(b).zab.linkDown(a, link, this.nowMs);
  }

  /** One side closed the link: the other learns of it, and it comes up anew. */
  close(from: Sid, to: Sid, link: number): void {
    if (this.#links.get(pair(from, to)) !== link) return;
    this.#links.delete(pair(from, to));
    this.#mail = this.#mail.filter((mail) => mail.link !== link);
    this.#later.push(() => {
      this.member(to).zab.linkDown(from, link, this.nowMs);
      this.heal(from, to);
    });
  }
  #later: (() => void)[] = [];

  send(from: Sid, to: Sid, link: number, message: ZabMessage): void {
    if (this.#links.get(pair(from, to)) !== link) return;
    this.say(`${from} → ${to} ${describeMessage(message)}`);
    this.#mail.push({ from, to, link, message });
  }

  say(line: string): void {
    this.record.push(line);
  }

  /** Runs disks and links until nothing moves. */
  settle(): void {
    for (let i = 0; i < 10_000; i++) {
      const later = this.#later.shift();
      if (later !== undefined) {
        later();
        continue;
      }
      const mail = this.#mail.shift();
      if (mail !== undefined) {
        const member = this.member(mail.to);
        if (member.isUp) member.zab.message(mail.from, mail.link, mail.message, this.nowMs);
        continue;
      }
      let moved = false;
      for (const member of this.members.values()) {
        if (!member.isUp) continue;
        member.zab.turnEnded(this.nowMs);
        if (member.doWork()) moved = true;
      }
      if (!moved && this.#mail.length === 0 && this.#later.length === 0) return;
    }
    throw new Error('The ensemble does not come to rest');
  }

  /** Lets time pass in steps of 10 ms, at rest after each. */
  advance(ms: number): void {
    for (let passed = 0; passed < ms; passed += 10) {
      this.nowMs += 10;
      for (const member of this.members.values()) if (member.isUp) member.zab.tick(this.nowMs);
      this.settle();
    }
  }

  /** Proposes a text at the leader and lets everything settle. */
  write(text: string): Zxid {
    const zxid = (this.leader as FixtureMember).zab.propose(bytes(text));
    this.settle();
    return zxid;
  }

  texts(sid: Sid): string[] {
    return this.member(sid).delivered.map(({ payload }) => String.fromCharCode(...payload));
  }

  /** What was said since the last call, without heartbeats. */
  transcript(): string {
    return `${this.record
      .splice(0)
      .filter((line) => !/ (ping|pong) /.test(line))
      .join('\n')}\n`;
  }
}

const TIMING = {
  heartbeatMs: 250,
  syncTimeoutMs: 3_000,
  initTimeoutMs: 10_000,
  electionRetryMs: 200,
  electionSettleMs: 30,
};

function pair(a: Sid, b: Sid): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}

export function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}

function key(zxid: Zxid): Uint8Array {
  return bytes(zxid.toString(16));
}

function zxidOf(stateKey: Uint8Array): Zxid {
  return BigInt(`0x${String.fromCharCode(...stateKey)}`) as Zxid;
}
