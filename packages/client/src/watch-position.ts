/**
 * Where a watch stands, and so what it asks for when it is begun again and what of the answer is new. Knows no connections and no
 * readers. A member tells the changes of one txn in several pieces when they are many; who begins again in the middle of it
 * is told its first changes again, and they are left out here by their number.
 */
import { type WatchEvent, type WatchPiece, type WatchSpec, ZERO_ZXID, type Zxid } from '@quorate/protocol';

export class WatchPosition {
  readonly #spec: WatchSpec;
  /** Every change up to here was told; undefined while the state is told, or nothing was. */
  #told: Zxid | undefined;
  /** The same when it was last known. */
  #lastTold: Zxid;
  /** A part of the state was told: it can only be told anew, from its beginning. */
  #hasPart = false;
  /** Before what comes next it is to be said that the state is told anew. */
  #owesGap = false;
  #wasReady = false;
  /** The next `ready` only says that the watch goes on. */
  #isReadyKnown = false;
  /** Position of the last change that was told, and how many of its txn were. */
  #lastChange: Zxid = ZERO_ZXID;
  #countOfLast = 0;
  /** So many of those come again. */
  #again = 0;

  constructor(spec: WatchSpec) {
    this.#spec = spec;
    this.#told = spec.from;
    this.#lastTold = spec.from ?? ZERO_ZXID;
  }

  /** Every change up to here was told; 0 while the state is told. */
  get told(): Zxid {
    return this.#told ?? ZERO_ZXID;
  }

  /** What to ask for now, at first or again. */
  begin(): WatchSpec {
    const from = this.#told;
    this.#isReadyKnown = this.#wasReady && from !== undefined;
    this.#again = from !== undefined && this.#lastChange > from ? this.#countOfLast : 0;
    this.#owesGap ||= this.#hasPart;
    this.#hasPart = false;
    return { ...this.#spec, from };
  }

  /** The events of the piece that are new. A `gap` has the position after which it begins. */
  take({ zxid, events }: WatchPiece): readonly WatchEvent[] {
    const news: WatchEvent[] = [];
    if (this.#owesGap && events.length > 0) {
      this.#owesGap = false;
      if (events[0]?.kind !== 'gap') news.push(this.#gap());
    }
    for (const event of events) {
      if (event.kind === 'gap') news.push(this.#gap());
      else if (this.#isNew(event)) news.push(event);
    }
    if (zxid !== ZERO_ZXID) {
      this.#told = zxid;
      this.#lastTold = zxid;
      this.#hasPart = false;
    }
    return news;
  }

  #gap(): WatchEvent {
    this.#told = undefined;
    this.#hasPart = true;
    this.#again = 0;
    this.#isReadyKnown = false;
    return { kind: 'gap', zxid: this.#lastTold, path: '', stat: undefined, data: undefined };
  }

  #isNew({ kind, zxid }: WatchEvent): boolean {
    if (kind === 'ready') {
      const isKnown = this.#isReadyKnown;
      this.#isReadyKnown = false;
      this.#wasReady = true;
      return !isKnown;
    }
    this.#hasPart ||= this.#told === undefined;
    if (kind === 'current') return true;
    if (this.#again > 0 && zxid === this.#lastChange) {
      this.#again--;
      return false;
    }
    this.#countOfLast = zxid === this.#lastChange ? this.#countOfLast + 1 : 1;
    this.#lastChange = zxid;
    return true;
  }
}
