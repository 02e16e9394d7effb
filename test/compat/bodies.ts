/** Bodies of requests, made by hand, and of replies, taken apart. Source: reference §3.2. */
import { type Acl, ByteReader, ByteWriter } from '@quorate/protocol';

export const OPEN: Acl = [{ perms: 31, scheme: 'world', id: 'anyone' }];

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

export const pathBody = (path: string): Uint8Array => new ByteWriter().string(path).finish();

export const watchBody = (path: string, watch = false): Uint8Array =>
  new ByteWriter()
    .string(path)
    .u8(watch ? 1 : 0)
    .finish();

export const versionBody = (path: string, version = -1): Uint8Array =>
  new ByteWriter().string(path).i32(version).finish();

export const setDataBody = (path: string, data: Uint8Array | undefined, version = -1): Uint8Array =>
  new ByteWriter().string(path).bytes(data).i32(version).finish();

export function createBody(
  path: string,
  data: Uint8Array | undefined = bytes(''),
  flags = 0,
  acl: Acl = OPEN,
): Uint8Array {
  return aclTo(new ByteWriter().string(path).bytes(data), acl).i32(flags).finish();
}

export const createTtlBody = (path: string, flags: number, ttlMs: bigint): Uint8Array =>
  aclTo(new ByteWriter().string(path).bytes(undefined), OPEN).i32(flags).u64(ttlMs).finish();

export const setAclBody = (path: string, acl: Acl, version = -1): Uint8Array =>
  aclTo(new ByteWriter().string(path), acl).i32(version).finish();

export const authBody = (scheme: string, proof: string): Uint8Array =>
  new ByteWriter().i32(0).string(scheme).bytes(bytes(proof)).finish();

/** Parts of a multi with the end mark. */
export function multiBody(parts: readonly { readonly type: number; readonly body: Uint8Array }[]): Uint8Array {
  const writer = new ByteWriter();
  for (const { type, body } of parts) writer.i32(type).u8(0).i32(-1).raw(body);
  return writer.i32(-1).u8(1).i32(-1).finish();
}

function aclTo(writer: ByteWriter, acl: Acl): ByteWriter {
  writer.i32(acl.length);
  for (const { perms, scheme, id } of acl) writer.i32(perms).string(scheme).string(id);
  return writer;
}

/** The text that a reply begins with. */
export const textOf = (body: Buffer): string => new ByteReader(body).string();

/** Texts that a reply begins with. */
export function textsOf(body: Buffer): string[] {
  const reader = new ByteReader(body);
  return Array.from({ length: reader.i32() }, () => reader.string());
}
