/** ClusterService: how this member stands, from its own memory, with or without a leader; leadership handed over, and sessions (`session-admin.ts`). */
import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  toStatusResponse,
  type WireMoveLeaderRequest,
  type WireMoveLeaderResponse,
  type WireStatusResponse,
} from '@quorate/protocol/grpc';
import type { CoreAccess } from '../core-access.ts';
import { sessionAdminHandlers } from './session-admin.ts';
import { deadlineOf, failWith, isRefused, type UnaryHandler, waitFor } from './unary.ts';

export function clusterHandlers(core: CoreAccess): UntypedServiceImplementation {
  return { Status: statusHandler(core), MoveLeader: moveLeaderHandler(core), ...sessionAdminHandlers(core) };
}

function statusHandler(core: CoreAccess): UnaryHandler<object, WireStatusResponse> {
  return (_, callback) => {
    const status = core.status();
    if (status !== undefined) callback(null, toStatusResponse(status));
    else isRefused(core, callback);
  };
}

function moveLeaderHandler(core: CoreAccess): UnaryHandler<WireMoveLeaderRequest, WireMoveLeaderResponse> {
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const { toSid } = call.request;
    const callId = waitFor(core, call, {
      answer: ({ result, zxid }) => {
        if (result.kind === 'error') failWith(callback, result, zxid);
      },
      leaderMoved: (leaderSid) => callback(null, { leaderSid }),
    });
    core.post({
      kind: 'moveLeader',
      callId,
      to: toSid === 0 ? undefined : toSid,
      deadlineMs: deadlineOf(call),
    });
  };
}
