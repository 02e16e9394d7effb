/** For tests: operations in short words, and answers as a test looks at them. */
import type { Op } from '@quorate/protocol';
import { answerOf, type Member, type TestEnsemble } from './ensemble.fixture.ts';

export const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

type Create = Extract<Op, { kind: 'create' }>;

export function create(path: string, data = '', more: Partial<Create> = {}): Create {
  return { kind: 'create', path, data: bytes(data), mode: 'persistent', sequential: false, ...more };
}

export function set(path: string, data: string): Extract<Op, { kind: 'setData' }> {
  return { kind: 'setData', path, data: bytes(data), expectedVersion: undefined };
}

export function get(path: string): Op {
  return { kind: 'getData', path };
}

export function list(path: string): Op {
  return { kind: 'getChildren', path };
}

/** The error code, the data as text, or the kind of the result; undefined while there is no answer. */
export function shown(member: Member, callId: number): string | undefined {
  if (!member.answers.has(callId)) return undefined;
  const { result } = answerOf(member, callId);
  if (result.kind === 'error') return result.code;
  return result.kind === 'getData' ? String.fromCharCode(...(result.data ?? [])) : result.kind;
}

/** Position and digest of every running member: one when all are equal. */
export function digests(ensemble: TestEnsemble): ReadonlySet<string> {
  const running = ensemble.members.filter(({ peer }) => peer !== undefined);
  return new Set(running.map(({ peer }) => `${peer?.status.lastZxid}:${peer?.status.digest}`));
}
