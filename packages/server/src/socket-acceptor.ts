/**
 * A port on which sockets are accepted, with bounds on their number. Policy when full: a connection over a limit is closed at
 * once, without a word, and logged rarely. A connection that says nothing for SILENCE_MS is closed; it counts until then.
 */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { formatHostPort } from './config/index.ts';
import type { Log } from './logging.ts';

/** A connection that has not sent a byte by then is closed, ms. */
const SILENCE_MS = 10_000;

export interface AcceptorOptions {
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

export class SocketAcceptor {
  readonly #options: AcceptorOptions;
  readonly #net: NetServer;
  readonly #accepted: (socket: Socket) => void;
  /** By `address:port` of the other side. */
  readonly #sockets = new Map<string, Socket>();
  readonly #byAddress = new Map<string, number>();
  #port = 0;

  private constructor(options: AcceptorOptions, accepted: (socket: Socket) => void) {
    this.#options = options;
    this.#accepted = accepted;
    this.#net = createServer({ noDelay: true, keepAlive: true }, (socket) => this.#accept(socket));
  }

  /** Listens; `accepted` gets each socket, with a listener for errors. Rejects with one clear line when the port is taken or may not be used. */
  static async open(options: AcceptorOptions, accepted: (socket: Socket) => void): Promise<SocketAcceptor> {
    const acceptor = new SocketAcceptor(options, accepted);
    acceptor.#port = await listenOn(acceptor.#net, options);
    return acceptor;
  }

  get port(): number {
    return this.#port;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Takes no more connections. */
  close(): void {
    this.#net.close();
  }

  /** Ends every connection now, and takes no more. */
  destroy(): void {
    this.#net.close();
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  /** Ends one connection now. `peer` is its `address:port`. */
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
    // A socket that fails must not end the process; its `close` says the rest.
    socket.on('error', () => undefined);
    this.#accepted(socket);
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
