/** The public shape of a watch: what is asked for, and what is told. How it goes on over reconnections is in watch-position.ts. */
import type { Stat, Znode } from './znode.ts';

export interface WatchOptions {
  /** Ends the watch: its iteration rejects with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** The znode and everything below it; default: it alone, without its children. */
  readonly recursive?: boolean | undefined;
  /** Events carry the data of the znode. */
  readonly data?: boolean | undefined;
  /** Default true: the state first, then changes. */
  readonly initial?: boolean | undefined;
  /** Go on after this position, which an earlier watch had: no state, unless there is a gap. */
  readonly from?: bigint | undefined;
}

/**
 * What a watch tells, in order. `current`: part of the state. `ready`: the state is complete at `zxid`; changes follow.
 * `gap`: what happened after `afterZxid` is not known in full; forget what you know: the state follows, then `ready`.
 * `stat` and `node` are those right after the change, whatever happened since; `node` only when data was asked for.
 */
export type WatchEvent =
  | { readonly type: 'current'; readonly path: string; readonly stat: Stat; readonly node?: Znode }
  | { readonly type: 'ready'; readonly zxid: bigint }
  | {
      readonly type: 'created' | 'changed' | 'aclChanged';
      readonly path: string;
      readonly zxid: bigint;
      readonly stat: Stat;
      readonly node?: Znode;
    }
  | { readonly type: 'deleted'; readonly path: string; readonly zxid: bigint }
  | { readonly type: 'gap'; readonly afterZxid: bigint };

/**
 * The changes of a znode or a subtree, each once and in order, over reconnections and changes of member. Iterate it once; leaving
 * the loop, or disposing, ends it. What is not taken is not fetched: who takes too little for too long gets a `gap`.
 */
export interface Watch extends AsyncIterable<WatchEvent>, AsyncDisposable {
  /** Resolves at the first `ready`; rejects when the watch ends before that. */
  readonly ready: Promise<void>;
  /** Every change up to here was told by the events that were taken: where another watch can go on `from`. 0n until ready. */
  readonly position: bigint;
}
