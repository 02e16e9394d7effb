/** About the ensemble, without a session: how a member stands, and who is to lead. */
import type { ClusterStatus, WireMoveLeaderResponse, WireStatusResponse } from '@quorate/protocol/grpc';
import { CoordinationError } from './errors.ts';
import type { CallOptions } from './options.ts';
import { listServers } from './servers.ts';
import { callUnary, parseMember } from './unary.ts';

export type { ClusterStatus };

/** Leadership before and after. */
export interface MovedLeader {
  readonly from: number;
  readonly to: number;
}

/** How long members are asked who leads, ms. */
const ASK_MS = 1_000;

const SERVICE = 'quorate.v1.ClusterService';

/**
 * How the member at `server` (`host:port`) stands. Throws TypeError or RangeError for a server or options that are not
 * legal; rejects with CONNECTION_LOST when it cannot be reached, TIMEOUT when it does not answer in time.
 */
export async function memberStatus(server: string, options: CallOptions = {}): Promise<ClusterStatus> {
  const about = { service: SERVICE, method: 'Status', what: 'tell its status' };
  const response = await callUnary<WireStatusResponse>(parseMember(server), about, {}, options);
  const { readStatusResponse } = await import('@quorate/protocol/grpc');
  return readStatusResponse(response);
}

/**
 * Has the leader hand leadership over to the voter `to`, or to the one that is furthest. Writes wait meanwhile and none fails
 * because of it. `servers` as for `connect`; the leader is found by asking them. Rejects with INVALID_ARGUMENT (no such member, an
 * observer, it leads already) or UNAVAILABLE (no leader is known, the target is not synchronized or did not come in time).
 */
export async function moveLeader(
  servers: string | readonly string[],
  options: CallOptions & { readonly to?: number | undefined } = {},
): Promise<MovedLeader> {
  const { to, ...rest } = options;
  if (to !== undefined && !(Number.isInteger(to) && to >= 1 && to <= 254)) {
    throw new RangeError(`to must be a sid from 1 to 254, not ${to}`);
  }
  const leader = await findLeader(listServers(servers), 'move the lead', rest);
  const about = { service: SERVICE, method: 'MoveLeader', what: 'hand leadership over' };
  const response = await callUnary<WireMoveLeaderResponse>(parseMember(leader.server), about, { toSid: to ?? 0 }, rest);
  return { from: leader.sid, to: response.leaderSid };
}

/** The leader's sid and client address: as it says itself, or as one that follows it says. */
export async function findLeader(
  servers: readonly string[],
  what: string,
  options: CallOptions,
): Promise<{ readonly sid: number; readonly server: string }> {
  const asking = { ...options, timeoutMs: Math.min(ASK_MS, options.timeoutMs ?? ASK_MS) };
  const asked = await Promise.allSettled(
    servers.map(async (server) => ({ server, status: await memberStatus(server, asking) })),
  );
  const answered = asked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const leading = answered.find(({ status }) => status.role === 'leading');
  if (leading !== undefined) return { sid: leading.status.sid, server: leading.server };
  const [failed] = asked;
  if (answered.length === 0 && failed?.status === 'rejected') throw failed.reason;
  for (const { status } of answered) {
    const known = status.members.find(({ sid }) => sid === status.leader);
    if (known !== undefined && known.clientAddress !== '') return { sid: known.sid, server: known.clientAddress };
  }
  const sid = answered.find(({ status }) => status.leader !== undefined)?.status.leader;
  throw new CoordinationError(
    'UNAVAILABLE',
    sid === undefined
      ? `Cannot ${what}: no member that answered knows a leader`
      : `Cannot ${what}: member ${sid} leads, and its address is not known; name it among the servers`,
  );
}
