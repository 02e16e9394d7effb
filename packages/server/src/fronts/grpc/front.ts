/** The port for gRPC clients: all public services, health and reflection, on one server. */
import { Server, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { FRAME_BYTES_MAX } from '@quorate/protocol';
import {
  CLUSTER_SERVICE,
  loadProtos,
  SESSION_SERVICE,
  serviceOf,
  sessionService,
  WATCH_SERVICE,
  watchService,
  ZNODE_SERVICE,
} from '@quorate/protocol/grpc';
import { HealthImplementation } from 'grpc-health-check';
import type { ServerConfig } from '../../config/index.ts';
import { GrpcListener, SERVER_OPTIONS } from '../../grpc-listener.ts';
import type { Log } from '../../logging.ts';
import type { CoreAccess } from '../core-access.ts';
import { attachHandler } from './attach.ts';
import { clusterHandlers } from './cluster-service.ts';
import { listingStreams } from './listing-stream.ts';
import { sessionHandlers } from './session-service.ts';
import { answerUndecodable, keepUndecodable } from './undecodable.ts';
import { watchHandlers } from './watch-service.ts';
import { znodeHandlers } from './znode-service.ts';

/** What health checks ask for. */
export interface Health {
  /** The process is up: service "". */
  readonly live: boolean;
  /** Reads are answered: service `quorate.v1.ZnodeService`. */
  readonly serving: boolean;
  /** Writes can be committed, as far as is known: service `write`. */
  readonly hasQuorum: boolean;
}

/** Name of the health of writes. */
const WRITE_HEALTH = 'write';

/** Streams (calls) of one connection at a time; clients wait past it. */
const STREAMS_MAX = 4_096;

export class GrpcFront {
  readonly #listener: GrpcListener;
  readonly #health: HealthImplementation;

  private constructor(listener: GrpcListener, health: HealthImplementation) {
    this.#listener = listener;
    this.#health = health;
  }

  /** Listens. Rejects with one clear line when it cannot. */
  static async open(config: ServerConfig, log: Log, core: CoreAccess): Promise<GrpcFront> {
    const server = new Server({
      ...SERVER_OPTIONS,
      'grpc.max_concurrent_streams': STREAMS_MAX,
      'grpc.max_receive_message_length': FRAME_BYTES_MAX,
      'grpc.max_send_message_length': -1,
      // Finds clients that are gone without a word (C078).
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 5_000,
    });
    const protos = loadProtos();
    const unary = (handlers: UntypedServiceImplementation) => answerUndecodable(handlers, () => core.appliedZxid());
    const znodes = { ...unary(znodeHandlers(core)), ...listingStreams(core) };
    server.addService(keepUndecodable(serviceOf(protos, ZNODE_SERVICE)), znodes);
    const sessions = { ...unary(sessionHandlers(core)), Attach: attachHandler(core) };
    server.addService(keepUndecodable(sessionService(protos)), sessions);
    server.addService(keepUndecodable(serviceOf(protos, CLUSTER_SERVICE)), unary(clusterHandlers(core)));
    server.addService(watchService(protos), watchHandlers(core));
    const health = new HealthImplementation({
      '': 'SERVING',
      [ZNODE_SERVICE]: 'NOT_SERVING',
      [WRITE_HEALTH]: 'NOT_SERVING',
    });
    health.addToServer(server);
    const services = [ZNODE_SERVICE, SESSION_SERVICE, WATCH_SERVICE, CLUSTER_SERVICE];
    new ReflectionService(protos, { services }).addToServer(server);
    const listener = await GrpcListener.open(server, {
      name: 'grpc',
      host: config.bind,
      port: config.ports.grpc,
      connectionsMax: config.serverLimits.connectionsMax,
      connectionsPerAddressMax: config.serverLimits.connectionsPerAddressMax,
      log,
    });
    return new GrpcFront(listener, health);
  }

  get port(): number {
    return this.#listener.port;
  }

  setHealth({ live, serving, hasQuorum }: Health): void {
    this.#health.setStatus('', live ? 'SERVING' : 'NOT_SERVING');
    this.#health.setStatus(ZNODE_SERVICE, live && serving ? 'SERVING' : 'NOT_SERVING');
    this.#health.setStatus(WRITE_HEALTH, live && hasQuorum ? 'SERVING' : 'NOT_SERVING');
  }

  /** Takes no new connections; those that there are may finish for `graceMs`. */
  drain(graceMs: number): void {
    this.#listener.drain(graceMs);
  }

  /** Connections that are still there. */
  get connections(): number {
    return this.#listener.connections;
  }

  /** Ends everything now. Idempotent. */
  destroy(): void {
    this.#listener.destroy();
  }
}
