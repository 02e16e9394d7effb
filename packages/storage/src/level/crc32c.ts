/** CRC-32C (Castagnoli), which LevelDB uses and zlib does not have. Four bytes at a time, by table. RFC 3720, B.4. */

const POLYNOMIAL = 0x82f6_3b78;

/** Row 0: the effect of one byte; row n: of a byte that is followed by n zero bytes. */
const TABLES = makeTables();

function makeTables(): readonly Uint32Array[] {
  const first = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    return crc;
  });
  const tables = [first];
  for (let row = 1; row < 4; row++) {
    const before = tables[row - 1] as Uint32Array;
    tables.push(before.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number)));
  }
  return tables;
}

/** CRC of bytes `start` to `end`, unsigned. */
export function crc32c(bytes: Uint8Array, start: number, end: number): number {
  const [t0, t1, t2, t3] = TABLES as readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
  let crc = 0xffff_ffff;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    crc =
      (t3[low & 0xff] as number) ^
      (t2[(low >>> 8) & 0xff] as number) ^
      (t1[(low >>> 16) & 0xff] as number) ^
      (t0[low >>> 24] as number);
  }
  for (; at < end; at++) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return (crc ^ 0xffff_ffff) >>> 0;
}
