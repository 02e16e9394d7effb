/**
 * Frames out of the chunks that a socket brings: a length of four bytes, then as many. A frame that lies in one chunk is a view of
 * it; one that lies in several is put together once it is whole. What is held is what has come, never what a length announces.
 */

/** The connection cannot go on: what comes is not a frame. */
export class FrameError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FrameError';
  }
}

const LENGTH_BYTES = 4;

export class FrameReader {
  readonly #bytesMax: number;
  /** What has come and was not read; all of it from `#at` on. */
  #chunks: Buffer[] = [];
  #at = 0;
  #bytes = 0;

  /** `bytesMax`: longest frame, bytes. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes that have come and were not read. */
  get bytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The first four bytes, as they are; undefined while they have not come. They are not read. */
  peek(): Buffer | undefined {
    if (this.#bytes < LENGTH_BYTES) return undefined;
    const first = this.#joined(LENGTH_BYTES);
    return first.subarray(this.#at, this.#at + LENGTH_BYTES);
  }

  /** The next frame without its length, or undefined while it is not whole. Valid until the next call. Throws FrameError. */
  next(): Buffer | undefined {
    const length = this.peek()?.readInt32BE();
    if (length === undefined) return undefined;
    if (length < 0 || length > this.#bytesMax) {
      throw new FrameError(`a frame of ${length} bytes; at most ${this.#bytesMax} are read`);
    }
    const whole = LENGTH_BYTES + length;
    if (this.#bytes < whole) return undefined;
    const first = this.#joined(whole);
    const frame = first.subarray(this.#at + LENGTH_BYTES, this.#at + whole);
    this.#skip(whole);
    return frame;
  }

  /** The first chunk, which then has at least that many unread bytes: they have come. */
  #joined(bytes: number): Buffer {
    const first = this.#chunks[0] as Buffer;
    if (first.length - this.#at >= bytes) return first;
    const joined = Buffer.concat(this.#chunks).subarray(this.#at);
    this.#chunks = [joined];
    this.#at = 0;
    return joined;
  }

  #skip(bytes: number): void {
    this.#at += bytes;
    this.#bytes -= bytes;
    if (this.#at === this.#chunks[0]?.length) {
      this.#chunks.shift();
      this.#at = 0;
    }
  }
}
