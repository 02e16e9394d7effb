/** The face of `@quorate/client`. */
export type {
  Acl,
  AclEntry,
  Client,
  Consistency,
  CreateMode,
  CreateOptions,
  DeleteOptions,
  DeleteSubtreeOptions,
  EphemeralsOptions,
  Guard,
  Identity,
  Read,
  ReadOptions,
  ReadResult,
  SetOptions,
  Transaction,
  TxnResult,
  WriteOptions,
} from './api.ts';
export { connect } from './connect.ts';
export { CoordinationError, type ErrorCode, isCode, type Outcome } from './errors.ts';
export type { ListedZnode, Listing, ListingOptions, ListOptions, WalkOptions } from './listing.ts';
export type { Auth, CallOptions, ConnectOptions, Logger, RetryOptions } from './options.ts';
export {
  deleteQuota,
  getQuota,
  listQuotas,
  type Quota,
  type QuotaLimits,
  type QuotaUsage,
  setQuota,
} from './quotas.ts';
export { listServers } from './servers.ts';
export type { Session } from './session.ts';
export { describeSession, endSession, listSessions, type SessionDetails } from './session-admin.ts';
export type { SessionState } from './session-state.ts';
export { type Reader, sessionlessReader } from './sessionless.ts';
export { type ClusterStatus, type MovedLeader, memberStatus, moveLeader } from './status.ts';
export type { Watch, WatchEvent, WatchOptions } from './watch.ts';
export type { Data, Stat, Znode } from './znode.ts';
