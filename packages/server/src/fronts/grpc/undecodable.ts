/**
 * Requests of unary calls that are no messages of ours. grpc-js answers them INTERNAL, as if the fault were the server's, and
 * without our detail; here they become INVALID_ARGUMENT with MARSHALLING_ERROR, like any other bad input. Streams are not
 * concerned: what cannot be decoded ends them.
 */
import type {
  handleUnaryCall,
  MethodDefinition,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Zxid } from '@quorate/protocol';
import { failWith } from './unary.ts';

/** Stands for a request that could not be decoded, on its way from the codec to the handler. */
class Undecodable {
  readonly reason: string;

  constructor(thrown: unknown) {
    this.reason = thrown instanceof Error ? thrown.message : String(thrown);
  }
}

type AnyMethod = MethodDefinition<unknown, unknown>;

const isUnary = ({ requestStream, responseStream }: AnyMethod): boolean => !requestStream && !responseStream;

/** `service`, whose unary methods hand on what cannot be decoded. Its handlers must be `answerUndecodable`'s. */
export function keepUndecodable(service: ServiceDefinition): ServiceDefinition {
  return mapValues(service, (method: AnyMethod) =>
    isUnary(method) ? { ...method, requestDeserialize: decodeOrKeep(method.requestDeserialize) } : method,
  );
}

/** `handlers` of unary methods, which see only what could be decoded; the rest is answered here. `applied` is told with it. */
export function answerUndecodable(
  handlers: UntypedServiceImplementation,
  applied: () => Zxid,
): UntypedServiceImplementation {
  return mapValues(
    handlers,
    (handler: UntypedHandleCall): handleUnaryCall<unknown, never> =>
      (call, callback) => {
        if (!(call.request instanceof Undecodable)) return (handler as handleUnaryCall<unknown, never>)(call, callback);
        const message = `Cannot decode the request: ${call.request.reason}`;
        return failWith(callback, { code: 'MARSHALLING_ERROR', path: undefined, message }, applied());
      },
  );
}

function decodeOrKeep(decode: (bytes: Buffer) => unknown): (bytes: Buffer) => unknown {
  return (bytes) => {
    try {
      return decode(bytes);
    } catch (thrown) {
      return new Undecodable(thrown);
    }
  };
}

function mapValues<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}
