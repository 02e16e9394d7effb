/**
 * One unary call to one member, without a session. Loads proto-loader, and only when it is called: the session does without.
 */
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { decodeErrorDetail, ERROR_DETAIL_KEY } from '@quorate/protocol/frames';
import { CoordinationError, errorOfFailure } from './errors.ts';
import { type CallOptions, checkSignal, checkTimeout } from './options.ts';
import { formatServer, parseServers, type Server } from './servers.ts';
import { reasonOf, targetOf } from './stream.ts';

export interface UnaryMethod {
  /** Full name of the service in the protos. */
  readonly service: string;
  readonly method: string;
  /** What is asked of the member, for messages: `Cannot WHAT: why`. */
  readonly what: string;
}

const DEADLINE_EXCEEDED = 4;

/** The one member that `server` (`host:port`) names. Throws TypeError when it is not one. */
export function parseMember(server: string): Server {
  const { servers, chroot } = parseServers([server]);
  const [member] = servers;
  if (member === undefined || servers.length !== 1 || chroot !== undefined) {
    throw new TypeError(`server must be one host:port, not ${JSON.stringify(server)}`);
  }
  return member;
}

/**
 * Calls the method at the member. Throws RangeError for options that are not legal; rejects with the member's own failure, with
 * CONNECTION_LOST when it cannot be reached, TIMEOUT when it does not answer in time, ABORTED by the signal.
 */
export async function callUnary<Response extends object>(
  member: Server,
  about: UnaryMethod,
  request: object,
  options: CallOptions,
): Promise<Response> {
  const timeoutMs = checkTimeout(options.timeoutMs);
  const signal = checkSignal(options.signal);
  const { loadProtos, serviceOf } = await import('@quorate/protocol/grpc');
  const method = serviceOf(loadProtos(), about.service)[about.method];
  if (method === undefined) throw new Error(`${about.service} has no method ${about.method}`);
  const client = new Client(targetOf(member), credentials.createInsecure(), { 'grpc.enable_http_proxy': 0 });
  try {
    const response = await new Promise<object>((resolve, reject) => {
      const onAbort = (): void => call.cancel();
      const call = client.makeUnaryRequest<object, object>(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        { deadline: Date.now() + timeoutMs },
        (error, value) => {
          signal?.removeEventListener('abort', onAbort);
          if (error !== null || value === undefined) reject(toError(member, about, error, signal));
          else resolve(value);
        },
      );
      if (signal?.aborted === true) onAbort();
      else signal?.addEventListener('abort', onAbort);
    });
    return response as Response;
  } finally {
    client.close();
  }
}

function toError(
  member: Server,
  { what }: UnaryMethod,
  error: ServiceError | null,
  signal: AbortSignal | undefined,
): CoordinationError {
  const name = formatServer(member);
  if (signal?.aborted === true) {
    return new CoordinationError('ABORTED', `Aborted: ${name} was asked to ${what}`, { cause: signal.reason });
  }
  const detail = error?.metadata?.get(ERROR_DETAIL_KEY)[0];
  if (detail instanceof Uint8Array) return errorOfFailure(decodeErrorDetail(detail).failure, false);
  const code = error?.code === DEADLINE_EXCEEDED ? 'TIMEOUT' : 'CONNECTION_LOST';
  const why = error === null ? 'no answer came' : reasonOf(error);
  return new CoordinationError(code, `Cannot ask ${name} to ${what}: ${why}`, { cause: error ?? undefined });
}
