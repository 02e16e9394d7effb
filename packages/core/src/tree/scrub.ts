/**
 * Looks through the tree in the background for memory that was altered by anything but a txn: a flipped bit, a stray
 * write. The digest cannot show that, for it only follows changes; so each znode and session is hashed again and held against
 * the hash that it had when it was last changed. A step is bounded, and a pass goes on over changes of the tree: what is
 * changed meanwhile is hashed anew by the change. As it comes by every znode, it also has their numbers moved together where few are left.
 * It knows no time: the caller says when a step is due.
 */
import { formatSessionId } from '@quorate/protocol';
import type { StoredSession } from './sessions.ts';
import type { TreeState } from './tree-state.ts';
import type { StoredZnode } from './znode.ts';

/** Most znodes and sessions of one step, and most bytes of data, give or take one znode. About a millisecond. */
export const SCRUB_STEP_ITEMS = 512;
const STEP_BYTES = 128 * 1024;

export interface ScrubStep {
  /** What is not as it was made, for people: a path or a session; undefined when all that was looked at is. */
  readonly damaged: string | undefined;
  /** The pass is over: the next step begins another one. */
  readonly done: boolean;
}

interface Pass {
  readonly znodes: IterableIterator<StoredZnode>;
  readonly sessions: IterableIterator<StoredSession>;
}

export class Scrub {
  readonly #state: TreeState;
  #pass: Pass | undefined = undefined;

  constructor(state: TreeState) {
    this.#state = state;
  }

  step(): ScrubStep {
    const state = this.#state;
    this.#pass ??= { znodes: state.znodes(), sessions: state.sessions.stored() };
    const { znodes, sessions } = this.#pass;
    let bytes = 0;
    let items = 0;
    for (; items < SCRUB_STEP_ITEMS && bytes < STEP_BYTES; items++) {
      const next = znodes.next();
      if (next.done === true) break;
      if (!state.isIntact(next.value)) return damaged(`znode ${next.value.path}`);
      bytes += next.value.dataLength;
      state.rows.thin(next.value);
    }
    for (; items < SCRUB_STEP_ITEMS && bytes < STEP_BYTES; items++) {
      const next = sessions.next();
      if (next.done === true) {
        this.#pass = undefined;
        return { damaged: undefined, done: true };
      }
      if (!state.isSessionIntact(next.value)) return damaged(`session ${formatSessionId(next.value.id)}`);
      bytes += next.value.results.bytes;
    }
    return { damaged: undefined, done: false };
  }
}

function damaged(what: string): ScrubStep {
  return { damaged: what, done: false };
}
