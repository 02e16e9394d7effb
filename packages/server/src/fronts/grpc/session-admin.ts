/** The part of ClusterService that is about sessions: which there are, how each stands, and the end of one. For operators. */
import type { sendUnaryData, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { SessionDetails, SessionInspector } from '@quorate/core';
import { formatSessionId, NO_SESSION, pathFault, toSessionId } from '@quorate/protocol';
import type {
  WireEndSessionRequest,
  WireEndSessionResponse,
  WireGetSessionRequest,
  WireGetSessionResponse,
  WireListSessionsRequest,
  WireListSessionsResponse,
  WireSessionDetails,
} from '@quorate/protocol/grpc';
import type { CoreAccess } from '../core-access.ts';
import { deadlineOf, failWith, isRefused, type UnaryHandler, waitFor } from './unary.ts';

/** Most paths of ephemerals that are shown of one session. */
const EPHEMERALS_MAX = 1_000;

/** Sessions of a page when nothing is said. */
const PAGE_DEFAULT = 100;

export function sessionAdminHandlers(core: CoreAccess): UntypedServiceImplementation {
  return { ListSessions: listHandler(core), GetSession: getHandler(core), EndSession: endHandler(core) };
}

function listHandler(core: CoreAccess): UnaryHandler<WireListSessionsRequest, WireListSessionsResponse> {
  return (call, callback) => {
    const inspector = inspectorOf(core, callback);
    if (inspector === undefined) return;
    const { afterId, limit } = call.request;
    const { sessions, more, zxid } = inspector.page(toSessionId(afterId), limit === 0 ? PAGE_DEFAULT : limit);
    callback(null, { sessions: sessions.map(toWire), more, zxid });
  };
}

function getHandler(core: CoreAccess): UnaryHandler<WireGetSessionRequest, WireGetSessionResponse> {
  return (call, callback) => {
    const inspector = inspectorOf(core, callback);
    if (inspector === undefined) return;
    const { id, ephemeralPath: path } = call.request;
    const { zxid } = inspector;
    const fault = path === '' ? undefined : pathFault(path);
    if ((id === 0n) === (path === '') || fault !== undefined) {
      const message = `Name a session or one of its ephemerals${fault === undefined ? '' : `: ${fault}`}`;
      return failWith(callback, { code: 'INVALID_ARGUMENT', path: undefined, message }, zxid);
    }
    const session = path === '' ? toSessionId(id) : inspector.ownerOf(path);
    if (session === undefined) {
      return failWith(callback, { code: 'NO_NODE', path, message: `There is no ephemeral znode ${path}` }, zxid);
    }
    const details = inspector.get(session);
    if (details === undefined) {
      const message = `There is no session ${formatSessionId(session)}`;
      return failWith(callback, { code: 'SESSION_EXPIRED', path: undefined, message }, zxid);
    }
    const ephemeralPaths = inspector.ephemeralsOf(session, EPHEMERALS_MAX);
    callback(null, { session: toWire(details), ephemeralPaths, zxid });
  };
}

function endHandler(core: CoreAccess): UnaryHandler<WireEndSessionRequest, WireEndSessionResponse> {
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const session = toSessionId(call.request.id);
    if (session === NO_SESSION) {
      const failure = { code: 'INVALID_ARGUMENT', path: undefined, message: 'No session is named' } as const;
      return failWith(callback, failure, core.appliedZxid());
    }
    const callId = waitFor(core, call, {
      answer({ result, zxid }) {
        if (result.kind === 'error') failWith(callback, result, zxid);
        else callback(null, { zxid });
      },
    });
    core.post({ kind: 'endSession', callId, session, deadlineMs: deadlineOf(call) });
  };
}

/** Undefined when the member cannot answer; the call has been ended then. */
function inspectorOf(core: CoreAccess, callback: sendUnaryData<never>): SessionInspector | undefined {
  if (isRefused(core, callback)) return undefined;
  const inspector = core.sessions();
  if (inspector !== undefined && core.status()?.serving === true) return inspector;
  const message = 'This member follows no leader, and what it has is not recent enough to show';
  failWith(callback, { code: 'UNAVAILABLE', path: undefined, message }, core.appliedZxid());
  return undefined;
}

function toWire({ id, timeoutMs, ephemeralCount, member, expiresInMs }: SessionDetails): WireSessionDetails {
  return {
    id,
    sessionTimeoutMs: timeoutMs,
    ephemerals: ephemeralCount,
    ...(member === undefined ? {} : { memberSid: member }),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}
