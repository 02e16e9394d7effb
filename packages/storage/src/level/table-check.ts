/**
 * Verifies a LevelDB table file: LevelDB has a CRC over each block and does not look at it, unless told to in ways that the
 * `level` package does not offer. A bad byte in a key would make a record vanish, or an older one come back.
 *
 * A table is a row of blocks, each followed by a type (1 byte: 0 as it is, 1 Snappy) and a masked CRC-32C of both (4), and at
 * the end 48 bytes: where the metaindex and the index block lie (offset and length, varints), and a magic number. The index
 * blocks' values say where the other blocks lie. Source: LevelDB's doc/table_format.md.
 */
import { DamageError } from '../sealed.ts';
import { crc32c } from './crc32c.ts';
import { VarintReader } from './manifest.ts';
import { mask } from './record-log.ts';
import { unsnappy } from './snappy.ts';

const FOOTER_BYTES = 48;
const TRAILER_BYTES = 5;
const MAGIC = 0xdb47_7524_8b80_fb57n;

interface Handle {
  readonly offset: number;
  readonly length: number;
}

/** Throws DamageError unless every block is whole. Bytes between blocks there are none. */
export function checkTable(bytes: Uint8Array): void {
  const footerAt = bytes.length - FOOTER_BYTES;
  if (footerAt < 0) throw new DamageError(`it has ${bytes.length} bytes, too few for a table`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getBigUint64(bytes.length - 8, true) !== MAGIC) throw new DamageError('its end is not that of a table');
  const footer = new VarintReader(bytes.subarray(footerAt));
  const metaindex = handle(footer);
  const index = handle(footer);
  for (const padding of bytes.subarray(footerAt + footer.at, bytes.length - 8)) {
    if (padding !== 0) throw new DamageError('its footer is bad');
  }
  const blocks = [...handlesIn(block(bytes, metaindex)), ...handlesIn(block(bytes, index))];
  for (const one of blocks) checkBlock(bytes, one);
  const total = [...blocks, metaindex, index].reduce((sum, { length }) => sum + length + TRAILER_BYTES, 0);
  if (total !== footerAt) throw new DamageError(`its blocks have ${total} bytes, expected ${footerAt}`);
}

function handle(reader: VarintReader): Handle {
  return { offset: reader.number(), length: reader.number() };
}

function checkBlock(bytes: Uint8Array, { offset, length }: Handle): void {
  const end = offset + length;
  if (end + TRAILER_BYTES > bytes.length) throw new DamageError(`it names a block at byte ${offset}, past its end`);
  const expected = new DataView(bytes.buffer, bytes.byteOffset + end + 1, 4).getUint32(0, true);
  if (mask(crc32c(bytes, offset, end + 1)) !== expected) {
    throw new DamageError(`the checksum of its block at byte ${offset} is wrong`);
  }
}

/** A block's bytes, verified and unpacked. */
function block(bytes: Uint8Array, at: Handle): Uint8Array {
  checkBlock(bytes, at);
  const packed = bytes.subarray(at.offset, at.offset + at.length);
  const type = bytes[at.offset + at.length];
  if (type === 0) return packed;
  if (type === 1) return unsnappy(packed);
  throw new DamageError(`its block at byte ${at.offset} is packed in a way ${type} that is not known`);
}

/** The values of a block of handles: entries of shared, unshared and value length, then the key's rest and the value. */
function handlesIn(entries: Uint8Array): Handle[] {
  const view = new DataView(entries.buffer, entries.byteOffset, entries.length);
  const restarts = entries.length < 4 ? 0 : view.getUint32(entries.length - 4, true);
  const end = entries.length - 4 - 4 * restarts;
  if (end < 0) throw new DamageError('an index block of it is too short');
  const handles: Handle[] = [];
  for (let at = 0; at < end; ) {
    const reader = new VarintReader(entries, at);
    reader.number();
    const unshared = reader.number();
    const length = reader.number();
    const valueAt = reader.at + unshared;
    if (valueAt + length > end) throw new DamageError('an index block of it ends too early');
    handles.push(handle(new VarintReader(entries.subarray(valueAt, valueAt + length))));
    at = valueAt + length;
  }
  return handles;
}
