/** For tests of single rules: one member, and nothing around it that acts by itself. */
import { type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { ZabRecovered } from './config.ts';
import type { Standing, StorageCommand, ZabHost } from './host.ts';
import type { LogRecord, Vote, ZabMessage } from './messages.ts';
import { Zab } from './zab.ts';

/** What a voter in good order says of its right. */
export const HELD = { voteRight: 'held', isEmpty: false } as const;

/** One Zab whose surroundings are this test: what it says and asks of the disk is kept, and nothing is answered by itself. */
export class Alone implements ZabHost {
  readonly said: { to: Sid; message: ZabMessage }[] = [];
  readonly disk: StorageCommand[] = [];
  readonly standings: Standing[] = [];
  readonly delivered: Zxid[] = [];
  readonly closed: Sid[] = [];
  readonly faults: string[] = [];
  confirmed = 0;
  snapshotFault: string | undefined;
  readonly zab: Zab;
  nowMs = 0;

  constructor(sid: Sid, recovered: Partial<ZabRecovered> = {}, voters: readonly Sid[] = [1, 2, 3]) {
    const timing = {
      heartbeatMs: 250,
      syncTimeoutMs: 3_000,
      initTimeoutMs: 10_000,
      electionRetryMs: 200,
      electionSettleMs: 30,
    };
    const limits = { historyBytesMax: 1 << 20, syncMessageBytes: 1 << 20, epochTxnsMax: 2 ** 31 };
    const voteRight = 'held';
    const start: ZabRecovered = {
      voteRight,
      acceptedEpoch: 0,
      currentEpoch: 0,
      baseZxid: ZERO_ZXID,
      records: [],
      committed: ZERO_ZXID,
    };
    this.zab = new Zab({ sid, voters, observers: [], timing, bootstrap: false, limits }, this, {
      ...start,
      ...recovered,
    });
    this.zab.start(0);
    for (const other of voters) if (other !== sid) this.zab.linkUp(other, other, 0);
    this.take();
  }

  hear(from: Sid, message: ZabMessage): void {
    this.zab.message(from, from, message, this.nowMs);
  }
  vote(from: Sid, vote: Vote, round = 1): void {
    this.hear(from, { kind: 'notification', state: 'looking', round, vote, ...HELD });
  }
  /** The disk has done everything so far. */
  done(): void {
    this.zab.persisted(this.disk.length, this.nowMs);
  }
  /** What was said since the last call, of one kind when given. */
  take(kind?: ZabMessage['kind']): ZabMessage[] {
    const messages = this.said.splice(0).map(({ message }) => message);
    return kind === undefined ? messages : messages.filter((message) => message.kind === kind);
  }

  send(to: Sid, _link: number, message: ZabMessage): void {
    this.said.push({ to, message });
  }
  persist(command: StorageCommand): number {
    return this.disk.push(command);
  }
  deliver({ zxid }: { zxid: Zxid }): void {
    this.delivered.push(zxid);
  }
  standing(standing: Standing): void {
    this.standings.push(standing);
  }
  closeLink(sid: Sid): void {
    this.closed.push(sid);
  }
  openState(): void {}
  sendState(): void {}
  closeState(): void {}
  installBegin(): void {}
  installRecords(): string | undefined {
    return this.snapshotFault;
  }
  installCheck(): string | undefined {
    return this.snapshotFault;
  }
  installEnd(): void {}
  installAbort(): void {}
  leadershipConfirmed(seq: number): void {
    this.confirmed = seq;
  }
  voteRightChanged(): void {}
  fail(reason: string): void {
    throw new Error(reason);
  }
  trace(name: string, fields: Readonly<Record<string, unknown>>): void {
    if (name === 'badMessage') this.faults.push(String(fields['reason']));
  }
}

export const leading = (leader: Sid, peerEpoch = 0): ZabMessage => ({
  kind: 'notification',
  state: 'leading',
  round: 1,
  vote: { leader, peerEpoch, zxid: ZERO_ZXID },
  ...HELD,
});
export const record = (zxid: Zxid): LogRecord => ({ zxid, payload: new Uint8Array() });

/** Member 1 as a learner of 3 that was sent `records` and newLeader for epoch 6, all on disk. */
export function adopted(records: readonly Zxid[]): Alone {
  const member = new Alone(1, { acceptedEpoch: 5, currentEpoch: 5 });
  member.hear(3, leading(3));
  member.hear(3, { kind: 'leaderInfo', epoch: 6 });
  member.done();
  member.hear(3, { kind: 'diff', records: records.map(record) });
  member.hear(3, { kind: 'newLeader', epoch: 6, lastZxid: records.at(-1) ?? ZERO_ZXID });
  member.done();
  return member;
}

/** Member 3 elected by itself and 1, the epoch on its disk, and 1 told of it. */
export function elected(recovered: Partial<ZabRecovered> = {}): Alone {
  const member = new Alone(3, recovered);
  const vote = {
    leader: 3,
    peerEpoch: recovered.currentEpoch ?? 0,
    zxid: recovered.records?.at(-1)?.zxid ?? ZERO_ZXID,
  };
  member.vote(1, vote);
  member.vote(2, vote);
  member.hear(1, { kind: 'followerInfo', acceptedEpoch: 0, voteRight: 'held' });
  member.done();
  member.take();
  return member;
}
