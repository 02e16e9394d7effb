/** The bytes of the requests about a connection's own watches, and of what these are told. The rules are in session_service.proto. */
import { unreachable } from '../assert.ts';
import { type ByteReader, type ByteWriter, DecodeError } from '../bytes.ts';
import type { Notification, NotificationKind, WatcherKind, WatchLists, WatchMode, WatchOp } from '../watch-ops.ts';
import type { CallFault } from './frame.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readInt32,
  readMessageEnd,
  readString,
  readTag,
  skipField,
  writeInt64,
  writeString,
  writeStringAlways,
  writeUint,
} from './wire.ts';

/** Numbers of the kinds of watchers; those of modes are among them. */
const KINDS = { children: 1, data: 2, any: 3, persistent: 4, persistentRecursive: 5 } as const satisfies Record<
  WatcherKind,
  number
>;

const KIND_NAMES: readonly (WatcherKind | undefined)[] = [undefined, ...(Object.keys(KINDS) as WatcherKind[])];

/** Numbers of what is told, as on ZooKeeper's wire. */
const NOTIFICATIONS = {
  nodeCreated: 1,
  nodeDeleted: 2,
  nodeDataChanged: 3,
  nodeChildrenChanged: 4,
} as const satisfies Record<NotificationKind, number>;

const NOTIFICATION_NAMES: readonly (NotificationKind | undefined)[] = [
  undefined,
  ...(Object.keys(NOTIFICATIONS) as NotificationKind[]),
];

/** Fields of the lists in SetWatchesRequest. */
const LIST_FIELDS = { data: 2, exist: 3, child: 4, persistent: 5, persistentRecursive: 6 } as const;

type ListName = keyof typeof LIST_FIELDS;

const LIST_NAMES = Object.keys(LIST_FIELDS) as readonly ListName[];

export const NOTIFICATION_FIELD = 3;

/** Writes the fields of the request. */
export function writeWatchOp(writer: ByteWriter, op: WatchOp): void {
  switch (op.kind) {
    case 'addWatch':
      writeString(writer, 1, op.path);
      writeUint(writer, 2, KINDS[op.mode]);
      return;
    case 'checkWatches':
    case 'removeWatches':
      writeString(writer, 1, op.path);
      writeUint(writer, 2, KINDS[op.watcher]);
      return;
    case 'setWatches':
      writeInt64(writer, 1, op.lists.relativeZxid);
      for (const name of LIST_NAMES) {
        for (const path of op.lists[name]) writeStringAlways(writer, LIST_FIELDS[name], path);
      }
      return;
    default:
      unreachable(op);
  }
}

/** Reads the request of the operation `kind`, whose tag has been read. Throws DecodeError. */
export function readWatchOp(reader: ByteReader, kind: WatchOp['kind']): WatchOp | CallFault {
  if (kind === 'setWatches') return { kind, lists: readLists(reader) };
  const end = readMessageEnd(reader);
  let path = '';
  let number = 0;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) path = readString(reader);
    else if (tag === 16) number = readInt32(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  const watcher = KIND_NAMES[number];
  if (kind !== 'addWatch' && watcher !== undefined) return { kind, path, watcher };
  if (kind === 'addWatch' && isMode(watcher)) return { kind, path, mode: watcher };
  return { kind: 'fault', code: 'INVALID_ARGUMENT', message: `Cannot watch ${path}: kind ${number} is not known` };
}

function isMode(kind: WatcherKind | undefined): kind is WatchMode {
  return kind === 'persistent' || kind === 'persistentRecursive';
}

function readLists(reader: ByteReader): WatchLists {
  const end = readMessageEnd(reader);
  let relativeZxid = 0n;
  const lists: Record<ListName, string[]> = { data: [], exist: [], child: [], persistent: [], persistentRecursive: [] };
  while (reader.offset < end) {
    const tag = readTag(reader);
    const name = LIST_NAMES.find((one) => tag === ((LIST_FIELDS[one] << 3) | LENGTH));
    if (name !== undefined) lists[name].push(readString(reader));
    else if (tag === 8) relativeZxid = BigInt.asIntN(64, reader.varint64());
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { relativeZxid, ...lists };
}

/** Adds a notification to a frame of AttachResponse. */
export function writeNotification(writer: ByteWriter, { kind, path, zxid }: Notification): void {
  const start = beginMessage(writer, NOTIFICATION_FIELD);
  writeUint(writer, 1, NOTIFICATIONS[kind]);
  writeString(writer, 2, path);
  writeInt64(writer, 3, zxid);
  writer.endPart(start);
}

/** Reads a notification whose tag has been read. Throws DecodeError. */
export function readNotification(reader: ByteReader): Notification {
  const end = readMessageEnd(reader);
  let kind: NotificationKind | undefined;
  let path = '';
  let zxid = 0n;
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) kind = NOTIFICATION_NAMES[readInt32(reader)];
    else if (tag === ((2 << 3) | LENGTH)) path = readString(reader);
    else if (tag === 24) zxid = BigInt.asIntN(64, reader.varint64());
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  if (kind === undefined) throw new DecodeError('A notification of a kind that is not known here');
  return { kind, path, zxid };
}
