/** Which requests take a place in the history: all that get as far as the leader, whatever it says to them. */
import { type SessionId, type WriteOp, ZERO_ZXID } from '@quorate/protocol';
import { write } from './ops.ts';
import type { ReferenceModel } from './reference.ts';

/** False for what can be refused without the tree: no member forwards it. */
export function isOrdered(model: ReferenceModel, op: WriteOp, session: SessionId): boolean {
  const { result } = write(model.copy(), op, { zxid: ZERO_ZXID, timeMs: 0, session });
  return result.kind !== 'error' || result.code !== 'INVALID_ARGUMENT';
}
