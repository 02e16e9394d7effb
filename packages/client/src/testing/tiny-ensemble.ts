/**
 * Members for tests of clients: real gRPC servers on loopback that speak frames, over one TinyTree in this process.
 * A member can be killed and started again, made to stay silent or to refuse, and a call can lose its answer. There is
 * no agreement and no clock: sessions end when the test says so.
 */
import {
  type handleBidiStreamingCall,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
  status,
} from '@grpc/grpc-js';
import { ByteWriter, type ErrorCode, FRAME_BYTES_MAX, REQUEST_BYTES_MAX } from '@quorate/protocol';
import {
  type AddAuthOp,
  ATTACH_PATH,
  type AttachRequest,
  type ClientHello,
  decodeAttachRequest,
  type ReceivedCall,
  type StreamAnswer,
  type StreamOp,
  writeReply,
  writeServerHello,
  writeSessionClosed,
} from '@quorate/protocol/frames';
import { type TinySession, TinyTree } from './tiny-tree.ts';

/**
 * What is to become of a call: `breakBefore` and `breakAfter` end the stream, without or with its effect; `leave` ends it as a
 * member does that stops: neither this call nor a later one is carried out, and the client is told.
 */
export type Verdict = 'answer' | 'breakBefore' | 'breakAfter' | 'leave' | Promise<void>;

/** How a member takes attachments: as it should, without ever answering anything, or by closing them with a code. */
export type Manner = 'normal' | 'mute' | ErrorCode;

type Stream = ServerDuplexStream<AttachRequest, Uint8Array>;

const METHOD = {
  path: ATTACH_PATH,
  requestStream: true,
  responseStream: true,
  requestSerialize: (): Buffer => Buffer.alloc(0),
  requestDeserialize: (bytes: Buffer): AttachRequest => decodeAttachRequest(new Uint8Array(bytes)),
  responseSerialize: (frame: Uint8Array): Buffer => Buffer.from(frame),
  responseDeserialize: (bytes: Buffer): Uint8Array => bytes,
} as const;

export class TinyEnsemble implements AsyncDisposable {
  readonly tree = new TinyTree();
  readonly members: readonly TinyMember[];
  /** Shortest session timeout handed out, ms; what a client wants below is raised to it. */
  timeoutMinMs = 50;
  /** Asked about every call before it is carried out. */
  judge: (op: StreamOp) => Verdict = () => 'answer';
  /** Every frame's calls, in order, as they came: for tests of batching. */
  readonly frames: number[] = [];
  /** What each hello showed, as text, in the order of the hellos. */
  readonly shown: string[][] = [];
  /** The stream that each session is attached to. */
  readonly attached = new Map<bigint, TinyAttachment>();

  private constructor(count: number) {
    this.members = Array.from({ length: count }, (_, index) => new TinyMember(this, index + 1));
  }

  static async start(count = 1): Promise<TinyEnsemble> {
    const ensemble = new TinyEnsemble(count);
    await Promise.all(ensemble.members.map((member) => member.start()));
    return ensemble;
  }

  /** For `connect`. */
  get servers(): string[] {
    return this.members.map((member) => member.address);
  }

  /** Ends a session as its expiry would, and tells its client when it is attached. */
  expire(id: bigint): void {
    const session = [...this.tree.sessions.values()].find((one) => one.id === id);
    if (session !== undefined) this.tree.end(session.id);
    this.attached.get(id)?.close('SESSION_EXPIRED');
  }

  /** The member that a session is attached to. */
  memberOf(id: bigint): TinyMember | undefined {
    return this.attached.get(id)?.member;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill()));
  }
}

export class TinyMember {
  readonly sid: number;
  manner: Manner = 'normal';
  /** While true nothing is read or answered, as if the process were stopped. */
  isFrozen = false;
  /** Attachments that were asked for, ever. */
  attempts = 0;
  /** Services beside the session stream, added when the member starts. */
  readonly services: [ServiceDefinition, Record<string, (...args: never[]) => void>][] = [];
  readonly #ensemble: TinyEnsemble;
  #server: Server | undefined;
  #port = 0;

  constructor(ensemble: TinyEnsemble, sid: number) {
    this.#ensemble = ensemble;
    this.sid = sid;
  }

  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Starts, on the same port as before. */
  async start(): Promise<void> {
    const server = new Server({ 'grpc.max_receive_message_length': FRAME_BYTES_MAX });
    const attach: handleBidiStreamingCall<AttachRequest, Uint8Array> = (stream) => {
      this.attempts++;
      new TinyAttachment(this.#ensemble, this, stream);
    };
    server.addService({ Attach: METHOD }, { Attach: attach });
    for (const [definition, handlers] of this.services) server.addService(definition, handlers as never);
    this.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${this.#port}`, ServerCredentials.createInsecure(), (error, port) => {
        if (error === null) resolve(port);
        else reject(error);
      });
    });
    this.#server = server;
  }

  /** Breaks every connection and stops listening. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    for (const [id, { member }] of this.#ensemble.attached) if (member === this) this.#ensemble.attached.delete(id);
    server?.forceShutdown();
    await Promise.resolve();
  }
}

/** One stream of one client. Calls are answered one after the other. */
class TinyAttachment {
  readonly member: TinyMember;
  readonly #ensemble: TinyEnsemble;
  readonly #stream: Stream;
  #session: TinySession | undefined;
  #line: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(ensemble: TinyEnsemble, member: TinyMember, stream: Stream) {
    this.#ensemble = ensemble;
    this.member = member;
    this.#stream = stream;
    stream.on('error', () => this.#end());
    stream.on('cancelled', () => this.#end());
    stream.on('data', (frame: AttachRequest) => this.#frame(frame));
    stream.on('end', () => this.#end());
  }

  /** Last word, then the end. */
  close(code: ErrorCode, unansweredNotApplied = false): void {
    const writer = new ByteWriter();
    writeSessionClosed(writer, { code, message: 'The test wants it so', unansweredNotApplied });
    this.#write(writer);
    this.#end();
  }

  #frame({ hello, calls }: AttachRequest): void {
    if (this.member.isFrozen || this.member.manner === 'mute') return;
    if (this.member.manner !== 'normal') this.close(this.member.manner);
    else if (hello !== undefined) this.#hello(hello);
    else if (calls.length === 0) this.#write(new ByteWriter());
    else {
      this.#ensemble.frames.push(calls.length);
      for (const call of calls) this.#line = this.#line.then(() => this.#call(call));
    }
  }

  #hello(hello: ClientHello): void {
    const { tree, timeoutMinMs, attached } = this.#ensemble;
    this.#ensemble.shown.push((hello.credentials ?? []).map(({ proof }) => new TextDecoder().decode(proof)));
    const known = tree.sessions.get(hello.session);
    const resumed = hello.session !== 0n;
    if (hello.lastZxidSeen > tree.zxid) return this.close('SERVER_BEHIND');
    if (resumed && (known === undefined || Buffer.compare(known.token, hello.token) !== 0))
      return this.close('SESSION_EXPIRED');
    const session = known ?? tree.open(Math.max(hello.timeoutMs, timeoutMinMs));
    this.#session = session;
    attached.get(session.id)?.close('SESSION_MOVED');
    attached.set(session.id, this);
    const writer = new ByteWriter();
    const limits = { frameBytesMax: FRAME_BYTES_MAX, requestBytesMax: REQUEST_BYTES_MAX, protocolRevision: 1 };
    const { id, token, timeoutMs } = session;
    writeServerHello(writer, {
      session: id,
      token,
      timeoutMs,
      resumed,
      sid: this.member.sid,
      zxid: tree.zxid,
      ...limits,
    });
    this.#write(writer);
  }

  async #call({ xid, op, request = 0 }: ReceivedCall): Promise<void> {
    if (this.#isOver || this.#session === undefined) return;
    if (op.kind === 'fault') throw new Error(`The client sent a call that is not legal: ${op.message}`);
    const verdict = this.#ensemble.judge(op);
    if (verdict === 'breakBefore') return this.#break();
    if (verdict === 'leave') return this.close('UNAVAILABLE', true);
    const answer = this.#answer(op, request, this.#session);
    if (verdict === 'breakAfter') return this.#break();
    if (verdict !== 'answer') await verdict;
    const writer = new ByteWriter();
    writeReply(writer, xid, op.kind, answer);
    this.#write(writer);
    if (op.kind === 'closeSession') this.#end();
  }

  /** A number that was taken before gets its first answer. */
  #answer(op: StreamOp, request: number, { id, results }: TinySession): StreamAnswer {
    if (op.kind === 'addAuth') return this.#addAuth(op);
    const first = results.get(request);
    if (first !== undefined) return first;
    const answer = this.#ensemble.tree.answer(op, id);
    if (request > 0) results.set(request, answer);
    return answer;
  }

  #addAuth({ credential: { scheme, proof } }: AddAuthOp): StreamAnswer {
    const { zxid } = this.#ensemble.tree;
    const message = 'It proves nothing';
    if (scheme !== 'digest') return { zxid, result: { kind: 'error', code: 'AUTH_FAILED', path: undefined, message } };
    const identities = [{ scheme, id: new TextDecoder().decode(proof).replace(/:.*/, '') }];
    return { zxid, result: { kind: 'addAuth', identities } };
  }

  #write(writer: ByteWriter): void {
    if (!this.#isOver && !this.member.isFrozen) this.#stream.write(writer.finish());
  }

  /** Ends the stream without a word, as a broken connection does. */
  #break(): void {
    this.#isOver = true;
    this.#stream.emit('error', { code: status.UNAVAILABLE, details: 'The test breaks the stream' });
    this.#forget();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.end();
    this.#forget();
  }

  #forget(): void {
    const id = this.#session?.id;
    if (id !== undefined && this.#ensemble.attached.get(id) === this) this.#ensemble.attached.delete(id);
  }
}
