/**
 * The words of four letters that a ZooKeeper port answers in place of a session, for monitors and scripts. Only those that are
 * allowed are answered; any other that is known says so. Source: ZooKeeper `FourLetterCommands`, reference §11.1.
 */

/** Words that are answered also while nothing is served. */
const ALWAYS: ReadonlySet<string> = new Set(['ruok', 'isro', 'envi']);

export const NOT_SERVING = 'This ZooKeeper instance is not currently serving requests\n';

export class FourLetterWords {
  readonly #allowed: ReadonlySet<string>;
  readonly #answers: ReadonlyMap<string, () => string>;
  readonly #isServing: () => boolean;

  /** `allowed`: words, or `*` for all. */
  constructor(allowed: readonly string[], answers: Readonly<Record<string, () => string>>, isServing: () => boolean) {
    this.#answers = new Map(Object.entries(answers));
    this.#allowed = new Set(allowed.includes('*') ? this.#answers.keys() : allowed);
    this.#isServing = isServing;
  }

  /** The answer to the word, or undefined when it is none: then what comes is a frame. */
  answer(word: string): string | undefined {
    const answer = this.#answers.get(word);
    if (answer === undefined) return undefined;
    if (!this.#allowed.has(word)) return `${word} is not executed because it is not in the whitelist.\n`;
    return ALWAYS.has(word) || this.#isServing() ? answer() : NOT_SERVING;
  }
}
