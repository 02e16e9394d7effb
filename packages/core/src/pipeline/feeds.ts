/**
 * The watches at this member that can be resumed: each is a *feed*, a place in the journal and, while its state is being told,
 * one in a walk over the tree. Nothing is queued for a feed: when its reader has taken a piece, the next is made from where
 * it stands, of bounded size. A feed for which nothing is new costs nothing, however much changes elsewhere.
 *
 * Policies when full: past `feedsMax` a new one is refused, THROTTLED; a reader that does not take its piece for
 * `stallMs`, or long enough for what comes next to leave the journal, is told so, THROTTLED, and dropped. While all pieces that are
 * not taken come to `UNTAKEN_BYTES_MAX`, no other is made, and whoever has not taken his for a second is dropped.
 */
import { formatZxid, type Identity, NO_SESSION, type WatchPiece, type WatchSpec, type Zxid } from '@quorate/protocol';
import type { ChangeSink } from '../tree/data-tree.ts';
import type { Journal } from '../tree/journal.ts';
import type { CurrentTree } from './current-tree.ts';
import { Feed } from './feed.ts';
import { FeedIndex } from './feed-index.ts';
import { bytesOf, makePiece, type PieceBudget } from './feed-piece.ts';
import { type Refusal, refusal } from './refusal.ts';
import { opFault } from './validate.ts';

export interface FeedsOptions {
  readonly feedsMax: number;
  /** A feed that has nothing to tell says so this often. */
  readonly progressMs: number;
  /** Longest time for a reader to take a piece. */
  readonly stallMs: number;
}

export interface FeedsHost {
  readonly nowMs: () => number;
  /** Why reads are not answered now, or undefined when they are. */
  readonly readFault: () => Refusal | undefined;
  piece(feed: number, piece: WatchPiece): void;
  ended(feed: number, reason: Refusal): void;
  /** Another turn is to come at once: there is more to make than one may. */
  wantTurn(): void;
}

/** Units of work of one turn: an entry of the journal that is looked at costs 1, a znode of a walk 4, a piece 40. Some ms. */
const TURN_WORK = 8_000;

/** Units of work of a piece, whatever is in it: it is encoded and written. */
const PIECE_WORK = 40;

/** Watches that are told in one tick that nothing has happened; the others in the next. */
const PROGRESS_PER_TICK = 200;

/** Bytes of pieces that were made and not taken, of all watches. */
export const UNTAKEN_BYTES_MAX = 64 * 1024 * 1024;

/** How long a reader may take for a piece when there is no room for others, ms. */
const CROWDED_STALL_MS = 1_000;

/** Bytes of the pieces of one turn. */
const TURN_BYTES = 4 * 1024 * 1024;

export class Feeds {
  readonly #options: FeedsOptions;
  readonly #state: CurrentTree;
  readonly #journal: Journal;
  readonly #host: FeedsHost;
  /** By number; in the order in which they were last told something. */
  readonly #feeds = new Map<number, Feed>();
  readonly #index = new FeedIndex();
  /**
   * Those whose reader waits and for which there is, or may be, something; from `#dueHead` on. Not a set: what was taken from the
   * front of one is stepped over at every look.
   */
  #due: Feed[] = [];
  #dueHead = 0;
  /** Those whose reader has not taken the last piece; in the order in which they were sent. */
  readonly #untaken = new Set<Feed>();
  #untakenBytes = 0;

  constructor(options: FeedsOptions, state: CurrentTree, journal: Journal, host: FeedsHost) {
    this.#options = options;
    this.#state = state;
    this.#journal = journal;
    this.#host = host;
  }

  get count(): number {
    return this.#feeds.size;
  }

  /** A reader wants to watch. Its first piece comes at the end of this turn. `number` was never used before. */
  open(number: number, spec: WatchSpec, identities: readonly Identity[] = []): void {
    const fault = this.#openFault(spec);
    if (fault !== undefined) return this.#host.ended(number, fault);
    const feed = new Feed(number, spec, identities, this.#host.nowMs());
    const { tree } = this.#state;
    if (spec.from !== undefined) this.#resume(feed, spec.from);
    else if (spec.initial) feed.beginWalk(this.#journal.end);
    else feed.beginAt(this.#journal.end, tree.lastZxid);
    this.#feeds.set(number, feed);
    this.#index.add(feed);
    this.#makeDue(feed);
  }

  /** The reader has taken the last piece. */
  taken(number: number): void {
    const feed = this.#feeds.get(number);
    if (feed === undefined || !this.#release(feed)) return;
    if (!feed.isIdle) this.#makeDue(feed);
  }

  /** The reader has gone. */
  closed(number: number): void {
    const feed = this.#feeds.get(number);
    if (feed !== undefined) this.#forget(feed);
  }

  /** A change of the tree, just applied: see `ChangeSink`. */
  changed(...[kind, path, zxid, znode, acl, aclBefore]: Parameters<ChangeSink>): void {
    this.#journal.add(kind, path, zxid, znode, acl, aclBefore);
    if (this.#feeds.size === 0) return;
    const number = this.#journal.end - 1;
    this.#index.watching(path, (feed) => {
      if (!feed.isIdle) return;
      feed.position = number;
      if (!this.#untaken.has(feed)) this.#makeDue(feed);
    });
  }

  /** A snapshot replaced the tree: the feeds are told of a gap, and the state anew. */
  treeReplaced(): void {
    const { lastZxid } = this.#state.tree;
    this.#journal.reset(lastZxid);
    for (const feed of this.#feeds.values()) {
      feed.beginWalk(this.#journal.end, lastZxid);
      if (!this.#untaken.has(feed)) this.#makeDue(feed);
    }
  }

  /** End of a turn: makes pieces, as many as a turn may. */
  turnEnded(): void {
    if (this.#dueHead === this.#due.length) return;
    const budget: PieceBudget = { work: TURN_WORK, bytes: TURN_BYTES };
    while (this.#dueHead < this.#due.length && budget.work > 0 && budget.bytes > 0 && !this.#isCrowded) {
      const feed = this.#due[this.#dueHead++] as Feed;
      // It may have been closed meanwhile.
      if (!feed.isDue) continue;
      feed.isDue = false;
      if (feed.position < this.#journal.first) {
        this.#drop(feed, 'what it has to be told next is no longer kept');
        continue;
      }
      const piece = makePiece(feed, this.#state.tree, this.#journal, budget);
      budget.work -= PIECE_WORK;
      if (piece !== undefined) this.#send(feed, piece);
      else if (!feed.isIdle) this.#makeDue(feed);
    }
    // When there is no room, the next piece that is taken brings a turn.
    // Half of it at a time, so that a long line is not copied in every turn.
    if (this.#dueHead * 2 >= this.#due.length) {
      this.#due = this.#due.slice(this.#dueHead);
      this.#dueHead = 0;
    }
    if (this.#dueHead < this.#due.length && !this.#isCrowded) this.#host.wantTurn();
  }

  /** Time has passed. */
  tick(): void {
    if (this.#feeds.size === 0) return;
    const fault = this.#host.readFault();
    if (fault !== undefined) return this.endAll(fault);
    const nowMs = this.#host.nowMs();
    const stallMs = this.#isCrowded ? CROWDED_STALL_MS : this.#options.stallMs;
    for (const feed of this.#untaken) {
      if (nowMs - feed.sentMs > stallMs) this.#drop(feed, 'it has not been read from for too long');
      else if (!feed.isIdle && feed.position < this.#journal.first) {
        this.#drop(feed, 'it is not read from, and what it has to be told next is no longer kept');
      }
    }
    let left = PROGRESS_PER_TICK;
    for (const feed of this.#feeds.values()) {
      if (nowMs - feed.sentMs < this.#options.progressMs || left === 0) break;
      if (!feed.isIdle || this.#untaken.has(feed)) continue;
      left--;
      this.#send(feed, { zxid: this.#state.tree.lastZxid, events: [] });
    }
  }

  /** Ends every feed with the same word. */
  endAll(reason: Refusal): void {
    for (const feed of this.#feeds.values()) this.#end(feed, reason);
  }

  #openFault(spec: WatchSpec): Refusal | undefined {
    const { path, from } = spec;
    const { lastZxid } = this.#state.tree;
    const fault = opFault({ kind: 'exists', path }, NO_SESSION) ?? this.#host.readFault();
    if (fault !== undefined) return fault;
    if (this.#feeds.size >= this.#options.feedsMax) {
      return refusal('THROTTLED', `Cannot watch ${path}: this member has ${this.#feeds.size} watches already`, path);
    }
    if (from === undefined || from <= lastZxid) return undefined;
    const what = `Cannot watch ${path} from ${formatZxid(from)}: this member is at ${formatZxid(lastZxid)}`;
    return refusal('SERVER_BEHIND', what, path);
  }

  #resume(feed: Feed, from: Zxid): void {
    const position = this.#journal.after(from);
    if (position === undefined) feed.beginWalk(this.#journal.end, this.#journal.floor);
    else feed.beginAt(position, from);
  }

  #makeDue(feed: Feed): void {
    if (feed.isDue) return;
    feed.isDue = true;
    this.#due.push(feed);
  }

  #send(feed: Feed, piece: WatchPiece): void {
    feed.sentMs = this.#host.nowMs();
    this.#feeds.delete(feed.number);
    this.#feeds.set(feed.number, feed);
    this.#untaken.add(feed);
    feed.untakenBytes = bytesOf(piece);
    this.#untakenBytes += feed.untakenBytes;
    this.#host.piece(feed.number, piece);
  }

  #drop(feed: Feed, why: string): void {
    const { path } = feed.spec;
    this.#end(feed, refusal('THROTTLED', `The watch of ${path} is too slow: ${why}`, path));
  }

  #end(feed: Feed, reason: Refusal): void {
    this.#forget(feed);
    this.#host.ended(feed.number, reason);
  }

  #forget(feed: Feed): void {
    this.#feeds.delete(feed.number);
    this.#index.delete(feed);
    feed.isDue = false;
    this.#release(feed);
  }

  /** Its last piece is no longer on its way. False when none was. */
  #release(feed: Feed): boolean {
    if (!this.#untaken.delete(feed)) return false;
    this.#untakenBytes -= feed.untakenBytes;
    return true;
  }

  get #isCrowded(): boolean {
    return this.#untakenBytes >= UNTAKEN_BYTES_MAX;
  }
}
