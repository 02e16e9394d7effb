/**
 * Whether a message from the leader fits what this member holds. Messages come from members that have shown who they are, but
 * not that they are right: one that does not fit ends the conversation (the link is closed, the member looks again) and is
 * counted; it never reaches the history. The assertions behind these checks guard against this member's own mistakes.
 */
import { type Epoch, epochOf, follows, formatZxid, type Zxid } from '@quorate/protocol';
import type { History } from './history.ts';
import type { LogRecord } from './messages.ts';

/** What is wrong with records that are to continue the history, of epochs that `isOfEpoch` takes. */
export function recordsFault(
  history: History,
  records: readonly LogRecord[],
  isOfEpoch: (epoch: Epoch) => boolean,
): string | undefined {
  if (records.length === 0) return 'it has no records';
  let { last } = history;
  for (const { zxid } of records) {
    if (!follows(zxid, last)) return `${formatZxid(zxid)} does not follow ${formatZxid(last)}`;
    if (!isOfEpoch(epochOf(zxid))) return `${formatZxid(zxid)} is of another epoch`;
    last = zxid;
  }
  return undefined;
}

/** What is wrong with a commit point: it must be a place in the history, or before what is known to be committed. */
export function commitFault(history: History, committed: Zxid): string | undefined {
  if (committed <= history.committed || history.floor(committed) === committed) return undefined;
  const { last } = history;
  return `${formatZxid(committed)} is not in the history, which ends at ${formatZxid(last)}`;
}

/** What is wrong with a cut. Z5: never cut what is committed, never at a place that is not there. */
export function cutFault(history: History, after: Zxid): string | undefined {
  const { base, last, committed } = history;
  if (after >= committed && after < last && history.floor(after) === after) return undefined;
  return `after ${formatZxid(after)}, of ${formatZxid(base)} to ${formatZxid(last)}, committed to ${formatZxid(committed)}`;
}
