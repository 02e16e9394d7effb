/** Several reads at once: what the caller asks for, and what came of each, in the words of the public face. */
import { type MultiReadOp, type ReadPart, type ReadPartResult, unreachable } from '@quorate/protocol';
import type { Read, ReadResult } from './api.ts';
import { type CoordinationError, errorOfFailure } from './errors.ts';
import type { Chroot } from './paths.ts';
import { makeZnode } from './znode.ts';

const KINDS = { get: 'getData', stat: 'exists', children: 'getChildren' } as const satisfies Record<
  Read['op'],
  ReadPart['kind']
>;

/** Throws TypeError for what is no list of reads, INVALID_ARGUMENT for a path that is not legal. */
export function toMultiRead(reads: readonly Read[], chroot: Chroot): MultiReadOp {
  if (!Array.isArray(reads)) throw new TypeError(`reads must be a list, not ${typeof reads}`);
  const parts = reads.map((read) => {
    const op: unknown = (read as Partial<Read> | undefined)?.op;
    if (typeof op !== 'string' || !Object.hasOwn(KINDS, op)) {
      throw new TypeError(`a read must have the op 'get', 'stat' or 'children', not ${JSON.stringify(op)}`);
    }
    return { kind: KINDS[op as Read['op']], path: chroot.inward((read as Read).path) };
  });
  return { kind: 'multiRead', parts };
}

/** What came of `read`. `outward` gives an error the path that the caller knows. */
export function toReadResult(
  { op, path }: Read,
  result: ReadPartResult,
  outward: (error: CoordinationError) => CoordinationError,
): ReadResult {
  switch (result.kind) {
    case 'getData':
      return { op: 'get', node: makeZnode(path, result.data, result.stat) };
    case 'exists':
      return { op: 'stat', stat: result.stat };
    case 'getChildren':
      return { op: 'children', children: [...result.children], stat: result.stat };
    case 'error':
      if (op === 'stat' && result.code === 'NO_NODE') return { op, stat: undefined };
      return { op, error: outward(errorOfFailure(result, false)) };
    default:
      return unreachable(result);
  }
}
