/**
 * A ZooKeeper connection that does exactly what it is told, for tests of the wire: it sends bytes, whole or in pieces, and hands out
 * the frames that come. Nothing in it is shared with the member's own reader and writer but the words for bytes.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { ByteReader, ByteWriter } from '@quorate/protocol';

/** A frame that came, taken apart as far as its header. */
export interface RawReply {
  readonly xid: number;
  readonly zxid: bigint;
  readonly error: number;
  readonly body: Buffer;
}

export interface RawSession {
  readonly timeoutMs: number;
  readonly id: bigint;
  readonly password: Buffer;
  /** Undefined when the reply has no such byte. */
  readonly readOnly: boolean | undefined;
}

export interface ConnectWish {
  readonly lastZxidSeen?: bigint;
  readonly timeoutMs?: number;
  readonly id?: bigint;
  readonly password?: Uint8Array | undefined;
  /** Undefined leaves the byte out. */
  readonly readOnly?: boolean | undefined;
}

/** Longest wait for a frame, ms. */
const PATIENCE_MS = 20_000;

const PASSWORD = new Uint8Array(16);

export class RawClient implements Disposable {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#isOver = true;
      this.#wake();
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  /** Opens and asks for a session. */
  static async session(port: number, wish: ConnectWish = {}): Promise<{ client: RawClient; session: RawSession }> {
    const client = await RawClient.open(port);
    client.send(connectFrame(wish));
    const frame = await client.frame();
    if (frame === undefined) throw new Error('The connection was closed instead of a reply to its first frame');
    return { client, session: sessionOf(frame) };
  }

  /** Bytes as they are. */
  send(bytes: Uint8Array): void {
    this.socket.write(bytes);
  }

  /** A request and the next frame. */
  async ask(xid: number, type: number, body: Uint8Array = new Uint8Array(0)): Promise<RawReply> {
    this.send(requestFrame(xid, type, body));
    return this.reply();
  }

  /** The next frame that has a header. Rejects when the connection ends before it. */
  async reply(): Promise<RawReply> {
    const frame = await this.frame();
    if (frame === undefined) throw new Error('The connection was closed instead of a reply');
    return replyOf(frame);
  }

  /** The next frame without its length; undefined when the connection ended before one was whole. */
  async frame(): Promise<Buffer | undefined> {
    await this.#until(() => this.#hasFrame() || this.#isOver);
    if (!this.#hasFrame()) return undefined;
    const length = this.#received.readInt32BE(0);
    const frame = this.#received.subarray(4, 4 + length);
    this.#received = this.#received.subarray(4 + length);
    return frame;
  }

  /** All that comes until the other side closes the connection. */
  async rest(): Promise<Buffer> {
    await this.#until(() => this.#isOver);
    return this.#received;
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  #hasFrame(): boolean {
    return this.#received.length >= 4 && this.#received.length >= 4 + this.#received.readInt32BE(0);
  }

  async #until(condition: () => boolean): Promise<void> {
    const end = performance.now() + PATIENCE_MS;
    while (!condition()) {
      const left = end - performance.now();
      if (left <= 0) throw new Error(`Nothing came for ${PATIENCE_MS} ms`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#waiting.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

export function connectFrame(wish: ConnectWish = {}): Uint8Array {
  const { lastZxidSeen = 0n, timeoutMs = 10_000, id = 0n, readOnly = false } = wish;
  const password = 'password' in wish ? wish.password : PASSWORD;
  const writer = new ByteWriter().u32(0).i32(0).u64(lastZxidSeen).i32(timeoutMs).u64(id).bytes(password);
  if (!('readOnly' in wish && wish.readOnly === undefined)) writer.u8(readOnly ? 1 : 0);
  return framed(writer);
}

export function requestFrame(xid: number, type: number, body: Uint8Array = new Uint8Array(0)): Uint8Array {
  return framed(new ByteWriter().u32(0).i32(xid).i32(type).raw(body));
}

export function sessionOf(frame: Buffer): RawSession {
  const reader = new ByteReader(frame);
  reader.i32();
  const timeoutMs = reader.i32();
  const id = reader.u64();
  const password = Buffer.from(reader.bytes() ?? []);
  const readOnly = reader.remaining > 0 ? reader.u8() !== 0 : undefined;
  return { timeoutMs, id, password, readOnly };
}

export function replyOf(frame: Buffer): RawReply {
  const reader = new ByteReader(frame);
  return { xid: reader.i32(), zxid: reader.i64(), error: reader.i32(), body: frame.subarray(16) };
}

function framed(writer: ByteWriter): Uint8Array {
  return writer.u32At(0, writer.length - 4).finish();
}
