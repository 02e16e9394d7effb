/** How this member stands, for clients and people: what its core says, and what the configuration says of the others. */
import type { MemberStatus } from '@quorate/core';
import type { ClusterStatus } from '@quorate/protocol/grpc';

export function statusOf(
  status: MemberStatus,
  about: Pick<
    ClusterStatus,
    'clusterId' | 'version' | 'members' | 'diskFreeBytes' | 'divergences' | 'lastDivergence' | 'setAside'
  >,
): ClusterStatus {
  return {
    sid: status.sid,
    role: status.role,
    phase: status.phase,
    epoch: status.epoch,
    acceptedEpoch: status.acceptedEpoch,
    leader: status.leader,
    zxid: status.lastZxid,
    committedZxid: status.committed,
    loggedZxid: status.lastLogged,
    flushedZxid: status.lastFlushed,
    serving: status.serving,
    hasQuorum: status.hasQuorum,
    learners: status.learners.map(({ sid, acked, synced, votes }) => ({ sid, ackedZxid: acked, synced, votes })),
    sessions: status.sessions,
    znodes: status.znodes,
    ephemerals: status.ephemerals,
    dataBytes: status.dataBytes,
    outstanding: status.outstanding,
    diskFailed: status.diskFailed,
    digest: status.digest,
    voteRight: status.voteRight ?? 'none',
    waiting: status.waiting ?? '',
    epochTxnsLeft: status.epochTxnsLeft,
    ...about,
  };
}
