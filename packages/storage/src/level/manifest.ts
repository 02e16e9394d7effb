/**
 * What a LevelDB manifest says: which tables make up the database, from which journal on the rest is to be read, and up to
 * which sequence number it had been written. Each record is an edit of those before it: fields of a tag and a value, numbers
 * as varints. Source: LevelDB's db/version_edit.cc (format only).
 *
 * | tag | value |
 * | --- | ----- |
 * | 1 | name of the key order |
 * | 2, 9 | number of the oldest journal that counts; of an older one (not used any more) |
 * | 3 | the next free file number |
 * | 4 | sequence number of the last write |
 * | 5 | level, key: where a compaction stands |
 * | 6 | level, number: a table that is gone |
 * | 7 | level, number, bytes, smallest key, largest key: a table that has come |
 */
import { DamageError } from '../sealed.ts';

export interface Manifest {
  /** Journals before this one are done with; 0: none has been named. */
  readonly journal: number;
  /** The writes of that journal have sequence numbers after this one. */
  readonly before: bigint;
  readonly lastSequence: bigint;
  /** Number of each table → its size in bytes. */
  readonly tables: ReadonlyMap<number, number>;
}

/** Applies the edits in order. Throws DamageError. */
export function readManifest(records: readonly Uint8Array[]): Manifest {
  const tables = new Map<number, number>();
  let journal: number | undefined;
  let lastSequence: bigint | undefined;
  let before = 0n;
  let named: { readonly journal: number; readonly sequence: bigint } | undefined;
  for (const record of records) {
    const reader = new VarintReader(record);
    while (!reader.atEnd) {
      const tag = reader.number();
      switch (tag) {
        case 1:
          reader.slice();
          break;
        case 2:
          journal = reader.number();
          break;
        case 3:
        case 9:
          reader.number();
          break;
        case 4:
          lastSequence = reader.big();
          break;
        case 5:
          reader.number();
          reader.slice();
          break;
        case 6:
          reader.number();
          tables.delete(reader.number());
          break;
        case 7: {
          reader.number();
          const number = reader.number();
          tables.set(number, reader.number());
          reader.slice();
          reader.slice();
          break;
        }
        default:
          throw new DamageError(`it has a field ${tag}, which is none`);
      }
    }
    if (journal === undefined || lastSequence === undefined || journal === named?.journal) continue;
    // The first is named before it is written to; a later one is begun when all up to the one before it has been named.
    before = named?.sequence ?? lastSequence;
    named = { journal, sequence: lastSequence };
  }
  if (journal === undefined || lastSequence === undefined)
    throw new DamageError('it ends before it says where it stands');
  return { journal, before, lastSequence, tables };
}

/** Reads LevelDB's varints. All methods throw DamageError. */
export class VarintReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  big(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 64n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) break;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new DamageError(`it has no number at byte ${this.#at}`);
  }

  number(): number {
    const value = this.big();
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new DamageError(`${value} is no file number or length`);
    return Number(value);
  }

  /** Bytes behind their length. */
  slice(): Uint8Array {
    const length = this.number();
    const slice = this.#bytes.subarray(this.#at, this.#at + length);
    if (slice.length < length) throw new DamageError(`it ends inside ${length} bytes at byte ${this.#at}`);
    this.#at += length;
    return slice;
  }
}
