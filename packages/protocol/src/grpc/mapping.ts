/**
 * The one mapping between the unary requests and responses on the wire and the words of the domain. The calls and
 * replies of a session stream go straight from bytes to the same words in `frames`; a test holds the two together.
 * Knows no grpc-js: what a server must put into a status and its metadata is given as plain data.
 */
import { ERRORS } from '../errors.ts';
import { encodeErrorDetail } from '../frames/error-detail.ts';
import type { CallFault } from '../frames/frame.ts';
import type { ListingOp, ListingResult } from '../listing.ts';
import type {
  Answer,
  CreateMode,
  Guard,
  MultiPart,
  Op,
  OpFailure,
  ReadPart,
  SingleReadOp,
  SingleWriteOp,
} from '../op.ts';
import { type SessionId, toSessionId } from '../session-id.ts';
import type { Stat } from '../stat.ts';
import { toZxid, type Zxid } from '../zxid.ts';
import { toResponse } from './responses.ts';
import type {
  WireCreateOrSetRequest,
  WireCreateRequest,
  WireDeleteRequest,
  WireDeleteSubtreeRequest,
  WireEphemeralsRequest,
  WireGetSubtreeRequest,
  WireGuard,
  WireListChildrenRequest,
  WireListedZnode,
  WireMultiPart,
  WireMultiReadPart,
  WireMultiReadRequest,
  WireMultiRequest,
  WireReadRequest,
  WireSession,
  WireSetAclRequest,
  WireSetDataRequest,
  WireStat,
  WireSyncRequest,
  WireZnodeResponse,
} from './wire-types.ts';

/** A session that a unary call names, and its proof. */
export interface SessionProof {
  readonly id: SessionId;
  readonly token: Uint8Array;
}

/** A unary call in the words of the domain. */
export interface UnaryCall {
  readonly op: Op | CallFault;
  readonly linearizable: boolean;
  readonly session: SessionProof | undefined;
  readonly guards: readonly Guard[];
}

/** What a failed unary call ends with. */
export interface UnaryFailure {
  /** gRPC status number. */
  readonly status: number;
  /** Text of the status. */
  readonly details: string;
  /** Bytes for the trailing metadata key ERROR_DETAIL_KEY. */
  readonly detail: Uint8Array;
}

/** A call that no session and no guard is named for. */
const UNBOUND = { session: null, guards: [] };

/** From each method of ZnodeService to the call that it makes. Keys are the method names of the protos. */
export const ZNODE_CALLS = {
  Create: (request: WireCreateRequest): UnaryCall => writeCall(toCreate(request), request),
  Delete: (request: WireDeleteRequest): UnaryCall => writeCall(toDelete(request), request),
  Exists: (request: WireReadRequest): UnaryCall => readCall('exists', request),
  GetData: (request: WireReadRequest): UnaryCall => readCall('getData', request),
  SetData: (request: WireSetDataRequest): UnaryCall => writeCall(toSetData(request), request),
  GetChildren: (request: WireReadRequest): UnaryCall => readCall('getChildren', request),
  GetEphemerals: ({ pathPrefix, linearizable, session }: WireEphemeralsRequest): UnaryCall => ({
    op: { kind: 'getEphemerals', path: pathPrefix },
    linearizable,
    session: toSessionProof(session),
    guards: NO_GUARDS,
  }),
  GetAllChildrenNumber: (request: WireReadRequest): UnaryCall => readCall('getAllChildrenNumber', request),
  ListChildren: (request: WireListChildrenRequest): UnaryCall =>
    listingCall({ kind: 'listChildren', ...toWish(request), after: request.after }, request),
  GetSubtree: (request: WireGetSubtreeRequest): UnaryCall =>
    listingCall({ kind: 'getSubtree', ...toWish(request), depth: request.maxDepth }, request),
  Sync: ({ path }: WireSyncRequest): UnaryCall => writeCall({ kind: 'sync', path }, UNBOUND),
  SetAcl: (request: WireSetAclRequest): UnaryCall => writeCall(toSetAcl(request), request),
  GetAcl: (request: WireReadRequest): UnaryCall => readCall('getAcl', request),
  CreateOrSet: (request: WireCreateOrSetRequest): UnaryCall => writeCall(toCreateOrSet(request), request),
  DeleteSubtree: (request: WireDeleteSubtreeRequest): UnaryCall => writeCall(toDeleteSubtree(request), request),
  Multi: (request: WireMultiRequest): UnaryCall => writeCall(toMulti(request), request),
  MultiRead: (request: WireMultiReadRequest): UnaryCall => ({
    op: toMultiRead(request),
    linearizable: request.linearizable,
    session: undefined,
    guards: NO_GUARDS,
  }),
} as const;

/** Name of a method of ZnodeService. */
export type ZnodeMethod = keyof typeof ZNODE_CALLS;

/** The session that a request names; undefined when it names none. */
export function toSessionProof(session: WireSession | null): SessionProof | undefined {
  return session === null ? undefined : { id: toSessionId(session.id), token: session.token };
}

/** The response to a unary call of the operation `op`, or the failure to end it with. */
export function toUnaryResponse(op: Op['kind'], answer: Answer): WireZnodeResponse | UnaryFailure {
  const { result, zxid } = answer;
  if (result.kind !== 'error') return toResponse(result, zxid);
  if (op === 'exists' && result.code === 'NO_NODE') return { stat: null, zxid };
  return toUnaryFailure(result, zxid);
}

/** Status, text and detail of a failure; `zxid` is the position in the history that it reflects. */
export function toUnaryFailure(failure: Omit<OpFailure, 'kind'>, zxid: Zxid): UnaryFailure {
  return {
    status: ERRORS[failure.code].grpc,
    details: `${failure.code}: ${failure.message}`,
    detail: encodeErrorDetail(failure, zxid),
  };
}

export function isUnaryFailure(value: WireZnodeResponse | UnaryFailure): value is UnaryFailure {
  return 'status' in value;
}

/** Throws RangeError when a zxid in it is negative. */
export function toStat(stat: WireStat): Stat {
  return {
    ...stat,
    czxid: toZxid(stat.czxid),
    mzxid: toZxid(stat.mzxid),
    pzxid: toZxid(stat.pzxid),
    ctimeMs: Number(stat.ctimeMs),
    mtimeMs: Number(stat.mtimeMs),
    ephemeralOwner: toSessionId(stat.ephemeralOwner),
  };
}

/** What a write may be bound to. */
interface Bound {
  readonly session: WireSession | null;
  readonly guards: readonly WireGuard[];
}

const NO_GUARDS: readonly Guard[] = [];

function writeCall(op: Op | CallFault, { session, guards }: Bound): UnaryCall {
  const negative = guards.find(({ czxid }) => czxid < 0n);
  if (negative !== undefined) {
    const message = `The guard ${negative.path} has ${negative.czxid} in the place of a zxid`;
    return writeCall({ kind: 'fault', code: 'INVALID_ARGUMENT', message }, { session, guards: [] });
  }
  const wanted = guards.map(({ path, czxid }) => ({ path, czxid: toZxid(czxid) }));
  return { op, linearizable: false, session: toSessionProof(session), guards: wanted };
}

function toDelete({ path, expectedVersion }: WireDeleteRequest): SingleWriteOp {
  return { kind: 'delete', path, expectedVersion };
}

function toSetData({ path, data, expectedVersion }: WireSetDataRequest): SingleWriteOp {
  return { kind: 'setData', path, data, expectedVersion };
}

function toDeleteSubtree({ path, limit }: WireDeleteSubtreeRequest): Op {
  return limit === 0 ? { kind: 'deleteSubtree', path } : { kind: 'deleteSubtree', path, limit };
}

function toSetAcl({ path, acl, expectedVersion }: WireSetAclRequest): Op {
  return { kind: 'setAcl', path, acl, expectedVersion };
}

function toMulti({ parts: wanted }: WireMultiRequest): Op | CallFault {
  const parts: MultiPart[] = [];
  for (const [index, wire] of wanted.entries()) {
    const part = toPart(wire, index);
    if (part.kind === 'fault') return part;
    parts.push(part);
  }
  return { kind: 'multi', parts };
}

function toPart(wire: WireMultiPart, index: number): MultiPart | CallFault {
  if (wire.create) return toCreate(wire.create);
  if (wire.delete) return toDelete(wire.delete);
  if (wire.setData) return toSetData(wire.setData);
  if (wire.check) {
    const { path, expectedVersion, absent } = wire.check;
    return { kind: 'check', path, expectedVersion, ...(absent && { absent }) };
  }
  if (wire.exists) return { kind: 'exists', path: wire.exists.path };
  if (wire.getData) return { kind: 'getData', path: wire.getData.path };
  return unknownPart(index);
}

function toMultiRead({ parts: wanted }: WireMultiReadRequest): Op | CallFault {
  const parts: ReadPart[] = [];
  for (const [index, wire] of wanted.entries()) {
    const part = toReadPart(wire);
    if (part === undefined) return unknownPart(index);
    parts.push(part);
  }
  return { kind: 'multiRead', parts };
}

function toReadPart({ exists, getData, getChildren }: WireMultiReadPart): ReadPart | undefined {
  if (exists) return { kind: 'exists', path: exists.path };
  if (getData) return { kind: 'getData', path: getData.path };
  return getChildren ? { kind: 'getChildren', path: getChildren.path } : undefined;
}

function unknownPart(index: number): CallFault {
  return { kind: 'fault', code: 'UNIMPLEMENTED', message: `Part ${index} is nothing that is known here` };
}

function readCall(kind: Exclude<SingleReadOp['kind'], 'getEphemerals'>, request: WireReadRequest): UnaryCall {
  return {
    op: { kind, path: request.path },
    linearizable: request.linearizable,
    session: undefined,
    guards: NO_GUARDS,
  };
}

/** What both kinds of listing have in common. */
function toWish({ path, withStat, withData, limit, pageToken, end }: Omit<WireListChildrenRequest, 'after'>) {
  const token = pageToken.length === 0 ? undefined : new Uint8Array(pageToken);
  return { path, withStat, withData, limit, token, isEnd: end };
}

function listingCall(op: ListingOp, { linearizable }: { readonly linearizable: boolean }): UnaryCall {
  return { op, linearizable, session: undefined, guards: NO_GUARDS };
}

/** The page that a response has. Throws RangeError when a zxid in it is negative. */
export function toListingResult(kind: ListingOp['kind'], response: WireZnodeResponse): ListingResult {
  const { children, znodes, stat, listingZxid = 0n, nextPageToken = NO_TOKEN } = response;
  const listed = (kind === 'listChildren' ? children : znodes) as readonly WireListedZnode[] | undefined;
  const entries = (listed ?? []).map(({ name, stat: own, data }) => ({
    name,
    stat: own === null ? undefined : toStat(own),
    data: data && new Uint8Array(data),
  }));
  const top = stat === null || stat === undefined ? undefined : toStat(stat);
  const next = nextPageToken.length === 0 ? undefined : new Uint8Array(nextPageToken);
  return { kind, entries, top, at: toZxid(listingZxid), next };
}

const NO_TOKEN = new Uint8Array(0);

const MODES = new Map<string | number, CreateMode>([
  ['CREATE_MODE_UNSPECIFIED', 'persistent'],
  ['CREATE_MODE_PERSISTENT', 'persistent'],
  ['CREATE_MODE_EPHEMERAL', 'ephemeral'],
  ['CREATE_MODE_CONTAINER', 'container'],
  ['CREATE_MODE_TTL', 'ttl'],
]);

function toCreate(request: WireCreateRequest): SingleWriteOp | CallFault {
  const { path, data, sequential } = request;
  const mode = MODES.get(request.mode);
  if (mode === undefined) {
    const message = `Cannot create ${path}: mode ${request.mode} is not known`;
    return { kind: 'fault', code: 'INVALID_ARGUMENT', message };
  }
  const op = { kind: 'create', path, data, mode, sequential } as const;
  // Exact where it matters: what is past 2^53 is far past the longest TTL either way.
  const ttlMs = Number(request.ttlMs ?? 0n);
  const lives = mode === 'ttl' || ttlMs !== 0 ? { ...op, ttlMs } : op;
  const owned = request.acl.length === 0 ? lives : { ...lives, acl: request.acl };
  return request.createParents ? { ...owned, parents: true } : owned;
}

function toCreateOrSet({ path, data, acl, createParents }: WireCreateOrSetRequest): Op {
  const op = { kind: 'createOrSet', path, data } as const;
  return { ...op, ...(acl.length > 0 && { acl }), ...(createParents && { parents: true }) };
}
