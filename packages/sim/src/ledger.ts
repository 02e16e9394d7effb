/**
 * What the stream of observations adds up to: the log on every disk, every txn that was ever logged with the one before
 * it, and the history that is committed. A txn counts as committed once any member has applied it. The ledger judges
 * nothing: what does not fit together it keeps as a conflict, for the agreement checker to report.
 */
import { decodeTxn, type LogRecord, type Txn, type VoteRight } from '@quorate/core';
import { type Epoch, formatZxid, type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { CallBook } from './calls.ts';
import type { ClocksView, Observation } from './observation.ts';
import { ShadowLog } from './shadow-log.ts';

/** A txn as it was logged first, wherever that was. */
export interface LoggedTxn {
  readonly zxid: Zxid;
  /** The zxid right before it in the log. */
  readonly previous: Zxid;
  readonly payload: Uint8Array;
  /** The member that logged it first. */
  readonly by: Sid;
}

/** One member's disk, as far as it is known from outside. */
export interface MemberRecord {
  readonly sid: Sid;
  /** What it has handed to its disk. */
  readonly issued: ShadowLog;
  /** What its disk holds for sure. */
  readonly durable: ShadowLog;
  /** What its disk held when it lost it; undefined when it did not, or holds the right to vote again since. */
  lost: ShadowLog | undefined;
  acceptedEpoch: Epoch;
  currentEpoch: Epoch;
  voteRight: VoteRight;
  /** Last applied in this run. */
  applied: Zxid;
}

export class Ledger {
  /** Virtual time of the present observation, µs. */
  nowUs = 0;
  clocks: ClocksView = { driftMax: 0, reapIntervalMs: 0 };
  readonly voters: Sid[] = [];
  readonly observers: Sid[] = [];
  readonly members = new Map<Sid, MemberRecord>();
  readonly logged = new Map<Zxid, LoggedTxn>();
  /** The committed history in order. */
  readonly committed: Zxid[] = [];
  /** What contradicts "one history", in words; in order of discovery. */
  readonly conflicts: string[] = [];
  readonly calls = new CallBook();
  /** Those that somebody has asked for: most checkers go through all of them at the end. */
  readonly #txns = new Map<Zxid, Txn>();
  readonly #committedSet = new Set<Zxid>([ZERO_ZXID]);

  /** The last txn that is committed. */
  get tip(): Zxid {
    return this.committed.at(-1) ?? ZERO_ZXID;
  }

  isCommitted(zxid: Zxid): boolean {
    return this.#committedSet.has(zxid);
  }

  member(sid: Sid): MemberRecord {
    const member = this.members.get(sid);
    if (member === undefined) throw new RangeError(`Member ${sid} is not in the ensemble`);
    return member;
  }

  /** The txn at a zxid that was logged. Undefined when it was not logged or cannot be decoded. */
  txn(zxid: Zxid): Txn | undefined {
    const known = this.#txns.get(zxid);
    const logged = known === undefined ? this.logged.get(zxid) : undefined;
    if (logged === undefined) return known;
    const txn = decodeTxn(logged.payload);
    this.#txns.set(zxid, txn);
    return txn;
  }

  /** Takes the next observation in. Checkers see it after the ledger has. */
  note(observation: Observation): void {
    this.calls.note(observation);
    switch (observation.kind) {
      case 'ensemble':
        this.voters.push(...observation.voters);
        this.observers.push(...observation.observers);
        this.clocks = observation.clocks;
        for (const sid of [...observation.voters, ...observation.observers]) {
          this.members.set(sid, {
            sid,
            issued: new ShadowLog(),
            durable: new ShadowLog(),
            lost: undefined,
            acceptedEpoch: 0,
            currentEpoch: 0,
            voteRight: 'unformed',
            applied: ZERO_ZXID,
          });
        }
        break;
      case 'started': {
        const member = this.member(observation.sid);
        const { disk, status } = observation;
        member.issued.reset(disk.baseZxid, disk.records);
        member.durable.reset(disk.baseZxid, disk.records);
        member.acceptedEpoch = disk.acceptedEpoch;
        member.currentEpoch = disk.currentEpoch;
        member.voteRight = disk.voteRight;
        this.#logged(observation.sid, disk.baseZxid, disk.records);
        member.applied = ZERO_ZXID;
        this.#applied(member, status.lastZxid);
        break;
      }
      case 'diskReplaced': {
        const member = this.member(observation.sid);
        member.lost ??= member.durable.copy();
        member.issued.reset(ZERO_ZXID, []);
        member.durable.reset(ZERO_ZXID, []);
        member.acceptedEpoch = 0;
        member.currentEpoch = 0;
        break;
      }
      case 'status':
        this.#applied(this.member(observation.sid), observation.status.lastZxid);
        break;
      case 'issued': {
        const member = this.member(observation.sid);
        const before = member.issued.last;
        member.issued.take(observation.command);
        if (observation.command.kind === 'append') this.#logged(observation.sid, before, observation.command.records);
        break;
      }
      case 'durable':
        this.#durable(this.member(observation.sid), observation.command);
        break;
      default:
        break;
    }
  }

  #durable(member: MemberRecord, command: Extract<Observation, { kind: 'durable' }>['command']): void {
    if (command.kind === 'saveEpochs') {
      member.acceptedEpoch = command.acceptedEpoch;
      member.currentEpoch = command.currentEpoch;
      if (command.voteRight === 'held') member.lost = undefined;
      member.voteRight = command.voteRight;
    }
    if (command.kind === 'append') this.#logged(member.sid, member.durable.last, command.records);
    member.durable.take(command);
  }

  #logged(by: Sid, last: Zxid, records: readonly LogRecord[]): void {
    let previous = last;
    for (const { zxid, payload } of records) {
      const known = this.logged.get(zxid);
      if (known === undefined) {
        this.logged.set(zxid, { zxid, previous, payload, by });
      } else {
        if (!sameBytes(known.payload, payload)) {
          this.conflicts.push(`members ${known.by} and ${by} have logged different txns at ${formatZxid(zxid)}`);
        }
        if (known.previous !== previous) {
          this.conflicts.push(
            `member ${known.by} has ${formatZxid(zxid)} after ${formatZxid(known.previous)}, member ${by} after ${formatZxid(previous)}`,
          );
        }
      }
      previous = zxid;
    }
  }

  /** A member has applied everything up to `zxid`: the committed history reaches at least so far. */
  #applied(member: MemberRecord, zxid: Zxid): void {
    const { sid } = member;
    if (zxid < member.applied) {
      this.conflicts.push(`member ${sid} went back from ${formatZxid(member.applied)} to ${formatZxid(zxid)}`);
    }
    member.applied = zxid;
    if (this.#committedSet.has(zxid)) return;
    const tip = this.tip;
    const added: Zxid[] = [];
    let at: Zxid = zxid;
    while (at > tip) {
      added.push(at);
      const logged = this.logged.get(at);
      if (logged === undefined) {
        this.conflicts.push(`member ${sid} has applied ${formatZxid(at)}, which was never logged`);
        return;
      }
      at = logged.previous;
    }
    if (at !== tip) {
      this.conflicts.push(
        `member ${sid} has applied ${formatZxid(zxid)}, whose history has ${formatZxid(at)} where ${formatZxid(tip)} is committed`,
      );
      return;
    }
    for (const each of added.reverse()) {
      this.committed.push(each);
      this.#committedSet.add(each);
    }
  }
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
