/**
 * One server of a comparison: its sessions, and what it answers in words that two servers share. zxids become the step in which
 * they were first seen, session ids the number of the session in the sequence, times whether they are those of the create.
 */
import { ByteReader } from '@quorate/protocol';
import { OP_CODE } from '@quorate/protocol/jute';
import { RawClient, type RawReply, type RawSession } from '../compat/raw-client.ts';

interface Attached {
  readonly client: RawClient;
  readonly session: RawSession;
}

export class Side {
  readonly #port: number;
  readonly #sessions: Attached[] = [];
  readonly #steps = new Map<bigint, number>();
  #step = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** A new session; its number is that of those before it. */
  async open(): Promise<void> {
    this.#sessions.push(await RawClient.session(this.#port, { timeoutMs: 30_000 }));
  }

  /** A stranger asks for a session: what that says. ZooKeeper drops the connection of its client for it, so that has to come again. */
  async claim(index: number): Promise<string> {
    const { session } = this.#sessions[index] as Attached;
    const wish = { timeoutMs: 30_000, id: session.id, password: Buffer.alloc(16) };
    const stranger = await RawClient.session(this.#port, wish);
    return `${stranger.session.timeoutMs} ${stranger.session.id}, then ${await this.resume(index)}`;
  }

  /** A session goes on by another connection: what that says. */
  async resume(index: number): Promise<string> {
    const { client, session } = this.#sessions[index] as Attached;
    const { password } = session;
    const again = await RawClient.session(this.#port, { timeoutMs: 30_000, id: session.id, password });
    const rest = await client.rest();
    this.#sessions[index] = { client: again.client, session };
    return `${again.session.timeoutMs} ${again.session.id === session.id}, the other was told ${rest.length} bytes`;
  }

  /** A session ends, and another begins in its place: what that says. */
  async renew(index: number): Promise<string> {
    const { client } = this.#sessions[index] as Attached;
    client.send(requestOf(1_000_000, OP_CODE.closeSession, new Uint8Array(0)));
    const rest = await client.rest();
    this.#sessions[index] = await RawClient.session(this.#port, { timeoutMs: 30_000 });
    return `${rest.length} bytes, xid ${rest.length >= 8 ? rest.readInt32BE(4) : ''}`;
  }

  /** One request of a session: its reply, and what every session was told until then, in words. */
  async ask(step: number, index: number, xid: number, type: number, body: Uint8Array): Promise<readonly string[]> {
    this.#step = step;
    const said: string[] = [];
    const { client } = this.#sessions[index] as Attached;
    client.send(requestOf(xid, type, body));
    said.push(await this.#until(client, xid, (reply) => this.#reply(type, reply), said, index));
    for (const [other, { client: one }] of this.#sessions.entries()) {
      one.send(requestOf(-2, OP_CODE.ping, new Uint8Array(0)));
      await this.#until(one, -2, () => '', said, other);
    }
    return said;
  }

  async close(): Promise<void> {
    for (const { client } of this.#sessions) {
      client.send(requestOf(1_000_000, OP_CODE.closeSession, new Uint8Array(0)));
      await client.rest();
    }
  }

  async #until(
    client: RawClient,
    xid: number,
    words: (reply: RawReply) => string,
    said: string[],
    who: number,
  ): Promise<string> {
    for (;;) {
      const frame = await client.frame();
      if (frame === undefined) return 'closed';
      const reader = new ByteReader(frame);
      const reply = { xid: reader.i32(), zxid: reader.i64(), error: reader.i32(), body: frame.subarray(16) };
      if (reply.xid === -1 && xid !== -1) {
        const event = new ByteReader(reply.body);
        said.push(`session ${who}: event ${event.i32()} ${event.i32()} ${event.string()}`);
        continue;
      }
      if (reply.xid !== xid) return `reply to ${reply.xid}`;
      return words(reply);
    }
  }

  #reply(type: number, { zxid, error, body }: RawReply): string {
    if (zxid > 0n) this.#note(zxid);
    if (error !== 0) return `error ${error}${body.length > 0 ? ' with a body' : ''}`;
    const reader = new ByteReader(body);
    const text = this.#body(type, reader);
    return reader.remaining > 0 ? `${text} and ${reader.remaining} bytes more` : text;
  }

  #body(type: number, reader: ByteReader): string {
    switch (type) {
      case OP_CODE.create:
      case OP_CODE.sync:
        return reader.string();
      case OP_CODE.create2:
      case OP_CODE.createContainer:
      case OP_CODE.createTtl:
        return `${reader.string()} ${this.#stat(reader)}`;
      case OP_CODE.exists:
      case OP_CODE.setData:
      case OP_CODE.setAcl:
        return this.#stat(reader);
      case OP_CODE.getData:
        return `${data(reader)} ${this.#stat(reader)}`;
      case OP_CODE.getChildren:
      case OP_CODE.getEphemerals:
        return texts(reader);
      case OP_CODE.getChildren2:
        return `${texts(reader)} ${this.#stat(reader)}`;
      case OP_CODE.getAcl:
        return `${acl(reader)} ${this.#stat(reader)}`;
      case OP_CODE.getAllChildrenNumber:
      case OP_CODE.addWatch:
        return String(reader.i32());
      case OP_CODE.multi:
      case OP_CODE.multiRead:
        return this.#parts(type, reader);
      case OP_CODE.whoAmI:
        return Array.from({ length: reader.i32() }, () => `${reader.string()}:${reader.string()}`)
          .sort()
          .join(' ');
      default:
        return 'done';
    }
  }

  #parts(multi: number, reader: ByteReader): string {
    const parts: string[] = [];
    for (;;) {
      const [type, done, error] = [reader.i32(), reader.u8(), reader.i32()];
      if (done === 1) return `[${parts.join(' | ')}] ${type} ${error}`;
      if (type === -1) parts.push(`error ${error} ${reader.i32()}`);
      else
        parts.push(`${type} ${multi === OP_CODE.multi && (type === 2 || type === 13) ? '' : this.#body(type, reader)}`);
    }
  }

  #stat(reader: ByteReader): string {
    const [czxid, mzxid, ctime, mtime] = [reader.u64(), reader.u64(), reader.u64(), reader.u64()];
    const [version, cversion, aversion] = [reader.i32(), reader.i32(), reader.i32()];
    const owner = reader.u64();
    const [length, children] = [reader.i32(), reader.i32()];
    const pzxid = reader.u64();
    const times = ctime === mtime ? 'as created' : ctime < mtime ? 'changed' : 'back';
    const whose = owner === 0n ? 'nobody' : this.#sessions.findIndex(({ session }) => session.id === owner);
    const at = [czxid, mzxid, pzxid].map((zxid) => this.#note(zxid)).join(' ');
    return `{at ${at}, ${czxid === mzxid ? times : ''} v ${version} ${cversion} ${aversion}, of ${whose}, ${length} bytes, ${children} children}`;
  }

  /** The step in which the position was first seen. */
  #note(zxid: bigint): number {
    const step = this.#steps.get(zxid) ?? this.#step;
    this.#steps.set(zxid, step);
    return step;
  }
}

function requestOf(xid: number, type: number, body: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(12 + body.length);
  frame.writeInt32BE(8 + body.length, 0);
  frame.writeInt32BE(xid, 4);
  frame.writeInt32BE(type, 8);
  frame.set(body, 12);
  return frame;
}

function data(reader: ByteReader): string {
  const bytes = reader.bytes();
  return bytes === undefined ? 'null' : `"${Buffer.from(bytes).toString('latin1')}"`;
}

function texts(reader: ByteReader): string {
  return Array.from({ length: reader.i32() }, () => reader.string())
    .sort()
    .join(',');
}

function acl(reader: ByteReader): string {
  return Array.from({ length: reader.i32() }, () => `${reader.i32()} ${reader.string()} ${reader.string()}`).join(', ');
}
