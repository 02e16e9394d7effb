/**
 * An ACL in a txn or in a record: varint count, 0 for the open list, then perms (4 bytes), scheme and id of each (varint length,
 * UTF-8).
 */
import {
  ACL_ENTRIES_MAX,
  type Acl,
  type AclEntry,
  type ByteReader,
  type ByteWriter,
  DecodeError,
  utf8Length,
} from '@quorate/protocol';
import { isOpen } from './acl-table.ts';

export function writeAcl(writer: ByteWriter, acl: Acl | undefined): void {
  if (acl === undefined || isOpen(acl)) {
    writer.varint(0);
    return;
  }
  writer.varint(acl.length);
  for (const { perms, scheme, id } of acl) {
    writer.i32(perms);
    writeText(writer, scheme);
    writeText(writer, id);
  }
}

/** Undefined for the open list. Throws DecodeError. */
export function readAcl(reader: ByteReader): Acl | undefined {
  const count = reader.varint();
  if (count === 0) return undefined;
  if (count > ACL_ENTRIES_MAX)
    throw new DecodeError(`An ACL has ${count} entries, at most ${ACL_ENTRIES_MAX} are legal`);
  const acl: AclEntry[] = [];
  for (let i = 0; i < count; i++) acl.push({ perms: reader.i32(), scheme: readText(reader), id: readText(reader) });
  return acl;
}

function writeText(writer: ByteWriter, text: string): void {
  const length = utf8Length(text);
  writer.varint(length).text(text, length);
}

function readText(reader: ByteReader): string {
  return reader.text(reader.varint());
}
