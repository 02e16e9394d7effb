/** How a member stands, in the words of the domain, and its mapping to ClusterService.Status. */
import type { Sid } from '../session-id.ts';
import { type Epoch, toZxid, type Zxid } from '../zxid.ts';
import type { WireStatusResponse } from './wire-types.ts';

export type Role = 'looking' | 'following' | 'leading' | 'observing';
/** Of a configured voter; `none` on an observer. */
export type VoteRight = 'none' | 'unformed' | 'held' | 'recovering';
export type Phase = 'election' | 'discovery' | 'synchronization' | 'broadcast';

/** A member as configured. Addresses are host:port, empty when there is none or it is not known. */
export interface MemberInfo {
  readonly sid: Sid;
  readonly kind: 'voter' | 'observer';
  readonly peerAddress: string;
  readonly clientAddress: string;
}

/** What the leader knows of one that learns from it. */
export interface LearnerInfo {
  readonly sid: Sid;
  readonly ackedZxid: Zxid;
  readonly synced: boolean;
  readonly votes: boolean;
}

/** The fields of StatusResponse; the proto says what each means. */
export interface ClusterStatus {
  readonly sid: Sid;
  readonly role: Role;
  readonly phase: Phase;
  readonly epoch: Epoch;
  readonly acceptedEpoch: Epoch;
  readonly leader: Sid | undefined;
  readonly zxid: Zxid;
  readonly committedZxid: Zxid;
  readonly loggedZxid: Zxid;
  readonly flushedZxid: Zxid;
  readonly serving: boolean;
  readonly hasQuorum: boolean;
  readonly members: readonly MemberInfo[];
  readonly learners: readonly LearnerInfo[];
  readonly sessions: number;
  readonly znodes: number;
  readonly ephemerals: number;
  readonly dataBytes: number;
  readonly outstanding: number;
  /** 64 bits, unsigned. */
  readonly digest: bigint;
  readonly clusterId: string;
  readonly version: string;
  /** Why the disk failed; undefined while it works. */
  readonly diskFailed: string | undefined;
  /** Undefined when it is not known. */
  readonly diskFreeBytes: number | undefined;
  /** How often this process left service because its memory was not what the ensemble agreed on. */
  readonly divergences: number;
  readonly lastDivergence: string | undefined;
  /** While it recovers its vote: where its former data was set aside, and why. Undefined when there was none. */
  readonly setAside: string | undefined;
  readonly voteRight: VoteRight;
  readonly waiting: string;
  readonly epochTxnsLeft: number;
}

const ROLES = {
  looking: 'ROLE_LOOKING',
  following: 'ROLE_FOLLOWING',
  leading: 'ROLE_LEADING',
  observing: 'ROLE_OBSERVING',
} as const satisfies Record<Role, string>;

const PHASES = {
  election: 'PHASE_ELECTION',
  discovery: 'PHASE_DISCOVERY',
  synchronization: 'PHASE_SYNCHRONIZATION',
  broadcast: 'PHASE_BROADCAST',
} as const satisfies Record<Phase, string>;

const VOTE_RIGHTS = {
  none: 'VOTE_RIGHT_UNSPECIFIED',
  unformed: 'VOTE_RIGHT_UNFORMED',
  held: 'VOTE_RIGHT_HELD',
  recovering: 'VOTE_RIGHT_RECOVERING',
} as const satisfies Record<VoteRight, string>;

const KINDS = {
  voter: 'MEMBER_KIND_VOTER',
  observer: 'MEMBER_KIND_OBSERVER',
} as const satisfies Record<MemberInfo['kind'], string>;

export function toStatusResponse(status: ClusterStatus): WireStatusResponse {
  const { leader, diskFailed, diskFreeBytes, lastDivergence, setAside, ...rest } = status;
  return {
    ...rest,
    ...(leader === undefined ? {} : { leaderSid: leader }),
    ...(diskFailed === undefined ? {} : { diskFailed }),
    ...(diskFreeBytes === undefined ? {} : { diskFreeBytes: BigInt(diskFreeBytes) }),
    ...(lastDivergence === undefined ? {} : { lastDivergence }),
    ...(setAside === undefined ? {} : { setAside }),
    role: ROLES[status.role],
    phase: PHASES[status.phase],
    voteRight: VOTE_RIGHTS[status.voteRight],
    members: status.members.map((member) => ({ ...member, kind: KINDS[member.kind] })),
    sessions: BigInt(status.sessions),
    znodes: BigInt(status.znodes),
    ephemerals: BigInt(status.ephemerals),
    dataBytes: BigInt(status.dataBytes),
    outstanding: BigInt(status.outstanding),
    digest: BigInt.asUintN(64, status.digest),
  };
}

/** Throws RangeError for a role, phase, kind or zxid that this build does not know. */
export function readStatusResponse(response: WireStatusResponse): ClusterStatus {
  return {
    sid: response.sid,
    role: keyOf(ROLES, response.role),
    phase: keyOf(PHASES, response.phase),
    epoch: response.epoch,
    acceptedEpoch: response.acceptedEpoch,
    leader: response.leaderSid,
    zxid: toZxid(response.zxid),
    committedZxid: toZxid(response.committedZxid),
    loggedZxid: toZxid(response.loggedZxid),
    flushedZxid: toZxid(response.flushedZxid),
    serving: response.serving,
    hasQuorum: response.hasQuorum,
    members: response.members.map((member) => ({ ...member, kind: keyOf(KINDS, member.kind) })),
    learners: response.learners.map((learner) => ({ ...learner, ackedZxid: toZxid(learner.ackedZxid) })),
    sessions: Number(response.sessions),
    znodes: Number(response.znodes),
    ephemerals: Number(response.ephemerals),
    dataBytes: Number(response.dataBytes),
    outstanding: Number(response.outstanding),
    digest: response.digest,
    clusterId: response.clusterId,
    version: response.version,
    diskFailed: response.diskFailed,
    diskFreeBytes: response.diskFreeBytes === undefined ? undefined : Number(response.diskFreeBytes),
    divergences: response.divergences,
    lastDivergence: response.lastDivergence,
    setAside: response.setAside,
    voteRight: keyOf(VOTE_RIGHTS, response.voteRight),
    waiting: response.waiting,
    epochTxnsLeft: response.epochTxnsLeft,
  };
}

function keyOf<K extends string>(table: Readonly<Record<K, string>>, value: string): K {
  const key = (Object.keys(table) as K[]).find((candidate) => table[candidate] === value);
  if (key === undefined) throw new RangeError(`${value} is not known here`);
  return key;
}
