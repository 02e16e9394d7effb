/**
 * What can be said about an operation without the tree: checked where it comes in, before anything is forwarded, and
 * again by the leader, which does not rely on another member's check. Source: reference §4.3 and §5.1, case C005.
 * A departure from ZooKeeper: a bad path is INVALID_ARGUMENT also when its parent does not exist.
 */
import {
  ACL_ENTRIES_MAX,
  type Acl,
  type CheckOp,
  type CreateOrSetOp,
  GUARDS_MAX,
  type Guard,
  MULTI_PARTS_MAX,
  type MultiOp,
  type MultiPart,
  type MultiReadOp,
  NO_SESSION,
  type Op,
  PATH_BYTES_MAX,
  pathFault,
  REQUEST_BYTES_MAX,
  type SessionId,
  TTL_MAX_MS,
  unreachable,
  utf8Length,
} from '@quorate/protocol';
import { isTtl } from '../tree/lifetime.ts';
import { ancestorsCost } from './ordered-op.ts';
import { type Refusal, refusal } from './refusal.ts';

/** Znodes that the tree starts with; they cannot be deleted. */
const PROTECTED: ReadonlySet<string> = new Set(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config']);

/** Stands for the ten digits that a sequential create appends: `/a/` is legal when `/a/0000000000` is. */
const ANY_SUFFIX = '0000000000';

/** What a part of a multi takes beside its path and data. */
const PART_BYTES = 16;

const INT32_MIN = -0x8000_0000;
const INT32_MAX = 0x7fff_ffff;

/** Why `op` of `session` can never succeed, or undefined when only the tree can tell. */
export function opFault(op: Op | CheckOp, session: SessionId): Refusal | undefined {
  switch (op.kind) {
    case 'create':
      if (op.mode === 'ephemeral' && session === NO_SESSION) {
        return bad(op.path, `Cannot create ${shown(op.path)}: an ephemeral znode needs a session`);
      }
      return (
        modeRefusal(op) ??
        pathRefusal('create', op.path, op.sequential ? ANY_SUFFIX : '') ??
        sizeRefusal('create', op.path, op.data) ??
        aclRefusal(op) ??
        parentsRefusal(op)
      );
    case 'createOrSet':
      return (
        pathRefusal('set', op.path) ?? sizeRefusal('set', op.path, op.data) ?? aclRefusal(op) ?? parentsRefusal(op)
      );
    case 'delete':
      return pathRefusal('delete', op.path) ?? protectedRefusal(op.path) ?? versionRefusal(op.path, op.expectedVersion);
    case 'deleteSubtree':
      return pathRefusal('delete', op.path) ?? protectedRefusal(op.path);
    case 'setData':
      return (
        pathRefusal('set', op.path) ??
        versionRefusal(op.path, op.expectedVersion) ??
        sizeRefusal('set', op.path, op.data)
      );
    case 'setAcl':
      return pathRefusal('set the ACL of', op.path) ?? versionRefusal(op.path, op.expectedVersion) ?? aclRefusal(op);
    case 'check':
      return pathRefusal('check', op.path) ?? absentRefusal(op) ?? versionRefusal(op.path, op.expectedVersion);
    case 'multi':
    case 'multiRead':
      return multiRefusal(op);
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getAcl':
    case 'getAllChildrenNumber':
      return pathRefusal('read', op.path);
    case 'listChildren':
    case 'getSubtree':
      return pathRefusal('list', op.path) ?? (op.kind === 'listChildren' ? afterRefusal(op.path, op.after) : undefined);
    case 'getEphemerals':
      // Any characters may be a prefix: of what begins with them there is something or nothing.
      return session === NO_SESSION
        ? bad(undefined, 'Cannot list ephemerals: no session was named')
        : longRefusal('list ephemerals of', op.path);
    case 'addWatch':
    case 'checkWatches':
    case 'removeWatches':
      // Any text can be watched: of one that is no path nothing is ever told.
      return longRefusal('watch', op.path);
    case 'setWatches':
      return undefined;
    case 'sync':
      return longRefusal('sync', op.path);
    case 'closeSession':
      return session === NO_SESSION ? refusal('INVALID_ARGUMENT', 'Cannot close a session: none was named') : undefined;
    default:
      return unreachable(op);
  }
}

/** Only what the wire between members could not carry; the rest is `access.ts`'s, in its place. */
function aclRefusal({ path, acl = [] }: { readonly path: string; readonly acl?: Acl }): Refusal | undefined {
  if (acl.length <= ACL_ENTRIES_MAX) return undefined;
  return refusal(
    'INVALID_ACL',
    `The ACL of ${shown(path)} has ${acl.length} entries, at most ${ACL_ENTRIES_MAX} are legal`,
    path,
  );
}

function afterRefusal(path: string, after: string): Refusal | undefined {
  if (after.includes('/')) return bad(path, `Cannot list ${shown(path)} after ${shown(after)}: it is no name`);
  return longRefusal('list after', after);
}

/** What the creates of all ancestors may take in one txn. */
function parentsRefusal({ path, acl, parents }: Pick<CreateOrSetOp, 'path' | 'acl' | 'parents'>): Refusal | undefined {
  if (parents !== true) return undefined;
  const bytes = ancestorsCost(path, acl);
  if (bytes <= REQUEST_BYTES_MAX) return undefined;
  const message = `its ancestors could take ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are legal`;
  return bad(path, `Cannot create ${shown(path)} with them: ${message}`);
}

/** The same of a part of a multi. */
export function partFault(op: MultiPart, session: SessionId): Refusal | undefined {
  if (op.kind === 'create' && op.parents === true) {
    return bad(
      op.path,
      `Cannot create the ancestors of ${shown(op.path)} in a part of a multi: give each its own part`,
    );
  }
  return opFault(op, session);
}

/** As a whole. The form of a part is judged in its turn, for a part before it may fail first. */
function multiRefusal({ kind, parts }: MultiOp | MultiReadOp): Refusal | undefined {
  if (parts.length > MULTI_PARTS_MAX) {
    return bad(undefined, `Cannot do a ${kind} of ${parts.length} parts: at most ${MULTI_PARTS_MAX} are legal`);
  }
  let bytes = 0;
  for (const op of parts) bytes += PART_BYTES + utf8Length(op.path) + ('data' in op ? (op.data?.length ?? 0) : 0);
  if (bytes <= REQUEST_BYTES_MAX) return undefined;
  return bad(undefined, `Cannot do a ${kind} of ${bytes} bytes: at most ${REQUEST_BYTES_MAX} are legal`);
}

function modeRefusal({ path, mode, ttlMs, sequential }: Extract<Op, { kind: 'create' }>): Refusal | undefined {
  if (mode === 'container' && sequential) {
    return bad(path, `Cannot create ${shown(path)}: a container cannot be sequential`);
  }
  if (mode !== 'ttl') {
    return ttlMs === undefined ? undefined : bad(path, `Cannot create ${shown(path)}: only mode ttl has a TTL`);
  }
  if (ttlMs !== undefined && isTtl(ttlMs)) return undefined;
  return bad(path, `Cannot create ${shown(path)}: a TTL is from 1 to ${TTL_MAX_MS} ms, not ${ttlMs}`);
}

function absentRefusal({ path, expectedVersion, absent }: CheckOp): Refusal | undefined {
  if (absent !== true || expectedVersion === undefined) return undefined;
  return bad(path, `Cannot check that ${shown(path)} is absent and has version ${expectedVersion}`);
}

/** What is wrong with the form of the guards, or undefined. */
export function guardsFault(guards: readonly Guard[]): Refusal | undefined {
  if (guards.length > GUARDS_MAX) {
    return bad(undefined, `Cannot take a write with ${guards.length} guards: at most ${GUARDS_MAX} are legal`);
  }
  for (const { path } of guards) {
    const fault = pathRefusal('guard with', path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function pathRefusal(action: string, path: string, suffix = ''): Refusal | undefined {
  const fault = pathFault(path + suffix);
  if (fault !== undefined) return bad(path, `Cannot ${action} ${shown(path)}: ${fault}`);
  return longRefusal(action, path + suffix);
}

function longRefusal(action: string, path: string): Refusal | undefined {
  // A code unit takes at most three bytes, so short paths need no counting.
  if (path.length * 3 <= PATH_BYTES_MAX) return undefined;
  const bytes = utf8Length(path);
  if (bytes <= PATH_BYTES_MAX) return undefined;
  return bad(
    undefined,
    `Cannot ${action} ${shown(path)}: the path has ${bytes} bytes, at most ${PATH_BYTES_MAX} are legal`,
  );
}

function sizeRefusal(action: string, path: string, data: Uint8Array | undefined): Refusal | undefined {
  if (data === undefined) return undefined;
  const bytes = data.length + utf8Length(path);
  if (bytes <= REQUEST_BYTES_MAX) return undefined;
  return bad(path, `Cannot ${action} ${shown(path)}: it has ${bytes} bytes, at most ${REQUEST_BYTES_MAX} are legal`);
}

function protectedRefusal(path: string): Refusal | undefined {
  return PROTECTED.has(path) ? bad(path, `Cannot delete ${path}: it is part of every tree`) : undefined;
}

function versionRefusal(path: string, version: number | undefined): Refusal | undefined {
  if (version === undefined || (Number.isInteger(version) && version >= INT32_MIN && version <= INT32_MAX))
    return undefined;
  return bad(path, `Cannot expect version ${version} of ${shown(path)}: it is not a 32-bit number`);
}

function bad(path: string | undefined, message: string): Refusal {
  return refusal('INVALID_ARGUMENT', message, path);
}

/** A path as it can stand in a message: no longer than a line, nothing that a terminal would obey. */
function shown(path: string): string {
  const short = path.length > 200 ? `${path.slice(0, 200)}...` : path;
  return JSON.stringify(short);
}
