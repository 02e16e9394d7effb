/**
 * A port on which a gRPC server is reached. The sockets are accepted here and handed to grpc-js, so that the number of
 * connections can be bounded, a taken port is a plain error, and a member can let go of everything at once.
 *
 * Policy when full: a connection over a limit is closed at once, without a word, and logged rarely. A connection that
 * says nothing for SILENCE_MS is closed; it counts until then. Garbage ends its own connection only.
 */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { type Server as GrpcServer, ServerCredentials, type ServerOptions } from '@grpc/grpc-js';
import { formatHostPort } from './config/index.ts';
import type { Log } from './logging.ts';

/** A connection that has not sent a byte by then is closed, ms. */
const SILENCE_MS = 10_000;

/** Options that every gRPC server here has. Window and memory: baselines §4.2, half as much again at large batches. */
export const SERVER_OPTIONS = {
  'grpc-node.flow_control_window': 16 * 1024 * 1024,
  'grpc-node.max_session_memory': 1000,
  'grpc.enable_channelz': 0,
} as const satisfies ServerOptions;

export interface ListenerOptions {
  /** For messages: what is listened for. */
  readonly name: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** 0 is no limit. */
  readonly connectionsMax: number;
  /** 0 is no limit. */
  readonly connectionsPerAddressMax: number;
  readonly log: Log;
}

export class GrpcListener {
  readonly #options: ListenerOptions;
  readonly #grpc: GrpcServer;
  readonly #net: NetServer;
  readonly #inject: (socket: Socket) => void;
  readonly #drain: (graceMs: number) => void;
  /** By what grpc-js calls the peer of a call. */
  readonly #sockets = new Map<string, Socket>();
  readonly #byAddress = new Map<string, number>();
  #port = 0;

  private constructor(grpc: GrpcServer, options: ListenerOptions) {
    this.#grpc = grpc;
    this.#options = options;
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    this.#inject = (socket) => injector.injectConnection(socket);
    this.#drain = (graceMs) => injector.drain(graceMs);
    this.#net = createServer({ noDelay: true, keepAlive: true }, (socket) => this.#accept(socket));
  }

  /** Listens. Rejects with one clear line when the port is taken or may not be used. */
  static async open(grpc: GrpcServer, options: ListenerOptions): Promise<GrpcListener> {
    const listener = new GrpcListener(grpc, options);
    listener.#port = await listenOn(listener.#net, options);
    return listener;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Takes no more connections, and asks clients to finish on those that there are; cuts them off after `graceMs`. */
  drain(graceMs: number): void {
    this.#net.close();
    this.#drain(graceMs);
  }

  /** Ends everything now. */
  destroy(): void {
    this.#net.close();
    for (const socket of this.#sockets.values()) socket.destroy();
    this.#grpc.forceShutdown();
  }

  /** Ends one connection now, with all that is on it. `peer` is `getPeer()` of a call that came by it. */
  cut(peer: string): void {
    this.#sockets.get(peer)?.destroy();
  }

  #accept(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const ofAddress = this.#byAddress.get(address) ?? 0;
    const { connectionsMax, connectionsPerAddressMax, log, name } = this.#options;
    const isFull = connectionsMax > 0 && this.#sockets.size >= connectionsMax;
    if (isFull || (connectionsPerAddressMax > 0 && ofAddress >= connectionsPerAddressMax)) {
      log.warnRarely('connectionRefused', address, { port: name, address, connections: this.#sockets.size, ofAddress });
      socket.destroy();
      return;
    }
    const peer = `${address}:${socket.remotePort}`;
    this.#sockets.set(peer, socket);
    this.#byAddress.set(address, ofAddress + 1);
    const silence = setTimeout(() => {
      if (socket.bytesRead === 0) socket.destroy();
    }, SILENCE_MS).unref();
    socket.once('close', () => {
      clearTimeout(silence);
      this.#sockets.delete(peer);
      const left = (this.#byAddress.get(address) ?? 1) - 1;
      if (left > 0) this.#byAddress.set(address, left);
      else this.#byAddress.delete(address);
    });
    // grpc-js handles the errors of sessions; a socket that fails before it is one must not end the process.
    socket.on('error', () => undefined);
    this.#inject(socket);
  }
}

/** Listens on a port and returns the real one. Rejects with one clear line. */
export async function listenOn(
  server: NetServer,
  { host, port, name }: { readonly host: string; readonly port: number; readonly name: string },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new Error(listenFault(error, host, port, name))));
    server.listen({ host, port }, resolve);
  });
  server.removeAllListeners('error');
  // A failed accept (no descriptors left) costs that connection only.
  server.on('error', () => undefined);
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}

function listenFault(error: NodeJS.ErrnoException, host: string, port: number, name: string): string {
  const where = formatHostPort(host, port);
  switch (error.code) {
    case 'EADDRINUSE':
      return `Cannot listen on ${where} for ${name}: the port is taken; stop what uses it or set ${name}Port to another`;
    case 'EACCES':
      return `Cannot listen on ${where} for ${name}: this user may not use the port; set ${name}Port to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `Cannot listen on ${where} for ${name}: ${host} is no address of this machine; set bind to one, or to 0.0.0.0`;
    default:
      return `Cannot listen on ${where} for ${name}: ${error.message}`;
  }
}
