/**
 * WatchService: one stream of responses for each watch. A response is written when the one before it has left for the client:
 * nothing is queued here for a client that does not read, which is the core's to notice and to drop.
 */
import { Metadata, type ServerWritableStream, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ByteWriter, type WatchPiece, type WatchSpec } from '@quorate/protocol';
import { ERROR_DETAIL_KEY, writeWatchPiece } from '@quorate/protocol/frames';
import { asBuffer, toUnaryFailure } from '@quorate/protocol/grpc';
import type { FeedEnd, FeedReader } from '../../feed-readers.ts';
import type { CoreAccess } from '../core-access.ts';
import { identitiesShown } from './unary.ts';

type Stream = ServerWritableStream<WatchSpec, Uint8Array>;

/** The handlers, by method name. */
export function watchHandlers(core: CoreAccess): UntypedServiceImplementation {
  return {
    Watch: (stream: Stream) => {
      new WatchStream(core, stream).start();
    },
  };
}

class WatchStream implements FeedReader {
  readonly #core: CoreAccess;
  readonly #stream: Stream;
  #feed = 0;

  constructor(core: CoreAccess, stream: Stream) {
    this.#core = core;
    this.#stream = stream;
  }

  start(): void {
    const stream = this.#stream;
    // Without this listener a broken stream would end the process.
    stream.on('error', () => this.#gone());
    stream.once('cancelled', () => this.#gone());
    stream.once('close', () => this.#gone());
    const message = this.#core.refusal();
    if (message !== undefined) return this.ended({ code: 'UNAVAILABLE', path: undefined, message });
    const identities = identitiesShown(this.#core, stream);
    if ('code' in identities) return this.ended(identities);
    this.#feed = this.#core.feeds.add(this);
    this.#core.post({ kind: 'feedOpened', feed: this.#feed, spec: stream.request, identities });
  }

  piece(piece: WatchPiece): void {
    const writer = new ByteWriter(1024);
    writeWatchPiece(writer, piece, this.#stream.request.withValues);
    const feed = this.#feed;
    this.#stream.write(writer.finish(), () => this.#core.post({ kind: 'feedTaken', feed }));
  }

  ended(end: FeedEnd): void {
    const { status, details, detail } = toUnaryFailure(end, this.#core.appliedZxid());
    const metadata = new Metadata();
    metadata.set(ERROR_DETAIL_KEY, asBuffer(detail));
    this.#stream.emit('error', { code: status, details, metadata });
  }

  #gone(): void {
    const feed = this.#feed;
    if (this.#core.feeds.forget(feed)) this.#core.post({ kind: 'feedClosed', feed });
  }
}
