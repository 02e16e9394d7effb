/**
 * All links of a member: at most one to each other member, the newest. Numbers them, tells the driver of each that comes
 * up or goes down, and carries messages. Dialled by the member with the larger sid.
 */
import { Server } from '@grpc/grpc-js';
import type { PeerMessage } from '@quorate/core';
import { PEER_MESSAGE_BYTES_MAX, type Sid } from '@quorate/protocol';
import type { ServerConfig } from '../config/index.ts';
import { GrpcListener, SERVER_OPTIONS } from '../grpc-listener.ts';
import type { Log } from '../logging.ts';
import { Acceptor, type Incoming } from './acceptor.ts';
import { Dialler } from './dialler.ts';
import type { OwnIdentity } from './hello.ts';
import { encodePieces, Link, type LinkStream } from './link.ts';
import { PEER_SERVICE } from './peer-service.ts';

/** What the driver is told. For each link: up, then messages in order, then down once. */
export interface LinksEvents {
  linkUp(sid: Sid, link: number): void;
  linkDown(sid: Sid, link: number): void;
  peerMessage(sid: Sid, link: number, message: PeerMessage): void;
}

/** More connections than members can need; a port scanner cannot use the descriptors up. */
const CONNECTIONS_MAX = 256;

export class Links {
  readonly #queueBytesMax: number;
  readonly #log: Log;
  readonly #events: LinksEvents;
  readonly #acceptor: Acceptor;
  readonly #diallers: readonly Dialler[];
  /** Undefined when standalone: nobody is to be linked. */
  #listener: GrpcListener | undefined;
  readonly #current = new Map<Sid, Link>();
  #lastNumber = 0;
  /** The message that was sent last and its encoding: a proposal goes to every learner. */
  #lastMessage: PeerMessage | undefined;
  #lastPieces: readonly Uint8Array[] = [];

  private constructor(config: ServerConfig, log: Log, events: LinksEvents) {
    this.#queueBytesMax = config.serverLimits.peerQueueBytesMax;
    this.#log = log;
    this.#events = events;
    const sids = new Set(config.members.map((member) => member.sid));
    const own: OwnIdentity = { clusterId: config.clusterId, sid: config.sid, sids };
    const welcome = (sid: Sid, stream: LinkStream): Link => this.#welcome(sid, stream);
    this.#acceptor = new Acceptor(own, log, welcome, (peer) => this.#listener?.cut(peer));
    const keepAliveTimeoutMs = config.timing.syncTimeoutMs;
    this.#diallers = config.members
      .filter((member) => member.sid < config.sid)
      .map((member) => new Dialler({ own, member, keepAliveTimeoutMs, log, welcome }));
  }

  /** Listens on the peer port; links come up after `start`. Rejects with one clear line when it cannot listen. */
  static async open(config: ServerConfig, log: Log, events: LinksEvents): Promise<Links> {
    const links = new Links(config, log, events);
    if (config.members.length === 0) return links;
    const server = new Server({
      ...SERVER_OPTIONS,
      'grpc.max_receive_message_length': PEER_MESSAGE_BYTES_MAX,
      'grpc.max_send_message_length': PEER_MESSAGE_BYTES_MAX,
      'grpc.keepalive_time_ms': 1_000,
      'grpc.keepalive_timeout_ms': config.timing.syncTimeoutMs,
    });
    server.addService(PEER_SERVICE, { Link: (call: Incoming) => links.#acceptor.handle(call) });
    links.#listener = await GrpcListener.open(server, {
      name: 'peer',
      host: config.bind,
      port: config.ports.peer,
      connectionsMax: CONNECTIONS_MAX,
      connectionsPerAddressMax: 0,
      log,
    });
    return links;
  }

  /** The port that is listened on; 0 when standalone. */
  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Begins to dial and to accept. */
  start(): void {
    this.#acceptor.ready();
    for (const dialler of this.#diallers) dialler.start();
  }

  /** Sends on that link at the next flush; drops the message when the link is not the current one. */
  send(sid: Sid, number: number, message: PeerMessage): void {
    const link = this.#get(sid, number);
    if (link === undefined) return;
    if (message !== this.#lastMessage) {
      this.#lastMessage = message;
      this.#lastPieces = encodePieces(message);
    }
    link.send(this.#lastPieces);
  }

  /** End of a turn: one write a link. */
  flush(): void {
    this.#lastMessage = undefined;
    for (const link of this.#current.values()) link.flush();
  }

  /** The link when it is the current one. */
  get(sid: Sid, number: number): Link | undefined {
    return this.#get(sid, number);
  }

  /** Stops to read from the link, or goes on; see Link. Nothing when it is not the current one. */
  hold(sid: Sid, number: number, isHeld: boolean): void {
    this.#get(sid, number)?.hold(isHeld);
  }

  close(sid: Sid, number: number, reason: string): void {
    this.#get(sid, number)?.close(reason);
  }

  /** Ends every link that is up; they come up anew. */
  closeAll(reason: string): void {
    for (const link of [...this.#current.values()]) link.close(reason);
  }

  /** Ends all links and attempts, and lets the port go. Idempotent. */
  async stop(): Promise<void> {
    this.#acceptor.stop();
    await Promise.all(this.#diallers.map((dialler) => dialler.stop()));
    this.closeAll('the member stops');
    this.#listener?.destroy();
  }

  #get(sid: Sid, number: number): Link | undefined {
    const link = this.#current.get(sid);
    return link?.number === number ? link : undefined;
  }

  #welcome(sid: Sid, stream: LinkStream): Link {
    // The other side would not have dialled again if it still had the older link.
    this.#current.get(sid)?.close('a newer link replaces it');
    const about = { sid, number: ++this.#lastNumber, queueBytesMax: this.#queueBytesMax };
    const link = new Link(about, stream, {
      message: (from, message) => this.#events.peerMessage(from.sid, from.number, message),
      closed: (from, reason) => this.#closed(from, reason),
    });
    this.#current.set(sid, link);
    this.#log.info('linkUp', { peer: sid, link: link.number });
    this.#events.linkUp(sid, link.number);
    return link;
  }

  #closed(link: Link, reason: string): void {
    if (this.#current.get(link.sid) === link) this.#current.delete(link.sid);
    this.#log.info('linkDown', { peer: link.sid, link: link.number, reason });
    this.#events.linkDown(link.sid, link.number);
  }
}
