/**
 * Admin HTTP: whether the member lives, whether it is ready, and how it stands. Read-only, without a password, on
 * loopback by default. 64-bit values are hex strings: JSON numbers would round them (C013).
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { formatZxid } from '@quorate/protocol';
import type { ClusterStatus } from '@quorate/protocol/grpc';
import { listenOn } from './socket-acceptor.ts';

/** What is asked of the member. */
export interface AdminSource {
  /** Undefined while the member recovers. */
  status(): ClusterStatus | undefined;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

export class AdminHttp {
  readonly #server: Server;
  #port = 0;

  private constructor(source: AdminSource) {
    this.#server = createServer(
      { requestTimeout: 10_000, keepAliveTimeout: 5_000, maxHeaderSize: 8_192 },
      (request, response) => respond(source, request, response),
    );
    this.#server.maxConnections = 256;
  }

  /** Listens. Rejects with one clear line when it cannot. */
  static async open(source: AdminSource, host: string, port: number): Promise<AdminHttp> {
    const admin = new AdminHttp(source);
    admin.#port = await listenOn(admin.#server, { host, port, name: 'admin' });
    admin.#server.unref();
    return admin;
  }

  get port(): number {
    return this.#port;
  }

  /** Idempotent. */
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function respond(source: AdminSource, request: IncomingMessage, response: ServerResponse): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const reply = isRead
    ? replyTo(source, request.url ?? '/')
    : { status: 405, body: { error: 'Only GET is known here' } };
  response.writeHead(reply.status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : `${JSON.stringify(reply.body)}\n`);
}

function replyTo(source: AdminSource, url: string): Reply {
  const status = source.status();
  switch (url.split('?')[0]) {
    case '/livez':
      // The loop turns, or nobody would answer. Never whether there is a quorum: a restart mends none.
      return { status: 200, body: { live: true } };
    case '/readyz':
      if (status === undefined) return { status: 503, body: { ready: false, reason: 'the member recovers its data' } };
      if (status.diskFailed !== undefined)
        return { status: 503, body: { ready: false, reason: `the disk failed: ${status.diskFailed}` } };
      if (!status.serving)
        return {
          status: 503,
          body: { ready: false, reason: 'the member follows no leader, and what it has is not recent enough to serve' },
        };
      return { status: 200, body: { ready: true, hasQuorum: status.hasQuorum } };
    case '/status':
      if (status === undefined) return { status: 503, body: { reason: 'the member recovers its data' } };
      return { status: 200, body: JSON.parse(JSON.stringify(status, hexed)) as unknown };
    default:
      return { status: 404, body: { error: 'Not found; known are /livez, /readyz and /status' } };
  }
}

function hexed(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? formatZxid(value) : value;
}
