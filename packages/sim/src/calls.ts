/** The calls of a run and what became of each. Order is that of the observations: "before" is a smaller number. */
import type {
  Answer,
  CreateOrSetOp,
  DeleteSubtreeOp,
  ErrorCode,
  MultiOp,
  MultiPart,
  MultiReadOp,
  Op,
  OpFailure,
  SetAclOp,
  WriteOp,
} from '@quorate/protocol';
import type { CallView, Observation, SessionOp } from './observation.ts';

export interface CallRecord {
  readonly call: CallView;
  readonly calledAt: number;
  answer: Answer | undefined;
  answeredAt: number | undefined;
  /** How many answers came; more than one is a fault. */
  answers: number;
  /** The client gave up: its stream, member or session is gone. */
  isAbandoned: boolean;
  /** Of several copies of one numbered write: see `CallBook.meant`. */
  readonly isRepeated?: boolean;
}

/**
 * What an answer says about its call.
 *
 * done: it succeeded · refused: the tree did not allow it, which is a fact about the history at the answer's zxid ·
 * not-done: it surely took no effect, for reasons outside the tree · unknown: nothing is said, or nothing was heard
 */
export type Fate = 'done' | 'refused' | 'not-done' | 'unknown';

const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'NO_NODE',
  'NODE_EXISTS',
  'BAD_VERSION',
  'NOT_EMPTY',
  'NO_CHILDREN_FOR_EPHEMERALS',
  'GUARD_FAILED',
  'NO_AUTH',
  'INVALID_ACL',
  'QUOTA_EXCEEDED',
]);

const UNKNOWN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['OUTCOME_UNKNOWN', 'DEADLINE_EXCEEDED', 'INTERNAL']);

export function fateOf(answer: Answer | undefined): Fate {
  return fateOfResult(answer?.result);
}

/** The same for a result alone; undefined: nothing was heard. */
export function fateOfResult(result: { readonly kind: string } | OpFailure | undefined): Fate {
  if (result === undefined) return 'unknown';
  if (!('code' in result)) return 'done';
  if (REFUSALS.has(result.code)) return 'refused';
  return UNKNOWN.has(result.code) ? 'unknown' : 'not-done';
}

/** Writes that name all that they change: not the end of a subtree. */
export type NamingWrite = Exclude<WriteOp, DeleteSubtreeOp>;

/** True for what the leader orders and a session numbers. */
export function isWrite(op: Op | SessionOp): op is WriteOp {
  switch (op.kind) {
    case 'create':
    case 'delete':
    case 'setData':
    case 'setAcl':
    case 'createOrSet':
    case 'deleteSubtree':
    case 'multi':
      return true;
    default:
      return false;
  }
}

/** The changes and checks that a write asks for: those of a multi, or itself. The end of a subtree names none. */
export function partsOf(op: WriteOp): readonly (MultiPart | SetAclOp | CreateOrSetOp)[] {
  if (op.kind === 'deleteSubtree') return [];
  return op.kind === 'multi' ? op.parts : [op];
}

/** A call in words, for messages. */
export function describeCall({ call, answer }: CallRecord): string {
  const path = 'path' in call.op ? ` ${call.op.path}` : 'parts' in call.op ? ` ${partsText(call.op)}` : '';
  const outcome = answer === undefined ? 'no answer' : answer.result.kind === 'error' ? answer.result.code : 'ok';
  return `call ${call.callId} (${call.op.kind}${path} at member ${call.sid}, session 0x${call.session.toString(16)}: ${outcome})`;
}

/** The parts of a multi or multiRead in words. */
export function partsText({ parts }: MultiOp | MultiReadOp): string {
  return `[${parts.map(({ kind, path }) => `${kind} ${path}`).join(', ')}]`;
}

export class CallBook {
  /** By callId, in the order of the calls. */
  readonly all = new Map<number, CallRecord>();
  #at = 0;

  /** The number of the last observation. */
  get now(): number {
    return this.#at;
  }

  /**
   * The calls as their clients mean them: all copies of a numbered write are one call, made when the first was made, and answered by
   * the first answer that says what became of it.
   */
  meant(): readonly CallRecord[] {
    const byNumber = new Map<string, CallRecord[]>();
    const meant: (CallRecord | CallRecord[])[] = [];
    for (const record of this.all.values()) {
      const { session, request } = record.call;
      const key = `${session}:${request}`;
      const copies = request === undefined ? undefined : byNumber.get(key);
      if (request === undefined) meant.push(record);
      else if (copies !== undefined) copies.push(record);
      else {
        const made = [record];
        byNumber.set(key, made);
        meant.push(made);
      }
    }
    return meant.map((one) => (Array.isArray(one) ? merged(one) : one));
  }

  note(observation: Observation): void {
    this.#at += 1;
    if (observation.kind === 'called') {
      this.all.set(observation.call.callId, {
        call: observation.call,
        calledAt: this.#at,
        answer: undefined,
        answeredAt: undefined,
        answers: 0,
        isAbandoned: false,
      });
    } else if (observation.kind === 'answered' || observation.kind === 'attached' || observation.kind === 'alive') {
      const record = this.all.get(observation.callId);
      if (record === undefined) return;
      record.answers += 1;
      if (observation.kind === 'answered') record.answer ??= observation.answer;
      record.answeredAt ??= this.#at;
    } else if (observation.kind === 'abandoned') {
      const record = this.all.get(observation.callId);
      if (record !== undefined) record.isAbandoned = true;
    }
  }
}

function merged(copies: readonly CallRecord[]): CallRecord {
  const [first] = copies as [CallRecord];
  if (copies.length === 1) return first;
  const isFinal = ({ answer }: CallRecord): boolean => {
    if (answer?.result.kind === 'error' && answer.result.code === 'OUT_OF_ORDER') return true;
    const fate = fateOf(answer);
    return fate === 'done' || fate === 'refused';
  };
  // Where none is final, one that leaves the outcome open decides: a refusal of one copy says nothing of another.
  const telling = copies.find(isFinal) ?? copies.find(({ answer }) => fateOf(answer) === 'unknown') ?? first;
  const { answer, answeredAt, answers, isAbandoned } = telling;
  return { call: first.call, calledAt: first.calledAt, answer, answeredAt, answers, isAbandoned, isRepeated: true };
}
