/** The bytes of WatchCommand and WatchNews: watches on a session stream (session_service.proto). */
import { type ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import type { OpFailure } from '../op.ts';
import type { WatchCommand, WatchNews, WatchPiece } from '../watch.ts';
import { ZERO_ZXID } from '../zxid.ts';
import { readErrorDetail, writeErrorDetail } from './result-codec.ts';
import { readWatchPiece, readWatchSpec, writeWatchPiece, writeWatchSpec } from './watch-codec.ts';
import { beginMessage, checkMessageEnd, LENGTH, readMessageEnd, readTag, skipField, writeUint } from './wire.ts';

/** Tag of a command in AttachRequest. */
export const WATCH_COMMAND_TAG = (4 << 3) | LENGTH;

/** Tag of news in AttachResponse. */
export const WATCH_NEWS_TAG = (5 << 3) | LENGTH;

const COMMAND_FIELDS = { begin: 2, taken: 3, end: 4 } as const;

/** Adds a command to a frame of the client. */
export function writeWatchCommand(writer: ByteWriter, command: WatchCommand): void {
  const start = beginMessage(writer, 4);
  writeUint(writer, 1, command.watch);
  const inner = beginMessage(writer, COMMAND_FIELDS[command.kind]);
  if (command.kind === 'begin') writeWatchSpec(writer, command.spec);
  writer.endPart(inner);
  writer.endPart(start);
}

/** Reads a WatchCommand whose tag has been read. Throws DecodeError. */
export function readWatchCommand(reader: ByteReader): WatchCommand {
  const end = readMessageEnd(reader);
  let watch = 0;
  let command: WatchCommand | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) watch = reader.varint();
    else if (tag === ((COMMAND_FIELDS.begin << 3) | LENGTH)) {
      command = { kind: 'begin', watch, spec: readWatchSpec(reader, readMessageEnd(reader)) };
    } else if (tag === ((COMMAND_FIELDS.taken << 3) | LENGTH)) command = readEmpty(reader, 'taken', watch);
    else if (tag === ((COMMAND_FIELDS.end << 3) | LENGTH)) command = readEmpty(reader, 'end', watch);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (command === undefined) throw new DecodeError(`A word about watch ${watch} says nothing that is known here`);
  return { ...command, watch };
}

function readEmpty(reader: ByteReader, kind: 'taken' | 'end', watch: number): WatchCommand {
  reader.raw(reader.varint());
  return { kind, watch };
}

/** Adds a piece to a frame of the member. */
export function writeWatchNews(writer: ByteWriter, watch: number, piece: WatchPiece, withValues: boolean): void {
  const start = beginMessage(writer, 5);
  writeUint(writer, 1, watch);
  const inner = beginMessage(writer, 2);
  writeWatchPiece(writer, piece, withValues);
  writer.endPart(inner);
  writer.endPart(start);
}

/** Adds the end of a watch to a frame of the member. */
export function writeWatchEnded(writer: ByteWriter, watch: number, failure: Omit<OpFailure, 'kind'>): void {
  const start = beginMessage(writer, 5);
  writeUint(writer, 1, watch);
  const inner = beginMessage(writer, 3);
  writeErrorDetail(writer, failure, ZERO_ZXID);
  writer.endPart(inner);
  writer.endPart(start);
}

/** Reads WatchNews whose tag has been read. Throws DecodeError. */
export function readWatchNews(reader: ByteReader): WatchNews {
  const end = readMessageEnd(reader);
  let watch = 0;
  let piece: WatchPiece | undefined;
  let failure: OpFailure | undefined;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) watch = reader.varint();
    else if (tag === ((2 << 3) | LENGTH)) piece = readWatchPiece(reader, readMessageEnd(reader));
    else if (tag === ((3 << 3) | LENGTH)) ({ failure } = readErrorDetail(reader, readMessageEnd(reader)));
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (failure !== undefined) return { kind: 'ended', watch, failure };
  if (piece === undefined) throw new DecodeError(`News of watch ${watch} has neither a piece nor an end`);
  return { kind: 'piece', watch, piece };
}
