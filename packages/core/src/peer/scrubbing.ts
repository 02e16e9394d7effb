/** When the tree is looked through for altered memory (`tree/scrub.ts`): a step each tick while a pass is under way. */
import type { CurrentTree } from '../pipeline/current-tree.ts';

/** From the begin of one pass to that of the next, at least, ms. */
export const SCRUB_INTERVAL_MS = 5_000;

export class Scrubbing {
  readonly #state: CurrentTree;
  /** Names what was found: a path or a session. */
  readonly #damaged: (what: string) => void;
  #isUnderWay = false;
  #begunMs = 0;

  constructor(state: CurrentTree, damaged: (what: string) => void) {
    this.#state = state;
    this.#damaged = damaged;
  }

  tick(nowMs: number): void {
    if (!this.#isUnderWay) {
      if (nowMs - this.#begunMs < SCRUB_INTERVAL_MS) return;
      this.#isUnderWay = true;
      this.#begunMs = nowMs;
    }
    const { damaged, done } = this.#state.tree.scrubStep();
    if (damaged !== undefined) this.#damaged(damaged);
    this.#isUnderWay = !done;
  }
}
