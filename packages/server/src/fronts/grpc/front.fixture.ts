/** For tests of the front: a member on its own in a temporary folder, and raw gRPC clients of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientDuplexStream, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { ByteWriter } from '@quorate/protocol';
import {
  ATTACH_PATH,
  type AttachResponse,
  type ClientHello,
  decodeAttachResponse,
  decodeErrorDetail,
  ERROR_DETAIL_KEY,
  FRAME_PROTOCOL_REVISION,
  type FrameCall,
  writeCall,
  writeClientHello,
} from '@quorate/protocol/frames';
import { asBuffer, loadProtos, serviceOf } from '@quorate/protocol/grpc';
import { configOf, type KeyName, type KeyValue } from '../../config/index.ts';
import { type Member, startMember } from '../../member.ts';

export type Settings = Partial<{ readonly [N in KeyName]: KeyValue<N> }>;

export class Standalone implements AsyncDisposable {
  readonly member: Member;
  readonly #folder: string;
  readonly #clients: Client[] = [];

  private constructor(member: Member, folder: string) {
    this.member = member;
    this.#folder = folder;
  }

  static async start(settings: Settings = {}): Promise<Standalone> {
    const folder = await mkdtemp(join(tmpdir(), 'quorate-front-'));
    const config = configOf({
      dataDir: join(folder, 'data'),
      zookeeperPort: 0,
      grpcPort: 0,
      adminPort: 0,
      logLevel: 'silent',
      ...settings,
    });
    const member = await startMember(config);
    await member.ready;
    return new Standalone(member, folder);
  }

  /** A client with a connection of its own. */
  client(): Client {
    const client = new Client(`127.0.0.1:${this.member.ports.grpc}`, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
      'grpc.enable_retries': 0,
    });
    this.#clients.push(client);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.member.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A client of the member at `address`, with a connection of its own. */
export function clientAt(address: string): { readonly client: Client } & Disposable {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  return { client, [Symbol.dispose]: () => client.close() };
}

/** Makes one unary call. Rejects with ServiceError. */
export function call<Response>(
  client: Client,
  service: string,
  method: string,
  request: object,
  deadlineMs?: number,
): Promise<Response> {
  return callWith(client, service, method, request, new Metadata(), deadlineMs);
}

/** The same with metadata. */
export function callWith<Response>(
  client: Client,
  service: string,
  method: string,
  request: object,
  metadata: Metadata,
  deadlineMs?: number,
): Promise<Response> {
  const definition = serviceOf(loadProtos(), service)[method];
  if (definition === undefined) throw new Error(`No method ${method}`);
  const options = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      definition.path,
      definition.requestSerialize,
      definition.responseDeserialize as (bytes: Buffer) => Response,
      request,
      metadata,
      options,
      (error, response) => (error === null ? resolve(response as Response) : reject(error)),
    );
  });
}

/** Our own detail of a failed call. */
export function detailOf(error: unknown): ReturnType<typeof decodeErrorDetail> {
  const [bytes] = (error as ServiceError).metadata.get(ERROR_DETAIL_KEY);
  if (!Buffer.isBuffer(bytes)) throw new Error('The status has no detail');
  return decodeErrorDetail(bytes);
}

const same = (bytes: Buffer): Buffer => bytes;

/** A session stream, frame by frame. */
export class RawStream {
  readonly call: ClientDuplexStream<Buffer, Buffer>;
  readonly frames: AttachResponse[] = [];
  /** The gRPC status that it ended with. */
  status: { readonly code: number; readonly details: string } | undefined;
  #xid = 0;

  constructor(client: Client) {
    this.call = client.makeBidiStreamRequest(ATTACH_PATH, same, same);
    this.call.on('data', (frame: Buffer) => this.frames.push(decodeAttachResponse(Uint8Array.from(frame))));
    this.call.on('error', () => undefined);
    this.call.on('status', (status) => {
      this.status = status;
    });
  }

  hello(hello: Partial<ClientHello> = {}): this {
    const writer = new ByteWriter();
    writeClientHello(writer, {
      session: 0n as ClientHello['session'],
      token: new Uint8Array(0),
      timeoutMs: 10_000,
      lastZxidSeen: 0n as ClientHello['lastZxidSeen'],
      protocolRevision: FRAME_PROTOCOL_REVISION,
      ...hello,
    });
    return this.bytes(writer.finish());
  }

  /** Sends the operations in one frame, with rising xids. */
  calls(...ops: readonly FrameCall['op'][]): this {
    const writer = new ByteWriter();
    for (const op of ops) writeCall(writer, { xid: ++this.#xid, timeoutMs: 0, op, linearizable: false });
    return this.bytes(writer.finish());
  }

  bytes(frame: Uint8Array): this {
    this.call.write(asBuffer(frame));
    return this;
  }

  get serverHello(): NonNullable<AttachResponse['hello']> | undefined {
    return this.frames[0]?.hello;
  }

  get replies(): readonly AttachResponse['replies'][number][] {
    return this.frames.flatMap((frame) => frame.replies);
  }

  get closed(): AttachResponse['closed'] {
    return this.frames.at(-1)?.closed;
  }
}
