/**
 * The words of four letters that a ZooKeeper port answers in place of a session, for monitors and scripts. Only those that are
 * allowed are answered; any other that is known says so. Source: ZooKeeper `FourLetterCommands`, reference §11.1.
 */

export class FourLetterWords {
  readonly #allowed: ReadonlySet<string>;
  readonly #answers: ReadonlyMap<string, () => string>;

  /** `allowed`: words, or `*` for all. */
  constructor(allowed: readonly string[], answers: Readonly<Record<string, () => string>>) {
    this.#answers = new Map(Object.entries(answers));
    this.#allowed = new Set(allowed.includes('*') ? this.#answers.keys() : allowed);
  }

  /** The answer to the word, or undefined when it is none: then what comes is a frame. */
  answer(word: string): string | undefined {
    const answer = this.#answers.get(word);
    if (answer === undefined) return undefined;
    return this.#allowed.has(word) ? answer() : `${word} is not executed because it is not in the whitelist.\n`;
  }
}
