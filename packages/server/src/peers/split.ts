/**
 * Cuts a message that is too long for one frame into several that mean the same. Only messages with lists can be long,
 * and all of them may be cut between items: the receiver takes their items one after another in any case.
 */
import type { LogRecord, PeerMessage } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';

/** Bytes of items in one piece, about. A single item may be larger: it is bounded by REQUEST_BYTES_MAX. */
export const PIECE_BYTES = 1024 * 1024;

/** The message, or pieces of it in order. */
export function splitMessage(message: PeerMessage, pieceBytes = PIECE_BYTES): readonly PeerMessage[] {
  switch (message.kind) {
    case 'propose': {
      const lists = splitList(message.records, (record) => record.payload.length + 24, pieceBytes);
      if (lists === undefined) return [message];
      return lists.map((records) => ({ ...message, records, committed: commitOfPiece(records, message.committed) }));
    }
    case 'diff': {
      const lists = splitList(message.records, (record) => record.payload.length + 24, pieceBytes);
      return lists === undefined ? [message] : lists.map((records) => ({ ...message, records }));
    }
    case 'stateChunk': {
      const size = ({ key, value }: (typeof message.records)[number]): number => key.length + (value?.length ?? 0) + 20;
      const lists = splitList(message.records, size, pieceBytes);
      return lists === undefined ? [message] : lists.map((records) => ({ ...message, records }));
    }
    case 'forward': {
      const lists = splitList(message.requests, (request) => request.length + 6, pieceBytes);
      return lists === undefined ? [message] : lists.map((requests) => ({ ...message, requests }));
    }
    case 'touch': {
      const lists = splitList(message.sessions, () => 8, pieceBytes);
      return lists === undefined ? [message] : lists.map((sessions) => ({ ...message, sessions }));
    }
    default:
      return [message];
  }
}

/** What is committed of a piece of a propose: never beyond its last record, which is all that its reader has by then. */
function commitOfPiece(records: readonly LogRecord[], committed: Zxid): Zxid {
  const last = records.at(-1);
  return last === undefined || committed < last.zxid ? committed : last.zxid;
}

/** The list in parts, or undefined when it need not be cut. */
function splitList<T>(items: readonly T[], sizeOf: (item: T) => number, pieceBytes: number): T[][] | undefined {
  let total = 0;
  let start = 0;
  let lists: T[][] | undefined;
  for (let i = 0; i < items.length; i++) {
    const size = sizeOf(items[i] as T);
    if (total > 0 && total + size > pieceBytes) {
      lists ??= [];
      lists.push(items.slice(start, i));
      start = i;
      total = 0;
    }
    total += size;
  }
  lists?.push(items.slice(start));
  return lists;
}
