/**
 * The watches of one session stream. Each has at most one piece waiting for room on the stream, and gets another one when the
 * client says that it has taken it: a client that is slow with one watch is not held up in its calls, nor in the others.
 */
import { ByteWriter, type Identity, type WatchCommand, type WatchPiece, type WatchSpec } from '@quorate/protocol';
import { writeWatchEnded, writeWatchNews } from '@quorate/protocol/frames';
import type { FeedEnd, FeedReader } from '../../feed-readers.ts';
import type { CoreAccess } from '../core-access.ts';

/** Watches of a stream at a time; past it a new one is ended at once, THROTTLED. */
const WATCHES_MAX = 1_024;

/** A frame takes no other piece when it is this long, bytes: a piece is about as long at most, save for a single large value. */
const FRAME_BYTES = 64 * 1024;

interface StreamWatch {
  readonly watch: number;
  readonly spec: WatchSpec;
  feed: number;
  /** What waits for room: a piece, or the last word. */
  piece: WatchPiece | undefined;
  end: FeedEnd | undefined;
}

export class StreamWatches {
  readonly #core: Pick<CoreAccess, 'feeds' | 'post'>;
  readonly #onNews: () => void;
  readonly #identities: () => readonly Identity[];
  readonly #watches = new Map<number, StreamWatch>();
  /** Those for which something waits, each once. */
  readonly #waiting = new Set<StreamWatch>();

  /** `onNews` is called when something waits; `identities` are the stream's. */
  constructor(core: Pick<CoreAccess, 'feeds' | 'post'>, onNews: () => void, identities: () => readonly Identity[]) {
    this.#core = core;
    this.#onNews = onNews;
    this.#identities = identities;
  }

  /** Takes a word of the client. Returns why it breaks the rules of the stream, or undefined. */
  take(command: WatchCommand): string | undefined {
    if (command.kind === 'begin') return this.#begin(command.watch, command.spec);
    const watch = this.#watches.get(command.watch);
    // It may have been ended while the word was on its way.
    if (watch === undefined) return undefined;
    if (command.kind === 'taken') this.#core.post({ kind: 'feedTaken', feed: watch.feed });
    else this.#close(watch);
    return undefined;
  }

  /** The next pieces and last words, as a frame; undefined when none waits. */
  nextFrame(): Uint8Array | undefined {
    if (this.#waiting.size === 0) return undefined;
    const writer = new ByteWriter(512);
    for (const watch of this.#waiting) {
      if (writer.length >= FRAME_BYTES) break;
      this.#waiting.delete(watch);
      this.#write(writer, watch);
    }
    return writer.finish();
  }

  /** The stream is gone. */
  closeAll(): void {
    for (const watch of this.#watches.values()) this.#close(watch);
  }

  #write(writer: ByteWriter, watch: StreamWatch): void {
    const { piece, end } = watch;
    if (piece !== undefined) writeWatchNews(writer, watch.watch, piece, watch.spec.withValues);
    watch.piece = undefined;
    if (end === undefined) return;
    writeWatchEnded(writer, watch.watch, end);
    this.#watches.delete(watch.watch);
  }

  #begin(number: number, spec: WatchSpec): string | undefined {
    if (this.#watches.has(number)) return `watch ${number} was begun twice`;
    const watch: StreamWatch = { watch: number, spec, feed: 0, piece: undefined, end: undefined };
    const isFull = this.#watches.size >= WATCHES_MAX;
    this.#watches.set(number, watch);
    const reader = this.#readerOf(watch);
    if (isFull) {
      const message = `Cannot watch ${spec.path}: this stream has ${WATCHES_MAX} watches already`;
      reader.ended({ code: 'THROTTLED', path: spec.path, message });
      return undefined;
    }
    watch.feed = this.#core.feeds.add(reader);
    this.#core.post({ kind: 'feedOpened', feed: watch.feed, spec, identities: this.#identities() });
    return undefined;
  }

  #readerOf(watch: StreamWatch): FeedReader {
    return {
      piece: (piece) => {
        watch.piece = piece;
        this.#wait(watch);
      },
      ended: (end) => {
        watch.end = end;
        this.#wait(watch);
      },
    };
  }

  #wait(watch: StreamWatch): void {
    this.#waiting.add(watch);
    this.#onNews();
  }

  #close(watch: StreamWatch): void {
    this.#watches.delete(watch.watch);
    this.#waiting.delete(watch);
    if (this.#core.feeds.forget(watch.feed)) this.#core.post({ kind: 'feedClosed', feed: watch.feed });
  }
}
