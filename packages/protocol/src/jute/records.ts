/** Records that stand in several requests and replies. Source: reference §2. */
import type { Acl, AclEntry } from '../acl.ts';
import type { ByteReader, ByteWriter } from '../bytes.ts';
import type { Stat } from '../stat.ts';
import { readString, readVector } from './primitives.ts';

/** Perms and two lengths. */
const ACL_ENTRY_LEAST_BYTES = 12;

/** 68 bytes; pzxid is last. */
export function writeStat(writer: ByteWriter, stat: Stat): void {
  writer
    .u64(stat.czxid)
    .u64(stat.mzxid)
    .u64(BigInt(stat.ctimeMs))
    .u64(BigInt(stat.mtimeMs))
    .i32(stat.version)
    .i32(stat.cversion)
    .i32(stat.aversion)
    .u64(stat.ephemeralOwner)
    .i32(stat.dataLength)
    .i32(stat.numChildren)
    .u64(stat.pzxid);
}

/** A null list is an empty one, a null scheme or id an empty text: none of them makes a legal ACL. Throws DecodeError. */
export function readAcl(reader: ByteReader): Acl {
  return readVector(reader, ACL_ENTRY_LEAST_BYTES, readAclEntry) ?? [];
}

function readAclEntry(reader: ByteReader): AclEntry {
  return { perms: reader.i32(), scheme: readString(reader) ?? '', id: readString(reader) ?? '' };
}

export function writeAcl(writer: ByteWriter, acl: Acl): void {
  writer.i32(acl.length);
  for (const { perms, scheme, id } of acl) writer.i32(perms).string(scheme).string(id);
}
