/** One feed: where it stands in the journal and in its walk. Its moves are in feed-piece.ts, its life in feeds.ts. */
import { type Identity, type WatchEvent, type WatchSpec, ZERO_ZXID, type Zxid } from '@quorate/protocol';

/** Stands for the position of a feed that has been told everything. */
const AT_END = Number.POSITIVE_INFINITY;

/** One for all: a feed has nothing to begin with for nearly all of its life. */
export const NOTHING: readonly WatchEvent[] = [];

export class Feed {
  readonly number: number;
  readonly spec: WatchSpec;
  /** What its reader's connection has shown for itself. */
  readonly identities: readonly Identity[];
  /** Number of the next entry of the journal that it looks at. */
  position = AT_END;
  /** True while the state is being told. */
  isWalking = false;
  /** The last znode of the state that was told; undefined before the first. */
  cursor: string | undefined;
  /** Every change up to here was told, or does not concern it. */
  told: Zxid = ZERO_ZXID;
  /** The txn whose changes it was reading last. */
  reading: Zxid = ZERO_ZXID;
  /** What its next piece begins with. */
  opening: readonly WatchEvent[] = NOTHING;
  /** When it was last told something, or opened; monotonic ms. */
  sentMs: number;
  /** It waits in line for its next piece. */
  isDue = false;
  /** Bytes of its last piece, about, while that is not taken. */
  untakenBytes = 0;

  constructor(number: number, spec: WatchSpec, identities: readonly Identity[], nowMs: number) {
    this.number = number;
    this.spec = spec;
    this.identities = identities;
    this.sentMs = nowMs;
  }

  /** It has been told everything that concerns it. */
  get isIdle(): boolean {
    return this.position === AT_END;
  }

  becomeIdle(): void {
    this.position = AT_END;
  }

  /** Goes on after `zxid`, with the entry of that number. */
  beginAt(position: number, zxid: Zxid): void {
    this.position = position;
    this.told = zxid;
    this.reading = zxid;
    this.opening = [notice('ready', zxid)];
  }

  /** Tells the state, anew if it did before; `gapAt`: changes up to there are not known. */
  beginWalk(position: number, gapAt?: Zxid): void {
    this.position = position;
    this.isWalking = true;
    this.cursor = undefined;
    this.opening = gapAt === undefined ? NOTHING : [notice('gap', gapAt)];
  }
}

/** An event that is about no znode. */
export function notice(kind: 'ready' | 'gap', zxid: Zxid): WatchEvent {
  return { kind, zxid, path: '', stat: undefined, data: undefined };
}
