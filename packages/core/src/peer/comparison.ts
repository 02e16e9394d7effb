/**
 * Members compare their trees: now and then the leader names the last txn of its log, every member says what its digest is
 * right after that txn, and what a quorum of voters says is right, also against the leader itself. Whoever differs
 * cannot be trusted to serve: see `leave` in quorum-peer.ts.
 *
 *     leader                          every member, the leader too
 *     compareDigest(zxid)        →    when zxid is applied:
 *                                ←    digestAt(zxid, digest)
 *     a quorum says the same
 *     digestAgreed(zxid, digest) →    equal: all is well. Another: this member's tree is wrong
 *
 * The leader's log is never behind what a learner has applied when the question reaches it, so nobody needs to keep digests
 * of the past, and a write costs one comparison of a number. Neither the agreement nor the tree knows of this.
 */
import type { Sid, Zxid } from '@quorate/protocol';
import type { CurrentTree } from '../pipeline/current-tree.ts';
import { DIGEST_VERSION } from '../tree/digest.ts';
import { ComparisonRounds } from './comparison-rounds.ts';
import type { DigestMessage } from './messages.ts';

/** A tree is compared this often, ms: a difference is known within this, a tick and two ways over the link. */
export const COMPARISON_MS = 500;

/** Questions that wait for their txn to be applied, and answers that wait for the quorum's; older ones are given up. */
const WAITING_MAX = 16;

/** This member's tree is not what a quorum's is. */
export interface Difference {
  readonly zxid: Zxid;
  /** This member's digest right after that txn. */
  readonly own: bigint;
  /** The quorum's. */
  readonly agreed: bigint;
}

export interface ComparisonHost {
  /** To the leader, when this member follows one. */
  toLeader(message: DigestMessage): void;
  /** From the leader to a learner. */
  toLearner(sid: Sid, message: DigestMessage): void;
  /** On a leader: the learners that are synchronized. */
  learners(): readonly Sid[];
  lastLogged(): Zxid;
  differs(difference: Difference): void;
  /** All who are there were asked, they differ, and no answer has a quorum. */
  undecided(zxid: Zxid, answers: ReadonlyMap<Sid, bigint>): void;
}

export class Comparison {
  readonly #sid: Sid;
  readonly #voters: readonly Sid[];
  readonly #state: CurrentTree;
  readonly #host: ComparisonHost;
  /** Positions that this member was asked about and has not applied yet, ascending. */
  #questions: Zxid[] = [];
  /** What it has answered and not heard of since. */
  #answers: { readonly zxid: Zxid; readonly digest: bigint }[] = [];
  /** While this member leads. */
  #rounds: ComparisonRounds | undefined;
  #roundMs = 0;
  #hasAgreed = false;

  constructor(about: { readonly sid: Sid; readonly voters: readonly Sid[] }, state: CurrentTree, host: ComparisonHost) {
    this.#sid = about.sid;
    this.#voters = about.voters;
    this.#state = state;
    this.#host = host;
  }

  /** This member's tree was found equal to the quorum's since it was started. */
  get hasAgreed(): boolean {
    return this.#hasAgreed;
  }

  /** A new leader, or none: what was asked by the last one is over. */
  stand(isLeading: boolean): void {
    this.#questions = [];
    this.#answers = [];
    this.#rounds = isLeading ? new ComparisonRounds(this.#voters) : undefined;
    this.#roundMs = 0;
  }

  /** There is a new link to that member: it may have been started anew. */
  linkUp(sid: Sid): void {
    this.#rounds?.forget(sid);
  }

  /** On a leader: begins a round when it is time, and there is something that was not compared. */
  tick(nowMs: number): void {
    const rounds = this.#rounds;
    if (rounds === undefined || nowMs - this.#roundMs < COMPARISON_MS) return;
    this.#roundMs = nowMs;
    const zxid = this.#host.lastLogged();
    const learners = this.#host.learners();
    if (rounds.isSettled(zxid, learners)) return;
    rounds.begin(zxid, [this.#sid, ...learners]);
    const question = { kind: 'compareDigest', zxid, version: DIGEST_VERSION } as const;
    for (const learner of learners) this.#host.toLearner(learner, question);
    this.#ask(zxid);
  }

  /** The txn at `zxid` was just applied. */
  applied(zxid: Zxid): void {
    if (this.#questions.length === 0) return;
    while (this.#questions.length > 0 && (this.#questions[0] as Zxid) <= zxid) {
      if (this.#questions.shift() === zxid) this.#answer(zxid);
    }
  }

  /** From the leader that this member follows. */
  fromLeader(message: Exclude<DigestMessage, { kind: 'digestAt' }>): void {
    if (message.kind === 'digestAgreed') this.#agreed(message.zxid, message.digest);
    else if (message.version === DIGEST_VERSION) this.#ask(message.zxid);
  }

  /** From a learner of this leader, or this member itself. */
  answered(sid: Sid, zxid: Zxid, digest: bigint): void {
    const rounds = this.#rounds;
    const verdict = rounds?.answered(sid, zxid, digest);
    if (rounds === undefined || verdict === undefined) return;
    if (verdict.kind === 'undecided') return this.#host.undecided(zxid, verdict.answers);
    for (const to of verdict.to) {
      if (to !== this.#sid) this.#host.toLearner(to, { kind: 'digestAgreed', zxid, digest: verdict.digest });
    }
    // Last, because it may be the end of this leadership: the others are told before.
    if (verdict.to.includes(this.#sid)) this.#agreed(zxid, verdict.digest);
  }

  #ask(zxid: Zxid): void {
    const { lastZxid } = this.#state.tree;
    if (zxid === lastZxid) this.#answer(zxid);
    else if (zxid > lastZxid) {
      if (this.#questions.length === WAITING_MAX) this.#questions.shift();
      this.#questions.push(zxid);
    }
  }

  #answer(zxid: Zxid): void {
    const { digest } = this.#state.tree;
    this.#answers = this.#answers.filter((earlier) => earlier.zxid !== zxid).slice(1 - WAITING_MAX);
    this.#answers.push({ zxid, digest });
    if (this.#rounds === undefined) this.#host.toLeader({ kind: 'digestAt', zxid, digest });
    else this.answered(this.#sid, zxid, digest);
  }

  #agreed(zxid: Zxid, agreed: bigint): void {
    const answer = this.#answers.find((one) => one.zxid === zxid);
    if (answer === undefined) return;
    this.#answers = this.#answers.filter((one) => one.zxid > zxid);
    if (answer.digest === agreed) this.#hasAgreed = true;
    else this.#host.differs({ zxid, own: answer.digest, agreed });
  }
}
