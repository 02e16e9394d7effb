/**
 * Whether this member's memory can be trusted: its tree is compared with the others' (comparison.ts), and looked through for
 * what was altered by no txn (scrubbing.ts). It only finds out; what follows is `leave` in quorum-peer.ts.
 */
import { formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { CurrentTree } from '../pipeline/current-tree.ts';
import type { ZabStatus } from '../zab/config.ts';
import { Comparison, type ComparisonHost } from './comparison.ts';
import type { MemberConfig } from './config.ts';
import type { DigestMessage } from './messages.ts';
import type { Outbox } from './outbox.ts';
import type { Routing } from './routing.ts';
import { Scrubbing } from './scrubbing.ts';

/** Why this member must leave service. */
export interface Distrust {
  readonly reason: string;
  /** What was read from the disk was never seen to be right: it is no better than what is in memory. */
  readonly isDiskWrong: boolean;
}

/** What trust asks of the agreement. */
export interface TrustZab {
  status(): Pick<ZabStatus, 'learners' | 'lastLogged'>;
}

export class Trust {
  readonly #routing: Routing;
  readonly #outbox: Outbox;
  readonly #comparison: Comparison;
  readonly #scrubbing: Scrubbing;
  #distrust: Distrust | undefined;

  constructor(config: MemberConfig, state: CurrentTree, zab: TrustZab, parts: { routing: Routing; outbox: Outbox }) {
    this.#routing = parts.routing;
    this.#outbox = parts.outbox;
    this.#comparison = new Comparison(config, state, this.#comparisonHost(zab));
    this.#scrubbing = new Scrubbing(state, (what) => this.#altered(what));
  }

  /** Undefined while there is no reason not to trust it. To be looked at at the end of each step. */
  get distrust(): Distrust | undefined {
    return this.#distrust;
  }

  tick(nowMs: number): void {
    this.#comparison.tick(nowMs);
    this.#scrubbing.tick(nowMs);
  }

  /** The txn at `zxid` was just applied. */
  applied(zxid: Zxid): void {
    this.#comparison.applied(zxid);
  }

  /** A new leader, or none. */
  stand(isLeading: boolean): void {
    this.#comparison.stand(isLeading);
  }

  linkUp(sid: Sid): void {
    this.#comparison.linkUp(sid);
  }

  /** What is not from the leader that is followed, or from a learner of this one, is dropped. */
  fromPeer(sid: Sid, link: number, message: DigestMessage): void {
    if (message.kind !== 'digestAt') {
      if (this.#routing.isFollowed(sid, link)) this.#comparison.fromLeader(message);
    } else if (this.#routing.isLed(sid, link)) this.#comparison.answered(sid, message.zxid, message.digest);
  }

  #altered(what: string): void {
    const reason = `The memory of this member was altered: ${what} is not what it was when it was last changed`;
    this.#distrust ??= { reason, isDiskWrong: false };
  }

  #comparisonHost(zab: TrustZab): ComparisonHost {
    return {
      toLeader: (message) => this.#routing.toLeader(message),
      toLearner: (sid, message) => this.#routing.toLearner(sid, message),
      learners: () => zab.status().learners.flatMap(({ sid, synced }) => (synced ? [sid] : [])),
      lastLogged: () => zab.status().lastLogged,
      differs: ({ zxid, own, agreed }) => {
        const digests = `its digest is ${formatDigest(own)}, a quorum's is ${formatDigest(agreed)}`;
        const reason = `The tree of this member differs from the others' right after ${formatZxid(zxid)}: ${digests}`;
        this.#distrust ??= { reason, isDiskWrong: !this.#comparison.hasAgreed };
      },
      undecided: (zxid, answers) => {
        const words = [...answers].map(([sid, digest]) => `${formatDigest(digest)} on member ${sid}`).join(', ');
        const reason = `Trees differ right after ${formatZxid(zxid)}, and no quorum has the same: ${words}`;
        this.#outbox.push({ kind: 'alarm', reason });
      },
    };
  }
}

function formatDigest(digest: bigint): string {
  return `0x${digest.toString(16).padStart(16, '0')}`;
}
