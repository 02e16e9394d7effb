/** Answers from the tree: what a read gets, and what a write gets once its txn has been applied. Copies no data. */
import {
  type Answer,
  assert,
  formatZxid,
  type Identity,
  MULTI_READ_BYTES_MAX,
  type MultiReadOp,
  NO_SESSION,
  OPEN_ACL,
  PERMS,
  type ReadOp,
  type ReadPartResult,
  type SessionId,
  type SingleReadOp,
  unreachable,
  utf8Length,
  type Zxid,
} from '@quorate/protocol';
import { answerOf } from '../tree/answer.ts';
import type { DataTree } from '../tree/data-tree.ts';
import type { Txn } from '../tree/txn.ts';
import type { Znode } from '../tree/znode.ts';
import { maskedAcl, mayAccess } from './access.ts';
import { type Refusal, refusal, refused } from './refusal.ts';
import { opFault } from './validate.ts';

/** What a part of a multiRead takes in a reply beside texts and data, bytes, at most. */
const PART_BYTES = 192;

/** The answer to a read, from the tree as it is now. `listBytesMax`: bytes of the longest list of names that can be handed on. */
export function readAnswer(
  tree: DataTree,
  op: ReadOp,
  session: SessionId,
  identities: readonly Identity[],
  listBytesMax = Number.POSITIVE_INFINITY,
): Answer {
  return op.kind === 'multiRead' ? readAll(tree, op, identities) : readOne(tree, op, session, identities, listBytesMax);
}

/** Each part by itself, all from the same tree: nothing is applied between them. Ends at the first that makes it too long. */
function readAll(tree: DataTree, { kind, parts }: MultiReadOp, identities: readonly Identity[]): Answer {
  const zxid = tree.lastZxid;
  const results: ReadPartResult[] = [];
  let bytes = 0;
  for (const part of parts) {
    const left = MULTI_READ_BYTES_MAX - bytes;
    const fault = opFault(part, NO_SESSION);
    const answer = fault === undefined ? readOne(tree, part, NO_SESSION, identities, left) : refused(fault, zxid);
    const result = answer.result as ReadPartResult;
    // A list that does not fit is not even made.
    const isTooLong = fault === undefined && result.kind === 'error' && result.code === 'INVALID_ARGUMENT';
    bytes += isTooLong ? left + 1 : partBytes(result, left);
    if (bytes > MULTI_READ_BYTES_MAX) {
      const read = `${parts.length} reads, of which ${results.length} fit into`;
      const message = `Cannot answer ${read} ${MULTI_READ_BYTES_MAX} bytes: ask for fewer at once`;
      return refused(refusal('INVALID_ARGUMENT', message), zxid);
    }
    results.push(result);
  }
  return { zxid, result: { kind, results } };
}

/** Bytes of the result in a reply, never less than it takes; not counted further than `most`. */
function partBytes(result: ReadPartResult, most: number): number {
  if (result.kind === 'getData') return PART_BYTES + (result.data?.length ?? 0);
  if (result.kind === 'error') return PART_BYTES + utf8Length(result.message) + utf8Length(result.path ?? '');
  let bytes = PART_BYTES;
  for (const name of result.kind === 'getChildren' ? result.children : []) {
    if (bytes > most) break;
    bytes += 4 + utf8Length(name);
  }
  return bytes;
}

function readOne(
  tree: DataTree,
  op: SingleReadOp,
  session: SessionId,
  identities: readonly Identity[],
  listBytesMax: number,
): Answer {
  if (op.kind === 'getEphemerals') {
    return { zxid: tree.lastZxid, result: { kind: op.kind, paths: ephemeralsOf(tree, session, op.path) } };
  }
  const zxid = tree.lastZxid;
  const znode = tree.znode(op.path);
  if (znode === undefined)
    return refused(refusal('NO_NODE', `Cannot read ${op.path}: it does not exist`, op.path), zxid);
  const wanted = op.kind === 'getAcl' ? PERMS.READ | PERMS.ADMIN : PERMS.READ;
  if (!mayAccess(znode, wanted, identities)) {
    const message = `Cannot read ${op.path}: the caller does not have the right ${op.kind === 'getAcl' ? 'READ or ADMIN' : 'READ'}`;
    return refused(refusal('NO_AUTH', message, op.path), zxid);
  }
  const stat = znode.stat();
  switch (op.kind) {
    case 'exists':
      return { zxid, result: { kind: 'exists', stat } };
    case 'getData':
      return { zxid, result: { kind: 'getData', data: tree.data(op.path), stat } };
    case 'getChildren':
      if (znode.leastListBytes > listBytesMax) return refused(tooLong(znode), zxid);
      return { zxid, result: { kind: 'getChildren', children: tree.children(op.path) ?? [], stat } };
    case 'getAcl': {
      const acl = znode.acl ?? OPEN_ACL;
      const shown = mayAccess(znode, PERMS.ADMIN, identities) ? acl : maskedAcl(acl);
      return { zxid, result: { kind: 'getAcl', acl: shown, stat } };
    }
    case 'getAllChildrenNumber':
      return { zxid, result: { kind: op.kind, total: tree.descendantCount(op.path) } };
    default:
      return unreachable(op);
  }
}

/** Said before a list is made that nobody could be sent. */
function tooLong({ path, childCount, leastListBytes }: Znode): Refusal {
  const what = `Cannot list the ${childCount} children of ${path} in one piece: they take ${leastListBytes} bytes or more`;
  return refusal('INVALID_ARGUMENT', `${what}; ask for pages`, path);
}

function ephemeralsOf(tree: DataTree, session: SessionId, prefix: string): readonly string[] {
  const paths = [...(tree.sessions.get(session)?.ephemerals ?? [])];
  return (prefix === '' || prefix === '/' ? paths : paths.filter((path) => path.startsWith(prefix))).sort();
}

/** The answer to a write whose txn is the last that was applied. */
export function writeAnswer(tree: DataTree, zxid: Zxid, txn: Txn): Answer {
  assert(
    tree.lastZxid === zxid,
    () => `P1: write ${formatZxid(zxid)} is answered at ${formatZxid(tree.lastZxid)}, not when it is applied`,
  );
  return answerOf(tree, zxid, txn);
}
