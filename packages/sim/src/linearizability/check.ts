/**
 * Is what clients saw linearizable? Writes, syncs and linearizable reads must look as if each had happened at one moment
 * between its call and its result; a call of unknown outcome may have happened at any time after it was made, or not at
 * all. Ordinary reads of a stream must not go back behind what the stream has seen. Nothing but the clients' history is
 * looked at. Not verified: lists of children, NOT_EMPTY (they need more than one znode at a time).
 */
import { describeHistoryCall, fateOfCall, type History, type HistoryCall } from './history.ts';
import { type Part, partition } from './partition.ts';
import { type Model, search } from './search.ts';
import { describeZnode, type ZnodeState, znodeModel } from './znode-model.ts';

export type LinearizabilityVerdict =
  | { readonly kind: 'linearizable'; readonly steps: number; readonly paths: number }
  /** `message`: which znode, and which calls have no place. */
  | { readonly kind: 'violation'; readonly path: string; readonly message: string }
  /** The search was given up. Not a proof of anything: count it as a failure to check. */
  | { readonly kind: 'undecided'; readonly path: string; readonly message: string };

/** Placements tried for one znode before the search is given up, for each of its operations and as a base. */
const STEPS_BASE = 2_000_000;

export interface LinearizabilityOptions {
  /** Most placements to try for one znode; default two million and ten for each operation. */
  readonly stepsMax?: number;
}

/** Checks a whole history. The calls may be in any order. */
export function checkLinearizable(history: History, options: LinearizabilityOptions = {}): LinearizabilityVerdict {
  const back = wentBack(history);
  if (back !== undefined) return back;
  let steps = 0;
  const parts = partition(history);
  for (const part of parts) {
    const stepsMax = options.stepsMax ?? STEPS_BASE + 10 * part.operations.length;
    const verdict = checkPart(part, stepsMax);
    if (typeof verdict !== 'number') return verdict;
    steps += verdict;
  }
  return { kind: 'linearizable', steps, paths: parts.length };
}

function checkPart({ path, initial, operations }: Part, stepsMax: number): LinearizabilityVerdict | number {
  const znode = znodeModel(initial);
  const model: Model<ZnodeState, Part['operations'][number]['op']> = {
    ...znode,
    apply: (state, op) => znode.apply(state, op.znode),
    isPure: (op) => znode.isPure(op.znode),
    signatureOf: (op) => znode.signatureOf(op.znode),
  };
  const found = search(model, operations, stepsMax);
  if (found.kind === 'linearizable') return found.steps;
  if (found.kind === 'undecided') {
    const message = `${path}: no answer after ${found.steps} steps over ${operations.length} operations`;
    return { kind: 'undecided', path, message };
  }
  const stuck = found.stuck.map(({ op }) =>
    op.call === undefined ? 'end of a session' : describeHistoryCall(op.call),
  );
  const message = `${path}: after ${describeZnode(found.state)}, none of these can come next:\n  ${stuck.join('\n  ')}`;
  return { kind: 'violation', path, message };
}

/** The first result that shows its stream an older state than an earlier result did. */
function wentBack(history: History): LinearizabilityVerdict | undefined {
  const seen = new Map<string, HistoryCall & { readonly zxid: bigint }>();
  const returned = history.filter(({ returnedAt }) => returnedAt !== undefined);
  for (const call of returned.sort((a, b) => (a.returnedAt ?? 0) - (b.returnedAt ?? 0))) {
    const { stream, zxid, op } = call;
    const fate = fateOfCall(call);
    if (stream === undefined || zxid === undefined || (fate !== 'done' && fate !== 'refused')) continue;
    const before = seen.get(stream);
    if (before !== undefined && zxid < before.zxid) {
      const path = 'path' in op ? op.path : '';
      const message = `${describeHistoryCall(call)} shows 0x${zxid.toString(16)}; before, ${describeHistoryCall(before)} showed 0x${before.zxid.toString(16)}`;
      return { kind: 'violation', path, message };
    }
    seen.set(stream, { ...call, zxid });
  }
  return undefined;
}
