/**
 * The side of a link that dials: one for each member with a smaller sid. It tries until a link is up and again as soon as
 * it is down, with a pause so short that a member which comes back is linked within 100 ms. The name is resolved anew at
 * every attempt (C082, C106), one look-up at a time in the process, so that a slow resolver cannot use the threads up
 * that the disk needs. A plain connection is tried first: it costs a tenth of a gRPC channel.
 */
import { lookup } from 'node:dns/promises';
import { connect, isIP } from 'node:net';
import {
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  credentials,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { PEER_MESSAGE_BYTES_MAX, type Sid } from '@quorate/protocol';
import { formatHostPort, type MemberAddress } from '../config/index.ts';
import type { Log } from '../logging.ts';
import { encodeHello } from './encode.ts';
import { helloFault, helloTo, type OwnIdentity, readHello } from './hello.ts';
import type { Link, LinkStream } from './link.ts';
import { LINK_METHOD } from './peer-service.ts';

/** Pause after an attempt that failed: nobody listens, or not yet. */
const RETRY_MS = 50;
/** Pause after a refusal, or a name that is not known: nothing that mends itself in milliseconds. */
const REFUSED_RETRY_MS = 1_000;
/** Links that end sooner than this, one after another, are made with growing pauses: something is wrong for good. */
const SHORT_LIFE_MS = 1_000;
/** ... but not at first: a member that changes its leader ends links too. */
const SHORT_LIVES_FREE = 4;
const SHORT_LIFE_RETRY_MAX_MS = 500;
/** An attempt to connect that takes longer is given up. */
const CONNECT_MS = 1_000;
/** A hello that takes longer is given up. */
const HELLO_MS = 3_000;

/** How an attempt ended. `linked`: after a link. `slow`: there is no hurry to try again. */
type Outcome = { readonly kind: 'linked' | 'quick' | 'slow' };

export interface DiallerOptions {
  readonly own: OwnIdentity;
  readonly member: MemberAddress;
  /** Silence after which a dead connection is noticed, ms. */
  readonly keepAliveTimeoutMs: number;
  readonly log: Log;
  readonly welcome: (sid: Sid, stream: LinkStream) => Link;
}

export class Dialler {
  readonly #options: DiallerOptions;
  readonly #stopping = new AbortController();
  #finished: Promise<void> = Promise.resolve();

  constructor(options: DiallerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#finished = this.#run();
  }

  /** Ends the attempts, and with them the link that they made. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#finished;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    let shortLives = 0;
    while (!signal.aborted) {
      const startedMs = performance.now();
      const outcome = await this.#attempt();
      if (outcome.kind === 'linked') {
        shortLives = performance.now() - startedMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
      }
      await pause(pauseAfter(outcome, shortLives), signal);
    }
  }

  /** One attempt, and the whole life of the link when it succeeds. */
  async #attempt(): Promise<Outcome> {
    const { member, log } = this.#options;
    const { signal } = this.#stopping;
    const addresses = await resolve(member.peer.host);
    if (typeof addresses === 'string') {
      log.warnRarely('nameNotResolved', member.sid, { peer: member.sid, host: member.peer.host, reason: addresses });
      return { kind: 'slow' };
    }
    for (const address of addresses) {
      if (signal.aborted) break;
      if (await accepts(address, member.peer.port, signal)) return this.#link(address);
    }
    return { kind: 'quick' };
  }

  #link(address: string): Promise<Outcome> {
    const { member, own } = this.#options;
    const target = formatHostPort(address, member.peer.port);
    const client = new Client(
      `${address.includes(':') ? 'ipv6' : 'ipv4'}:${target}`,
      credentials.createInsecure(),
      channelOptions(this.#options.keepAliveTimeoutMs, formatHostPort(member.peer.host, member.peer.port)),
    );
    const call = client.makeBidiStreamRequest<Buffer, Buffer>(
      LINK_METHOD.path,
      LINK_METHOD.requestSerialize,
      LINK_METHOD.responseDeserialize,
    );
    const hello = encodeHello(helloTo(own, member.sid));
    call.write(Buffer.from(hello.buffer, hello.byteOffset, hello.length));
    return this.#live(call).finally(() => client.close());
  }

  /** Resolves when the stream is over. */
  #live(call: ClientDuplexStream<Buffer, Buffer>): Promise<Outcome> {
    const { signal } = this.#stopping;
    return new Promise((resolve) => {
      let link: Link | undefined;
      const timer = setTimeout(() => call.cancel(), HELLO_MS).unref();
      const stop = (): void => (link === undefined ? call.cancel() : link.close('the member stops'));
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const over = (outcome: Outcome, reason: string): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        link?.close(reason);
        resolve(outcome);
      };
      call.on('data', (frame: Buffer) => {
        if (link !== undefined) return link.receive(frame);
        clearTimeout(timer);
        link = this.#greet(call, frame);
        if (link === undefined) over({ kind: 'slow' }, 'refused');
      });
      call.on('error', (error: ServiceError) => {
        const isRefused = link === undefined && error.code === status.FAILED_PRECONDITION;
        if (isRefused) this.#refused(error.details);
        over({ kind: isRefused ? 'slow' : link === undefined ? 'quick' : 'linked' }, error.details);
      });
      call.on('end', () => over({ kind: link === undefined ? 'quick' : 'linked' }, 'the other side ended it'));
    });
  }

  #greet(call: ClientDuplexStream<Buffer, Buffer>, frame: Buffer): Link | undefined {
    const { own, member, welcome } = this.#options;
    const hello = readHello(frame);
    const fault = typeof hello === 'string' ? hello : helloFault(own, hello, member.sid);
    if (fault !== undefined) {
      this.#refused(fault);
      call.cancel();
      return undefined;
    }
    return welcome(member.sid, {
      write: (out, written) => {
        call.write(out, written);
      },
      pause: () => call.pause(),
      resume: () => call.resume(),
      destroy: () => call.cancel(),
    });
  }

  #refused(reason: string): void {
    const { log, member } = this.#options;
    log.warnRarely('linkRefused', member.sid, { peer: member.sid, reason });
  }
}

function pauseAfter({ kind }: Outcome, shortLives: number): number {
  if (kind === 'slow') return REFUSED_RETRY_MS;
  const extra = Math.max(0, shortLives - SHORT_LIVES_FREE);
  return Math.min(SHORT_LIFE_RETRY_MAX_MS, RETRY_MS * 2 ** extra);
}

function channelOptions(keepAliveTimeoutMs: number, authority: string): ChannelOptions {
  return {
    'grpc.default_authority': authority,
    // Each attempt is a channel of its own: nothing is remembered, nothing retried behind our back.
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_channelz': 0,
    'grpc.keepalive_time_ms': 1_000,
    'grpc.keepalive_timeout_ms': keepAliveTimeoutMs,
    'grpc.max_receive_message_length': PEER_MESSAGE_BYTES_MAX,
    'grpc.max_send_message_length': PEER_MESSAGE_BYTES_MAX,
    'grpc-node.flow_control_window': PEER_MESSAGE_BYTES_MAX,
    'grpc-node.max_session_memory': 1000,
  };
}

/** The look-up that runs; the next one waits for it. */
let lastLookup: Promise<unknown> = Promise.resolve();

/** All addresses of a name, or why there are none. */
async function resolve(host: string): Promise<readonly string[] | string> {
  if (isIP(host) !== 0) return [host];
  const found = lastLookup.then(async () => {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address);
    } catch (error) {
      return (error as Error).message;
    }
  });
  lastLookup = found;
  return await found;
}

/** True when something takes connections there. */
function accepts(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_MS });
    const done = (isUp: boolean): void => {
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve(isUp);
    };
    const stop = (): void => done(false);
    // Not by way of the option `signal`: its listener would stay with the signal, one for each attempt.
    signal.addEventListener('abort', stop, { once: true });
    socket.once('connect', () => done(true));
    socket.once('timeout', () => done(false));
    socket.on('error', () => done(false));
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
