/**
 * One znode as a register: is it there, with which version, data and owner, and how many children it has ever had. What a
 * call means for one path, and what its result says about it.
 */
import type { Model } from './search.ts';

/** Undefined: the znode is not there. */
export interface Znode {
  readonly version: number;
  /** Stands for the data. Data that no result ever showed are all the same here. */
  readonly value: number;
  /** Session; 0n for a persistent one. */
  readonly owner: bigint;
  /** A container or one with a TTL: the ensemble may delete it by itself. */
  readonly isTimed: boolean;
  /** Children ever created; undefined when nothing depends on it. */
  readonly creates: number | undefined;
}

export type ZnodeState = Znode | 'absent';

/** What a result says: fields that are absent are not checked. */
export interface Sight {
  readonly exists: boolean;
  readonly version?: number;
  /** A version that it does not have. */
  readonly versionNot?: number;
  readonly value?: number;
  readonly owner?: bigint;
  /** It belongs to some session. */
  readonly isEphemeral?: true;
}

export type ZnodeOp =
  | {
      readonly kind: 'create';
      readonly value: number;
      readonly owner: bigint;
      readonly isTimed: boolean;
      readonly countsChildren: boolean;
    }
  | {
      readonly kind: 'set';
      readonly value: number;
      readonly expected: number | undefined;
      /** The new version, when it was answered. */
      readonly version: number | undefined;
    }
  | { readonly kind: 'remove'; readonly expected: number | undefined }
  /** Is set when it is there, else created. */
  | { readonly kind: 'put'; readonly value: number; readonly countsChildren: boolean }
  /** Is created when it is not there. */
  | { readonly kind: 'ensure'; readonly value: number; readonly countsChildren: boolean }
  /** A child may have been created: what number the next one gets is not known any more. */
  | { readonly kind: 'uncount' }
  /** A session ends: its ephemeral goes. */
  | { readonly kind: 'end'; readonly session: bigint }
  /** Its time is over. */
  | { readonly kind: 'reap' }
  /** A child is created; `number`: what the counter gave it, when it is known. */
  | { readonly kind: 'child'; readonly number: number | undefined }
  /** Changes nothing. */
  | { readonly kind: 'see'; readonly sight: Sight }
  /** What a multi does here, all at one moment. */
  | { readonly kind: 'all'; readonly ops: readonly ZnodeOp[] };

function apply(state: ZnodeState, op: ZnodeOp): ZnodeState | undefined {
  if (op.kind === 'all') return applyAll(state, op.ops);
  if (op.kind === 'see') return fits(state, op.sight) ? state : undefined;
  if (op.kind === 'end') return state !== 'absent' && state.owner === op.session ? 'absent' : state;
  if (op.kind === 'reap') return state !== 'absent' && state.isTimed ? 'absent' : state;
  if (op.kind === 'put' || op.kind === 'ensure') return applyPut(state, op);
  if (op.kind === 'create') {
    const { value, owner, isTimed, countsChildren } = op;
    if (state !== 'absent') return undefined;
    return { version: 0, value, owner, isTimed, creates: countsChildren ? 0 : undefined };
  }
  if (state === 'absent') return undefined;
  if (op.kind === 'uncount') return { ...state, creates: undefined };
  if (op.kind === 'child') {
    const { creates } = state;
    const number = op.number ?? creates;
    if (creates !== undefined && creates !== number) return undefined;
    return number === undefined ? state : { ...state, creates: number + 1 };
  }
  if (op.expected !== undefined && op.expected !== state.version) return undefined;
  if (op.kind === 'remove') return 'absent';
  const version = state.version + 1;
  if (op.version !== undefined && op.version !== version) return undefined;
  return { ...state, version, value: op.value };
}

function applyPut(state: ZnodeState, op: Extract<ZnodeOp, { kind: 'put' | 'ensure' }>): ZnodeState {
  const { kind, value, countsChildren } = op;
  if (state === 'absent')
    return { version: 0, value, owner: 0n, isTimed: false, creates: countsChildren ? 0 : undefined };
  return kind === 'ensure' ? state : { ...state, version: state.version + 1, value };
}

function applyAll(state: ZnodeState, ops: readonly ZnodeOp[]): ZnodeState | undefined {
  let at: ZnodeState = state;
  for (const op of ops) {
    const after = apply(at, op);
    if (after === undefined) return undefined;
    at = after;
  }
  return at;
}

function fits(state: ZnodeState, sight: Sight): boolean {
  if (state === 'absent') return !sight.exists;
  return (
    sight.exists &&
    (sight.version === undefined || sight.version === state.version) &&
    (sight.versionNot === undefined || sight.versionNot !== state.version) &&
    (sight.value === undefined || sight.value === state.value) &&
    (sight.owner === undefined || sight.owner === state.owner) &&
    (sight.isEphemeral === undefined || state.owner !== 0n)
  );
}

function keyOf(state: ZnodeState): string {
  if (state === 'absent') return state;
  const { version, value, owner, isTimed, creates } = state;
  return `${version} ${value} ${owner}${isTimed ? 't' : ''} ${creates ?? ''}`;
}

function signatureOf(op: ZnodeOp): string {
  return op.kind === 'all' ? op.ops.map(signatureOf).join('; ') : Object.values(op).map(String).join(' ');
}

/** The model of one znode. `initial`: what it is before the first call. */
export function znodeModel(initial: ZnodeState): Model<ZnodeState, ZnodeOp> {
  return {
    initial,
    apply,
    keyOf,
    isPure: (op) => op.kind === 'see' || (op.kind === 'all' && op.ops.every(({ kind }) => kind === 'see')),
    signatureOf,
  };
}

export function describeZnode(state: ZnodeState): string {
  if (state === 'absent') return 'no znode';
  const owner = state.owner === 0n ? '' : `, of session 0x${state.owner.toString(16)}`;
  const creates = state.creates === undefined ? '' : `, ${state.creates} children so far`;
  return `version ${state.version}${owner}${creates}`;
}
