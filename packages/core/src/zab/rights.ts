/**
 * The right to vote: what a member has of it, and what the other voters say of theirs. A configured voter counts only while
 * it holds the right; one whose disk is new or was lost may have forgotten promises that others still count, and must
 * not be counted twice. How it comes by the right: formation.ts (a new ensemble), regaining.ts (a lost disk).
 */
import type { Sid } from '@quorate/protocol';
import type { VoteRight } from './config.ts';
import type { ZabContext } from './context.ts';

/** What a voter says of itself. */
export interface RightWord {
  readonly voteRight: VoteRight;
  /** It has neither data nor ever promised an epoch. */
  readonly isEmpty: boolean;
}

/** What the voters have said: each counts only on its present link. */
export class Rights {
  readonly #words = new Map<Sid, RightWord>();
  readonly #met = new Set<Sid>();

  note(sid: Sid, word: RightWord): void {
    this.#words.set(sid, word);
    this.#met.add(sid);
  }

  /** Its link is down, or new. */
  forget(sid: Sid): void {
    this.#words.delete(sid);
  }

  of(sid: Sid): RightWord | undefined {
    return this.#words.get(sid);
  }

  /**
   * True when it was heard from in this run: its link of this run is up at its end too, and has ended there whatever
   * was said over an earlier one.
   */
  hasMet(sid: Sid): boolean {
    return this.#met.has(sid);
  }

  /** True when that voter has said that it does not hold the right. */
  isWithout(sid: Sid): boolean {
    const word = this.#words.get(sid);
    return word !== undefined && word.voteRight !== 'held';
  }
}

/**
 * Changes this member's right. It is in force, and `then` runs, when it is on disk (Z10); to lose it needs no waiting.
 * Whatever else is saved meanwhile is saved with it.
 */
export function changeRight(
  context: ZabContext,
  to: 'held' | 'recovering',
  reason: string,
  then: () => void = () => undefined,
): void {
  context.savedRight = to;
  const inForce = (): void => {
    context.voteRight = to;
    context.host.voteRightChanged(to, reason);
  };
  if (to === 'recovering') inForce();
  context.disk.saveEpochs(context.promises, () => {
    if (to === 'held') inForce();
    then();
  });
}

/** The other voters, this member's sid left out. */
export function otherVoters(context: ZabContext): readonly Sid[] {
  return context.config.voters.filter((sid) => sid !== context.config.sid);
}
