/**
 * Asking a member how it stands: a unary call, without a session. Loads proto-loader, and only when it is called: the
 * session does without.
 */
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import type { ClusterStatus, WireStatusResponse } from '@quorate/protocol/grpc';
import { CoordinationError } from './errors.ts';
import { type CallOptions, checkSignal, checkTimeout } from './options.ts';
import { formatServer, parseServers, type Server } from './servers.ts';
import { reasonOf, targetOf } from './stream.ts';

export type { ClusterStatus };

/**
 * How the member at `server` (`host:port`) stands. Throws TypeError or RangeError for a server or options that are not
 * legal; rejects with CONNECTION_LOST when it cannot be reached, TIMEOUT when it does not answer in time.
 */
export async function memberStatus(server: string, options: CallOptions = {}): Promise<ClusterStatus> {
  const { servers, chroot } = parseServers([server]);
  const [member] = servers;
  if (member === undefined || servers.length !== 1 || chroot !== undefined) {
    throw new TypeError(`server must be one host:port, not ${JSON.stringify(server)}`);
  }
  const timeoutMs = checkTimeout(options.timeoutMs);
  const signal = checkSignal(options.signal);
  const { CLUSTER_SERVICE, loadProtos, readStatusResponse, serviceOf } = await import('@quorate/protocol/grpc');
  const method = serviceOf(loadProtos(), CLUSTER_SERVICE)['Status'];
  if (method === undefined) throw new Error(`${CLUSTER_SERVICE} has no method Status`);
  const client = new Client(targetOf(member), credentials.createInsecure(), { 'grpc.enable_http_proxy': 0 });
  try {
    const response = await new Promise<object>((resolve, reject) => {
      const onAbort = (): void => call.cancel();
      const call = client.makeUnaryRequest<object, object>(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        {},
        { deadline: Date.now() + timeoutMs },
        (error, value) => {
          signal?.removeEventListener('abort', onAbort);
          if (error !== null || value === undefined) reject(toError(member, error, signal));
          else resolve(value);
        },
      );
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
    return readStatusResponse(response as WireStatusResponse);
  } finally {
    client.close();
  }
}

const DEADLINE_EXCEEDED = 4;

function toError(member: Server, error: ServiceError | null, signal: AbortSignal | undefined): CoordinationError {
  const name = formatServer(member);
  if (signal?.aborted === true) {
    return new CoordinationError('ABORTED', `Aborted asking ${name} for its status`, { cause: signal.reason });
  }
  const code = error?.code === DEADLINE_EXCEEDED ? 'TIMEOUT' : 'CONNECTION_LOST';
  const why = error === null ? 'no answer came' : reasonOf(error);
  return new CoordinationError(code, `Cannot ask ${name} for its status: ${why}`, { cause: error ?? undefined });
}
