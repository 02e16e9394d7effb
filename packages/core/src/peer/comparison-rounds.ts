/**
 * The leader's side of comparing trees: who has answered what in each round, and what a quorum says. Bounded: a round that is
 * overtaken by many later ones is given up. Knows nothing of links or of what follows from a verdict.
 */
import type { Sid, Zxid } from '@quorate/protocol';

/** Rounds that can be open at a time. */
const ROUNDS_MAX = 16;

interface Round {
  readonly zxid: Zxid;
  readonly asked: readonly Sid[];
  readonly answers: Map<Sid, bigint>;
  /** What a quorum of voters said. */
  agreed: bigint | undefined;
}

export type ComparisonVerdict =
  /** A quorum says `digest`: to be told to these members, who have answered. */
  | { readonly kind: 'agreed'; readonly digest: bigint; readonly to: readonly Sid[] }
  /** All have answered, not alike, and no answer has a quorum: nobody can tell who is right. Said once a leadership. */
  | { readonly kind: 'undecided'; readonly answers: ReadonlyMap<Sid, bigint> };

export class ComparisonRounds {
  readonly #voters: readonly Sid[];
  #rounds: Round[] = [];
  #hasBeenUndecided = false;

  constructor(voters: readonly Sid[]) {
    this.#voters = voters;
  }

  begin(zxid: Zxid, asked: readonly Sid[]): void {
    // A second question about the same position replaces the first: somebody has come since.
    this.#rounds = this.#rounds.filter((round) => round.zxid !== zxid).slice(1 - ROUNDS_MAX);
    this.#rounds.push({ zxid, asked, answers: new Map(), agreed: undefined });
  }

  /** True when the last round was about `zxid`, these learners were in it and all have answered: there is nothing new. */
  isSettled(zxid: Zxid, learners: readonly Sid[]): boolean {
    const last = this.#rounds.at(-1);
    return last?.zxid === zxid && last.agreed !== undefined && learners.every((sid) => last.answers.has(sid));
  }

  /** The member may have been started anew: what it has answered is of another tree. */
  forget(sid: Sid): void {
    for (const { answers } of this.#rounds) answers.delete(sid);
  }

  /** A member says what its digest was right after `zxid`. Undefined: nothing follows from it yet. */
  answered(sid: Sid, zxid: Zxid, digest: bigint): ComparisonVerdict | undefined {
    const round = this.#rounds.find((one) => one.zxid === zxid);
    if (round === undefined || !round.asked.includes(sid)) return undefined;
    round.answers.set(sid, digest);
    if (round.agreed !== undefined) return { kind: 'agreed', digest: round.agreed, to: [sid] };
    if (this.#isQuorums(round, digest)) {
      round.agreed = digest;
      return { kind: 'agreed', digest, to: [...round.answers.keys()] };
    }
    const isOver = round.answers.size === round.asked.length && new Set(round.answers.values()).size > 1;
    if (!isOver || this.#hasBeenUndecided) return undefined;
    this.#hasBeenUndecided = true;
    return { kind: 'undecided', answers: round.answers };
  }

  #isQuorums(round: Round, digest: bigint): boolean {
    const alike = this.#voters.filter((voter) => round.answers.get(voter) === digest);
    return alike.length * 2 > this.#voters.length;
  }
}
