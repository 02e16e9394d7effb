/** For tests: one stream of WatchService, as any gRPC client would read it. */
import type { Client, ClientReadableStream, ServiceError } from '@grpc/grpc-js';
import { ByteWriter, type WatchEvent, type WatchPiece, type WatchSpec, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import { decodeWatchPiece, WATCH_PATH, writeWatchSpec } from '@quorate/protocol/frames';
import { asBuffer } from '@quorate/protocol/grpc';

const same = (bytes: Buffer): Buffer => bytes;

export class WatchStream {
  readonly call: ClientReadableStream<Buffer>;
  readonly pieces: WatchPiece[] = [];
  /** The failure that it ended with. */
  error: ServiceError | undefined;

  constructor(client: Client, spec: Partial<WatchSpec> = {}) {
    const writer = new ByteWriter();
    const full = { path: '/', recursive: true, withValues: true, from: undefined, initial: true, ...spec };
    writeWatchSpec(writer, full);
    this.call = client.makeServerStreamRequest(WATCH_PATH, same, same, asBuffer(writer.finish()));
    this.call.on('data', (bytes: Buffer) => this.pieces.push(decodeWatchPiece(Uint8Array.from(bytes))));
    this.call.on('error', (error: ServiceError) => {
      this.error = error;
    });
  }

  get events(): readonly WatchEvent[] {
    return this.pieces.flatMap(({ events }) => events);
  }

  /** The kinds and paths of the events, in short. */
  get words(): readonly string[] {
    return this.events.map(({ kind, path }) => (path === '' ? kind : `${kind} ${path}`));
  }

  /** Where it can be gone on from. */
  get told(): Zxid {
    return this.pieces.at(-1)?.zxid ?? ZERO_ZXID;
  }
}
