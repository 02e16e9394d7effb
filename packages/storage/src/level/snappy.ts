/**
 * Unpacks a Snappy block, which is how LevelDB packs the blocks of a table. Used on index blocks alone, so it is written to
 * be plain. Source: Snappy's format_description.txt.
 */
import { DamageError } from '../sealed.ts';
import { VarintReader } from './manifest.ts';

/** An index block is far smaller. */
const UNPACKED_BYTES_MAX = 256 * 1024 * 1024;

/** Throws DamageError. */
export function unsnappy(packed: Uint8Array): Uint8Array {
  const reader = new VarintReader(packed);
  const length = reader.number();
  if (length > UNPACKED_BYTES_MAX) throw new DamageError(`a block of it says ${length} bytes`);
  const out = new Uint8Array(length);
  let to = 0;
  let at = reader.at;
  while (at < packed.length) {
    const tag = packed[at++] as number;
    if ((tag & 3) === 0) {
      let size = tag >>> 2;
      if (size >= 60) {
        const bytes = size - 59;
        size = littleEndian(packed, at, bytes);
        at += bytes;
      }
      size += 1;
      if (at + size > packed.length || to + size > length) throw tooLong();
      out.set(packed.subarray(at, at + size), to);
      at += size;
      to += size;
      continue;
    }
    const [size, offset, bytes] = copyAt(packed, at, tag);
    at += bytes;
    if (offset === 0 || offset > to || to + size > length) throw tooLong();
    // A copy may overlap what it makes.
    for (let i = 0; i < size; i++, to++) out[to] = out[to - offset] as number;
  }
  if (to !== length) throw tooLong();
  return out;
}

/** Length of a copy, how far back it begins, and how many bytes said so. */
function copyAt(packed: Uint8Array, at: number, tag: number): readonly [number, number, number] {
  if ((tag & 3) === 1) return [((tag >>> 2) & 7) + 4, ((tag >>> 5) << 8) | littleEndian(packed, at, 1), 1];
  const bytes = (tag & 3) === 2 ? 2 : 4;
  return [(tag >>> 2) + 1, littleEndian(packed, at, bytes), bytes];
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = 0; i < count; i++) value += (bytes[at + i] ?? 0) * 2 ** (8 * i);
  return value;
}

function tooLong(): DamageError {
  return new DamageError('a block of it cannot be unpacked');
}
