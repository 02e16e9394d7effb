/**
 * The shapes of requests and responses as proto-loader hands them out and takes them, with the options of load.ts.
 * Written by hand: the generator of proto-loader says `string` or Long where we have bigint, and the shapes are few.
 * The test of the mapping sends each through the real encoder, so they cannot drift from the protos unseen.
 */

export interface WireSession {
  readonly id: bigint;
  readonly token: Uint8Array;
}

export interface WireStat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  readonly pzxid: bigint;
  readonly ctimeMs: bigint;
  readonly mtimeMs: bigint;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
}

export interface WireGuard {
  readonly path: string;
  readonly czxid: bigint;
}

export interface WireAclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export interface WireSetAclRequest {
  readonly path: string;
  readonly acl: readonly WireAclEntry[];
  readonly expectedVersion?: number;
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

export interface WireCreateRequest {
  readonly path: string;
  readonly data?: Uint8Array;
  /** The name of a CreateMode, or the number of one that the protos do not have. */
  readonly mode: string | number;
  readonly sequential: boolean;
  readonly session: WireSession | null;
  readonly ttlMs: bigint;
  readonly guards: readonly WireGuard[];
  readonly acl: readonly WireAclEntry[];
  readonly createParents: boolean;
}

export interface WireDeleteSubtreeRequest {
  readonly path: string;
  readonly limit: number;
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

export interface WireCreateOrSetRequest {
  readonly path: string;
  readonly data?: Uint8Array;
  readonly session: WireSession | null;
  readonly acl: readonly WireAclEntry[];
  readonly createParents: boolean;
  readonly guards: readonly WireGuard[];
}

export interface WireDeleteRequest {
  readonly path: string;
  readonly expectedVersion?: number;
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

export interface WireSetDataRequest {
  readonly path: string;
  readonly data?: Uint8Array;
  readonly expectedVersion?: number;
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

export interface WireCheckRequest {
  readonly path: string;
  readonly expectedVersion?: number;
  readonly absent: boolean;
}

/** `op` names the field that is there. */
export interface WireMultiPart {
  readonly op?: string;
  readonly create?: WireCreateRequest | null;
  readonly delete?: WireDeleteRequest | null;
  readonly setData?: WireSetDataRequest | null;
  readonly check?: WireCheckRequest | null;
  readonly exists?: WireReadRequest | null;
  readonly getData?: WireReadRequest | null;
}

export interface WireMultiRequest {
  readonly parts: readonly WireMultiPart[];
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

/** One field at most is there. */
export interface WireMultiPartResult {
  readonly create?: { readonly path: string; readonly stat: WireStat; readonly zxid: bigint };
  readonly delete?: { readonly zxid: bigint };
  readonly setData?: { readonly stat: WireStat; readonly zxid: bigint };
  readonly check?: object;
  readonly exists?: { readonly stat: WireStat | null; readonly zxid: bigint };
  readonly getData?: WireData;
}

/** GetDataResponse. */
export interface WireData {
  readonly data?: Uint8Array;
  readonly stat: WireStat;
  readonly zxid: bigint;
}

/** One field at most is there. */
export interface WireMultiReadPart {
  readonly exists?: WireReadRequest | null;
  readonly getData?: WireReadRequest | null;
  readonly getChildren?: WireReadRequest | null;
}

export interface WireMultiReadRequest {
  readonly parts: readonly WireMultiReadPart[];
  readonly linearizable: boolean;
}

export interface WireErrorDetail {
  readonly code: string;
  readonly zookeeperCode: number;
  readonly path?: string;
  readonly message: string;
  readonly outcome: string;
  readonly zxid: bigint;
}

/** One field at most is there. */
export interface WireMultiReadPartResult {
  readonly exists?: { readonly stat: WireStat; readonly zxid: bigint };
  readonly getData?: WireData;
  readonly getChildren?: { readonly children: readonly string[]; readonly stat: WireStat; readonly zxid: bigint };
  readonly error?: WireErrorDetail;
}

/** ExistsRequest, GetDataRequest, GetChildrenRequest. */
export interface WireReadRequest {
  readonly path: string;
  readonly linearizable: boolean;
}

/** ListChildrenRequest. */
export interface WireListChildrenRequest {
  readonly path: string;
  readonly linearizable: boolean;
  readonly withStat: boolean;
  readonly withData: boolean;
  readonly limit: number;
  readonly pageToken: Uint8Array;
  readonly end: boolean;
  readonly after: string;
}

/** GetSubtreeRequest. */
export interface WireGetSubtreeRequest extends Omit<WireListChildrenRequest, 'after'> {
  readonly maxDepth?: number;
}

export interface WireListedZnode {
  readonly name: string;
  readonly stat: WireStat | null;
  readonly data?: Uint8Array;
}

export interface WireEphemeralsRequest {
  readonly pathPrefix: string;
  readonly linearizable: boolean;
  readonly session: WireSession | null;
}

export interface WireSyncRequest {
  readonly path: string;
}

/** Every field that some unary response of ZnodeService has. */
export interface WireZnodeResponse {
  readonly path?: string;
  readonly data?: Uint8Array;
  readonly children?: readonly string[] | readonly WireListedZnode[];
  readonly znodes?: readonly WireListedZnode[];
  readonly listingZxid?: bigint;
  readonly nextPageToken?: Uint8Array;
  readonly paths?: readonly string[];
  readonly total?: number;
  readonly created?: boolean;
  readonly deleted?: number;
  readonly more?: boolean;
  readonly stat?: WireStat | null;
  readonly results?: readonly (WireMultiPartResult | WireMultiReadPartResult)[];
  readonly acl?: readonly WireAclEntry[];
  readonly zxid: bigint;
}

export interface WireOpenRequest {
  readonly sessionTimeoutMs: number;
}

export interface WireOpenResponse {
  readonly session: WireSession | null;
  readonly sessionTimeoutMs: number;
  readonly zxid: bigint;
}

/** KeepAliveRequest, CloseRequest. */
export interface WireSessionRequest {
  readonly session: WireSession | null;
}

export interface WireKeepAliveResponse {
  readonly sessionTimeoutMs: number;
  readonly zxid: bigint;
}

export interface WireCloseResponse {
  readonly zxid: bigint;
}

export interface WireMember {
  readonly sid: number;
  readonly kind: string;
  readonly peerAddress: string;
  readonly clientAddress: string;
}

export interface WireLearner {
  readonly sid: number;
  readonly ackedZxid: bigint;
  readonly synced: boolean;
  readonly votes: boolean;
}

export interface WireMoveLeaderRequest {
  readonly toSid: number;
}

export interface WireMoveLeaderResponse {
  readonly leaderSid: number;
}

export interface WireStatusResponse {
  readonly sid: number;
  readonly role: string;
  readonly phase: string;
  readonly epoch: number;
  readonly acceptedEpoch: number;
  readonly leaderSid?: number;
  readonly zxid: bigint;
  readonly committedZxid: bigint;
  readonly loggedZxid: bigint;
  readonly flushedZxid: bigint;
  readonly serving: boolean;
  readonly hasQuorum: boolean;
  readonly members: readonly WireMember[];
  readonly learners: readonly WireLearner[];
  readonly sessions: bigint;
  readonly znodes: bigint;
  readonly ephemerals: bigint;
  readonly dataBytes: bigint;
  readonly outstanding: bigint;
  readonly digest: bigint;
  readonly clusterId: string;
  readonly version: string;
  readonly diskFailed?: string;
  readonly diskFreeBytes?: bigint;
  readonly epochTxnsLeft: number;
  readonly divergences: number;
  readonly lastDivergence?: string;
  readonly setAside?: string;
  readonly voteRight: string;
  readonly waiting: string;
}

export interface WireSessionDetails {
  readonly id: bigint;
  readonly sessionTimeoutMs: number;
  readonly ephemerals: number;
  readonly memberSid?: number;
  readonly expiresInMs?: number;
}

export interface WireListSessionsRequest {
  readonly afterId: bigint;
  readonly limit: number;
}

export interface WireListSessionsResponse {
  readonly sessions: readonly WireSessionDetails[];
  readonly more: boolean;
  readonly zxid: bigint;
}

export interface WireGetSessionRequest {
  readonly id: bigint;
  readonly ephemeralPath: string;
}

export interface WireGetSessionResponse {
  readonly session: WireSessionDetails | null;
  readonly ephemeralPaths: readonly string[];
  readonly zxid: bigint;
}

export interface WireEndSessionRequest {
  readonly id: bigint;
}

export interface WireEndSessionResponse {
  readonly zxid: bigint;
}
