/** About the sessions of everybody, for operators: which there are, how each stands, and the end of one. Asks the leader. */
import { toSessionId } from '@quorate/protocol';
import type {
  WireEndSessionResponse,
  WireGetSessionResponse,
  WireListSessionsResponse,
  WireSessionDetails,
} from '@quorate/protocol/grpc';
import { CoordinationError } from './errors.ts';
import type { CallOptions } from './options.ts';
import { listServers } from './servers.ts';
import { findLeader } from './status.ts';
import { callUnary, parseMember, type UnaryMethod } from './unary.ts';

/** How a session stands. */
export interface SessionDetails {
  readonly id: bigint;
  readonly timeoutMs: number;
  /** Number of its ephemeral znodes. */
  readonly ephemerals: number;
  /** sid of the member that it is attached to; undefined when that is not known. */
  readonly member: number | undefined;
  /** It ends after this at the latest when nothing is heard of its client, ms. */
  readonly expiresInMs: number | undefined;
}

const SERVICE = 'quorate.v1.ClusterService';
const PAGE = 1_000;

/**
 * All sessions, by id; each page at the position of the history at which it is asked for. `servers` as for `connect`; the leader is
 * found by asking them. The time of the options is that of each page. Rejects with UNAVAILABLE when no leader is known.
 */
export async function* listSessions(
  servers: string | readonly string[],
  options: CallOptions = {},
): AsyncGenerator<SessionDetails, void, undefined> {
  const about = { service: SERVICE, method: 'ListSessions', what: 'list sessions' };
  let afterId = 0n;
  for (let more = true; more; ) {
    const page = await ask<WireListSessionsResponse>(servers, about, { afterId, limit: PAGE }, options);
    yield* page.sessions.map(toDetails);
    afterId = page.sessions.at(-1)?.id ?? afterId;
    more = page.more && page.sessions.length > 0;
  }
}

/**
 * The session of that id, or the owner of the ephemeral znode at that path, with the paths of its ephemerals, sorted, the first
 * thousand. Rejects with SESSION_EXPIRED when there is none of that id, NO_NODE when there is no ephemeral at that path.
 */
export async function describeSession(
  servers: string | readonly string[],
  which: bigint | string,
  options: CallOptions = {},
): Promise<SessionDetails & { readonly paths: readonly string[] }> {
  const about = { service: SERVICE, method: 'GetSession', what: 'describe a session' };
  const request = typeof which === 'string' ? { ephemeralPath: which } : { id: which };
  const { session, ephemeralPaths } = await ask<WireGetSessionResponse>(servers, about, request, options);
  if (session === null) throw new CoordinationError('INTERNAL', 'The answer has no session');
  return { ...toDetails(session), paths: [...ephemeralPaths] };
}

/**
 * Ends a session, whoever has it: its ephemerals are deleted at the same position of the history, and its client is told that it has
 * expired. Returns that position. Rejects with SESSION_EXPIRED when there is none of that id.
 */
export async function endSession(
  servers: string | readonly string[],
  id: bigint,
  options: CallOptions = {},
): Promise<bigint> {
  const about = { service: SERVICE, method: 'EndSession', what: 'end a session' };
  return (await ask<WireEndSessionResponse>(servers, about, { id: toSessionId(id) }, options)).zxid;
}

async function ask<Response extends object>(
  servers: string | readonly string[],
  about: UnaryMethod,
  request: object,
  options: CallOptions,
): Promise<Response> {
  const leader = await findLeader(listServers(servers), about.what, options);
  return callUnary<Response>(parseMember(leader.server), about, request, options);
}

function toDetails({ id, sessionTimeoutMs, ephemerals, memberSid, expiresInMs }: WireSessionDetails): SessionDetails {
  return { id, timeoutMs: sessionTimeoutMs, ephemerals, member: memberSid, expiresInMs };
}
