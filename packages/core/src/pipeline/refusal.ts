/** Why something was not done, in the form that becomes a client's answer or an error txn. Owns the wording, nothing else. */
import type { Answer, ErrorCode, OpFailure, Zxid } from '@quorate/protocol';

export interface Refusal {
  readonly code: ErrorCode;
  /** The znode it is about. */
  readonly path: string | undefined;
  /** For people: sentence case, no final period, action and values. Never holds a session's token. */
  readonly message: string;
  /** The part of a multi that it is about. */
  readonly part?: number;
  /** Why this member takes nothing like it any more: see `OpFailure`. */
  readonly goElsewhere?: true;
}

export function refusal(code: ErrorCode, message: string, path?: string): Refusal {
  return { code, path, message };
}

/** For a member that takes no such calls any more. */
export function refusalForGood(message: string): Refusal {
  return { code: 'UNAVAILABLE', path: undefined, message, goElsewhere: true };
}

/** The answer that says so, at the position `zxid` of the history. */
export function refused(reason: Refusal, zxid: Zxid): Answer {
  const { code, path, message, part, goElsewhere } = reason;
  const result: OpFailure = { kind: 'error', code, path, message };
  if (part !== undefined) return { zxid, result: { ...result, part } };
  return { zxid, result: goElsewhere === undefined ? result : { ...result, goElsewhere } };
}
