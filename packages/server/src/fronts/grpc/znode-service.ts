/** ZnodeService: unary calls on znodes. Each becomes one call of the core, with the deadline of the RPC. */
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { FRAME_BYTES_MAX, NO_SESSION } from '@quorate/protocol';
import {
  isUnaryFailure,
  toUnaryResponse,
  type UnaryCall,
  type WireZnodeResponse,
  ZNODE_CALLS,
  type ZnodeMethod,
} from '@quorate/protocol/grpc';
import type { CoreAccess } from '../core-access.ts';
import { sized } from './reply-size.ts';
import { deadlineOf, fail, failWith, identitiesOfCall, isRefused, type UnaryHandler, waitFor } from './unary.ts';

/** The handlers, by method name. */
export function znodeHandlers(core: CoreAccess): UntypedServiceImplementation {
  const methods = Object.keys(ZNODE_CALLS) as ZnodeMethod[];
  return Object.fromEntries(methods.map((method) => [method, handlerOf(core, method)]));
}

function handlerOf(core: CoreAccess, method: ZnodeMethod): UnaryHandler<object, WireZnodeResponse> {
  const read = ZNODE_CALLS[method] as (request: never) => UnaryCall;
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const { op, linearizable, session, guards } = read(call.request as never);
    if (op.kind === 'fault') {
      failWith(callback, { code: op.code, path: undefined, message: op.message }, core.appliedZxid());
      return;
    }
    const identities = identitiesOfCall(core, call, callback);
    if (identities === undefined) return;
    const callId = waitFor(core, call, {
      answer(answer) {
        const response = toUnaryResponse(op.kind, sized(answer).answer);
        if (isUnaryFailure(response)) fail(callback, response);
        else callback(null, response);
      },
    });
    core.post({
      kind: 'call',
      call: {
        callId,
        session: session?.id ?? NO_SESSION,
        attachment: 0,
        token: session?.token,
        op,
        guards,
        identities,
        linearizable,
        listBytesMax: FRAME_BYTES_MAX,
        deadlineMs: deadlineOf(call),
      },
    });
  };
}
