/**
 * The end of a write's way, on every member alike: its txn is applied, then the call it answers is answered, if it came in
 * here, then what waited behind it. All of that before the next txn is applied (P1, P12).
 */
import { formatSessionId, type Zxid } from '@quorate/protocol';
import type { Txn } from '../tree/txn.ts';
import type { Entry } from './entry.ts';
import type { LeaderDesk } from './leader-desk.ts';
import { isOwnersWrite } from './prepare.ts';

/** Applies the committed txn at `zxid`, the next in order. `desk` is there while this member leads. */
export function finish(entry: Entry, desk: LeaderDesk | undefined, zxid: Zxid, txn: Txn): void {
  const { state, outstanding, syncs, attachments } = entry;
  state.tree.apply(zxid, txn);
  desk?.applied(zxid);
  const { origin, session, body } = txn;
  // Before anything of this member is answered or forwarded again on the strength of an attachment that is no more.
  const isElsewhere = origin.attached === true && origin.sid !== entry.options.sid && isOwnersWrite(body);
  if (isElsewhere) attachments.writtenElsewhere(session, zxid);
  outstanding.delivered(origin, zxid, txn);
  syncs.applied(zxid);
  if (body.kind !== 'closeSession') return;
  attachments.lost(session, 'SESSION_EXPIRED', `Session ${formatSessionId(session)} has ended`);
}
