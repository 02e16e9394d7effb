/** The bytes of AclEntry, of Identity and of Credential. */
import { ACL_ENTRIES_MAX, type AclEntry, type Identity } from '../acl.ts';
import type { ByteReader, ByteWriter } from '../bytes.ts';
import type { Credential } from './frame.ts';
import {
  beginMessage,
  checkMessageEnd,
  LENGTH,
  readBytes,
  readInt32,
  readMessageEnd,
  readString,
  readTag,
  skipField,
  writeBytes,
  writeInt32,
  writeString,
} from './wire.ts';

export function writeAclEntry(writer: ByteWriter, field: number, { perms, scheme, id }: AclEntry): void {
  const start = beginMessage(writer, field);
  writeInt32(writer, 1, perms);
  writeString(writer, 2, scheme);
  writeString(writer, 3, id);
  writer.endPart(start);
}

/** Reads an entry whose tag has been read. Throws DecodeError. */
export function readAclEntry(reader: ByteReader): AclEntry {
  const end = readMessageEnd(reader);
  let perms = 0;
  let scheme = '';
  let id = '';
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === 8) perms = readInt32(reader);
    else if (tag === ((2 << 3) | LENGTH)) scheme = readString(reader);
    else if (tag === ((3 << 3) | LENGTH)) id = readString(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { perms, scheme, id };
}

/** One past the bound is kept, so that the call is refused for it. */
export function withAclEntry(acl: AclEntry[] = [], entry: AclEntry): AclEntry[] {
  if (acl.length <= ACL_ENTRIES_MAX) acl.push(entry);
  return acl;
}

export function writeIdentity(writer: ByteWriter, field: number, { scheme, id }: Identity): void {
  const start = beginMessage(writer, field);
  writeString(writer, 1, scheme);
  writeString(writer, 2, id);
  writer.endPart(start);
}

/** Reads an identity whose tag has been read. Throws DecodeError. */
export function readIdentity(reader: ByteReader): Identity {
  const end = readMessageEnd(reader);
  let scheme = '';
  let id = '';
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) scheme = readString(reader);
    else if (tag === ((2 << 3) | LENGTH)) id = readString(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { scheme, id };
}

export function writeCredential(writer: ByteWriter, field: number, { scheme, proof }: Credential): void {
  const start = beginMessage(writer, field);
  writeString(writer, 1, scheme);
  writeBytes(writer, 2, proof);
  writer.endPart(start);
}

/** Reads a credential whose tag has been read. Throws DecodeError. */
export function readCredential(reader: ByteReader): Credential {
  const end = readMessageEnd(reader);
  let scheme = '';
  let proof: Uint8Array = new Uint8Array(0);
  while (reader.offset < end) {
    const tag = readTag(reader);
    if (tag === ((1 << 3) | LENGTH)) scheme = readString(reader);
    else if (tag === ((2 << 3) | LENGTH)) proof = readBytes(reader);
    else skipField(reader, tag);
  }
  checkMessageEnd(reader, end);
  return { scheme, proof };
}
