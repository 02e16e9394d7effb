/**
 * What a write says about single znodes: what it does to each when it was done or may have been, and what its refusal shows. A
 * multi does all at one moment, so what it does to one znode is one step of that znode, however many of its parts concern it.
 */
import type { CreateOrSetOp, MultiPart, SetAclOp } from '@quorate/protocol';
import { partsOf } from '../calls.ts';
import { fateOfCall, type HistoryCall, type SeenPart } from './history.ts';
import type { Sight, ZnodeOp } from './znode-model.ts';

/** What must be known of the whole history. */
export interface Known {
  /** Parents of sequential znodes whose number is known: their creates are counted. */
  readonly counting: ReadonlySet<string>;
  /** The number that stands for the data. */
  readonly valueOf: (data: Uint8Array | undefined) => number;
}

type Part = MultiPart | SetAclOp | CreateOrSetOp;
type Add = (path: string, op: ZnodeOp) => void;
type WriteKind = 'create' | 'setData' | 'delete' | 'setAcl' | 'createOrSet' | 'multi';
type Write = HistoryCall & { readonly op: Extract<HistoryCall['op'], { kind: WriteKind }> };

export const SEQUENCE_DIGITS = 10;

export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The parts of a write with their results; undefined where none is known. */
export function seenParts({ op, result }: Write): readonly (readonly [Part, SeenPart | undefined])[] {
  if (result === undefined || result.kind === 'error') return partsOf(op).map((part) => [part, undefined]);
  const results = result.kind === 'multi' ? result.results : [result as SeenPart];
  return partsOf(op).map((part, index) => [part, results[index]]);
}

/** By path, what a write does to it in order when it is done, or takes effect unseen. Nothing for what was refused. */
export function effectsOf(call: Write, known: Known): ReadonlyMap<string, readonly ZnodeOp[]> {
  const effects = new Map<string, ZnodeOp[]>();
  const add: Add = (path, op) => {
    const before = effects.get(path);
    if (before === undefined) effects.set(path, [op]);
    else before.push(op);
  };
  const isDone = fateOfCall(call) === 'done';
  for (const { path } of isDone ? (call.guards ?? []) : []) add(path, { kind: 'see', sight: { exists: true } });
  for (const [part, result] of seenParts(call)) {
    switch (part.kind) {
      case 'create':
        createEffects(call, part, result, known, add);
        break;
      case 'setData': {
        const version = result?.kind === 'setData' ? result.stat?.version : undefined;
        add(part.path, { kind: 'set', value: known.valueOf(part.data), expected: part.expectedVersion, version });
        break;
      }
      case 'delete':
        add(part.path, { kind: 'remove', expected: part.expectedVersion });
        break;
      case 'check':
        if (part.absent === true) add(part.path, { kind: 'see', sight: { exists: false } });
        else add(part.path, { kind: 'see', sight: existsWith(part.expectedVersion) });
        break;
      case 'createOrSet':
        putEffects(call, part, result, known, add);
        break;
      case 'exists':
        if (result?.kind === 'exists') add(part.path, { kind: 'see', sight: sightOfStat(result.stat) });
        break;
      case 'getData': {
        const value = result?.kind === 'getData' ? { value: known.valueOf(result.data) } : {};
        const stat = result?.kind === 'getData' ? result.stat : undefined;
        add(part.path, { kind: 'see', sight: { ...existsWith(stat?.version), ...value } });
        break;
      }
      case 'setAcl':
        // Versions of lists are not followed.
        add(part.path, { kind: 'see', sight: { exists: true } });
        break;
    }
  }
  return effects;
}

function createEffects(
  call: Write,
  part: Extract<Part, { kind: 'create' }>,
  result: SeenPart | undefined,
  known: Known,
  add: Add,
): void {
  const parent = parentOf(part.path);
  if (part.parents === true) ancestorEffects(part.path, known, add);
  const path = result?.kind === 'create' ? result.path : part.sequential ? undefined : part.path;
  if (known.counting.has(parent)) {
    const number = part.sequential && path !== undefined ? Number(path.slice(-SEQUENCE_DIGITS)) : undefined;
    add(parent, { kind: 'child', number });
  } else if (fateOfCall(call) === 'done' && part.parents !== true)
    add(parent, { kind: 'see', sight: { exists: true } });
  if (path !== undefined) add(path, creation(path, part, call.session, known));
}

/** Those of the ancestors that are missing are made; nobody says which those were. */
function ancestorEffects(path: string, known: Known, add: Add): void {
  const ancestors: string[] = [];
  for (let at = parentOf(path); at !== '/'; at = parentOf(at)) ancestors.unshift(at);
  for (const at of ancestors) {
    add(at, { kind: 'ensure', value: known.valueOf(undefined), countsChildren: known.counting.has(at) });
    if (known.counting.has(parentOf(at))) add(parentOf(at), { kind: 'uncount' });
  }
}

function putEffects(call: Write, part: CreateOrSetOp, result: SeenPart | undefined, known: Known, add: Add): void {
  const { path, data, parents } = part;
  const value = known.valueOf(data);
  const create = { kind: 'create', path, data, mode: 'persistent', sequential: false } as const;
  if (result?.kind === 'createOrSet' && !result.created) {
    add(path, { kind: 'set', value, expected: undefined, version: result.stat?.version });
  } else if (result?.kind === 'createOrSet') {
    createEffects(call, { ...create, ...(parents && { parents }) }, { kind: 'create', path }, known, add);
  } else {
    if (parents === true) ancestorEffects(path, known, add);
    if (known.counting.has(parentOf(path))) add(parentOf(path), { kind: 'uncount' });
    add(path, { kind: 'put', value, countsChildren: known.counting.has(path) });
  }
}

/** The create of that very path. */
export function creation(
  path: string,
  { mode, data }: Extract<Part, { kind: 'create' }>,
  session: bigint,
  { counting, valueOf }: Known,
): Extract<ZnodeOp, { kind: 'create' }> {
  const owner = mode === 'ephemeral' ? session : 0n;
  const isTimed = mode === 'container' || mode === 'ttl';
  return { kind: 'create', value: valueOf(data), owner, isTimed, countsChildren: counting.has(path) };
}

/** What a refusal shows of one znode; undefined when it shows nothing that is followed here. */
export function sightOfRefusal(call: Write): readonly [path: string, sight: Sight] | undefined {
  const { op, result } = call;
  if (result?.kind !== 'error' || result.code === 'GUARD_FAILED') return undefined;
  // It may be a guard that may not be read.
  if (result.code === 'NO_AUTH' && (call.guards ?? []).length > 0) return undefined;
  const parts = partsOf(op);
  const index = op.kind === 'multi' ? result.part : 0;
  const part = index === undefined ? undefined : parts[index];
  if (part === undefined) return undefined;
  const shown = sightOfPart(part, result.code);
  // What the parts before it would have done was done to nobody's sight.
  const isTouched = parts.slice(0, index).some(({ path }) => path === shown?.[0] || parentOf(path) === shown?.[0]);
  const isUnsure = isTouched || parts.slice(0, index).some((before) => before.kind === 'create' && before.sequential);
  return isUnsure ? undefined : shown;
}

function sightOfPart(part: Part, code: string): readonly [string, Sight] | undefined {
  // It is said of some ancestor, or of one of two things.
  if ('parents' in part && part.parents === true) return undefined;
  if (part.kind === 'createOrSet') return code === 'NO_NODE' ? [part.path, { exists: false }] : undefined;
  if (part.kind === 'create') return sightOfCreate(part, code);
  const { path } = part;
  switch (code) {
    case 'NO_NODE':
      return [path, { exists: false }];
    case 'BAD_VERSION':
      if (part.kind === 'setAcl' || !('expectedVersion' in part)) return [path, { exists: true }];
      return [path, { exists: true, ...(part.expectedVersion !== undefined && { versionNot: part.expectedVersion }) }];
    case 'NODE_EXISTS':
      // Of a check that it is absent.
      return [path, { exists: true }];
    case 'NOT_EMPTY':
      return [path, existsWith('expectedVersion' in part ? part.expectedVersion : undefined)];
    case 'NO_AUTH':
      return [part.kind === 'delete' ? parentOf(path) : path, { exists: true }];
    default:
      return undefined;
  }
}

function sightOfCreate({ path, sequential }: Extract<MultiPart, { kind: 'create' }>, code: string) {
  const parent = parentOf(path);
  switch (code) {
    case 'NO_NODE':
      return [parent, { exists: false }] as const;
    case 'NO_AUTH':
    case 'QUOTA_EXCEEDED':
      return [parent, { exists: true }] as const;
    case 'NODE_EXISTS':
      return sequential ? undefined : ([path, { exists: true }] as const);
    case 'NO_CHILDREN_FOR_EPHEMERALS':
      return [parent, { exists: true, isEphemeral: true }] as const;
    default:
      return undefined;
  }
}

function sightOfStat(stat: { readonly version?: number } | undefined): Sight {
  return stat === undefined ? { exists: false } : existsWith(stat.version);
}

function existsWith(version: number | undefined): Sight {
  return version === undefined ? { exists: true } : { exists: true, version };
}
