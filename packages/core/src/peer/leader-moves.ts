/**
 * The request that another member take over the lead: checks it, begins it in the agreement, and answers once when it is
 * seen how it came out. How it is done is zab/hand-over.ts's.
 */
import type { Sid } from '@quorate/protocol';
import { type Refusal, refusal } from '../pipeline/refusal.ts';
import type { Standing } from '../zab/host.ts';
import type { MemberConfig } from './config.ts';
import type { PeerEvent } from './events.ts';

type MoveLeader = Extract<PeerEvent, { kind: 'moveLeader' }>;

/** What it needs of the member around it. */
export interface LeaderMovesHost {
  readonly standing: () => Standing;
  /** `Zab.handOver`. */
  handOver(to: Sid | undefined): Sid | undefined;
  readonly isHandingOver: () => boolean;
  done(callId: number, leader: Sid): void;
  refuse(callId: number, reason: Refusal): void;
}

interface Pending {
  readonly callId: number;
  readonly to: Sid;
  readonly deadlineMs: number;
}

const UNDER_WAY = refusal('UNAVAILABLE', 'Cannot move the lead: a hand-over is under way');

export class LeaderMoves {
  readonly #config: MemberConfig;
  readonly #host: LeaderMovesHost;
  #pending: Pending | undefined;

  constructor(config: MemberConfig, host: LeaderMovesHost) {
    this.#config = config;
    this.#host = host;
  }

  begin({ callId, to, deadlineMs }: MoveLeader): void {
    const host = this.#host;
    const fault = this.#fault(to);
    if (fault !== undefined) return host.refuse(callId, fault);
    const target = host.handOver(to);
    if (target === undefined) {
      const who = to === undefined ? 'no voter' : `member ${to}, which`;
      const reason = to === undefined ? 'is synchronized with this leader' : 'is not synchronized with this leader';
      return host.refuse(callId, refusal('UNAVAILABLE', `Cannot move the lead: ${who} ${reason}`));
    }
    this.#pending = { callId, to: target, deadlineMs };
  }

  /** End of a step: answers when the outcome is known. */
  settle(nowMs: number): void {
    if (this.#pending === undefined) return;
    const { callId, to, deadlineMs } = this.#pending;
    const outcome = this.#outcome(to) ?? (nowMs >= deadlineMs ? late(to) : undefined);
    if (outcome === undefined) return;
    this.#pending = undefined;
    if (outcome === 'done') this.#host.done(callId, to);
    else this.#host.refuse(callId, outcome);
  }

  /** This member has given its place up and will not see who leads. */
  abandon(): void {
    if (this.#pending === undefined) return;
    const { callId, to } = this.#pending;
    this.#pending = undefined;
    this.#host.refuse(callId, failed(to, 'as far as this member knows, which has given its place up'));
  }

  #fault(to: Sid | undefined): Refusal | undefined {
    const { sid, voters, observers } = this.#config;
    const standing = this.#host.standing();
    if (to !== undefined && observers.includes(to)) {
      return refusal('INVALID_ARGUMENT', `Cannot move the lead to member ${to}: it is an observer`);
    }
    if (to !== undefined && !voters.includes(to)) {
      return refusal('INVALID_ARGUMENT', `Cannot move the lead to member ${to}: there is no such member`);
    }
    if (standing.kind !== 'leading') {
      const leader = standing.kind === 'following' ? `member ${standing.leader} does` : 'no leader is known here';
      return refusal('UNAVAILABLE', `Cannot move the lead: member ${sid} does not lead, ${leader}`);
    }
    if (to === sid) return refusal('INVALID_ARGUMENT', `Cannot move the lead to member ${to}: it leads already`);
    return this.#pending !== undefined || this.#host.isHandingOver() ? UNDER_WAY : undefined;
  }

  #outcome(to: Sid): 'done' | Refusal | undefined {
    const standing = this.#host.standing();
    switch (standing.kind) {
      case 'looking':
        return undefined;
      case 'following':
        return standing.leader === to ? 'done' : failed(to, `member ${standing.leader} was elected`);
      case 'leading':
        return this.#host.isHandingOver() ? undefined : failed(to, 'it did not come in time; this member leads');
    }
  }
}

function failed(to: Sid, why: string): Refusal {
  return refusal('UNAVAILABLE', `Member ${to} does not lead: ${why}`);
}

function late(to: Sid): Refusal {
  return refusal('DEADLINE_EXCEEDED', `Member ${to} was asked to take over the lead, and no leader is known in time`);
}
