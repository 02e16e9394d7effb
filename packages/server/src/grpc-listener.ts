/**
 * A port on which a gRPC server is reached. The sockets are accepted by `SocketAcceptor` and handed to grpc-js, so that the number
 * of connections can be bounded, a taken port is a plain error, and a member can let go of everything at once. Garbage ends its
 * own connection only.
 */
import { type Server as GrpcServer, ServerCredentials, type ServerOptions } from '@grpc/grpc-js';
import { type AcceptorOptions, SocketAcceptor } from './socket-acceptor.ts';

/** Options that every gRPC server here has. Window and memory: baselines §4.2, half as much again at large batches. */
export const SERVER_OPTIONS = {
  'grpc-node.flow_control_window': 16 * 1024 * 1024,
  'grpc-node.max_session_memory': 1000,
  'grpc.enable_channelz': 0,
} as const satisfies ServerOptions;

export class GrpcListener {
  readonly #grpc: GrpcServer;
  readonly #acceptor: SocketAcceptor;
  readonly #drain: (graceMs: number) => void;

  private constructor(grpc: GrpcServer, acceptor: SocketAcceptor, drain: (graceMs: number) => void) {
    this.#grpc = grpc;
    this.#acceptor = acceptor;
    this.#drain = drain;
  }

  /** Listens. Rejects with one clear line when the port is taken or may not be used. */
  static async open(grpc: GrpcServer, options: AcceptorOptions): Promise<GrpcListener> {
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure());
    const acceptor = await SocketAcceptor.open(options, (socket) => injector.injectConnection(socket));
    return new GrpcListener(grpc, acceptor, (graceMs) => injector.drain(graceMs));
  }

  get port(): number {
    return this.#acceptor.port;
  }

  get connections(): number {
    return this.#acceptor.connections;
  }

  /** Takes no more connections, and asks clients to finish on those that there are; cuts them off after `graceMs`. */
  drain(graceMs: number): void {
    this.#acceptor.close();
    this.#drain(graceMs);
  }

  /** Ends everything now. */
  destroy(): void {
    this.#acceptor.destroy();
    this.#grpc.forceShutdown();
  }

  /** Ends one connection now, with all that is on it. `peer` is `getPeer()` of a call that came by it. */
  cut(peer: string): void {
    this.#acceptor.cut(peer);
  }
}
