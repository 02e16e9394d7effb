/**
 * The watermark: what was last reported as durable, exactly. It stands in a file of its own, in two slots that are written in
 * turn, after the write to the log and before the report, and not synced: the file system has it, so it survives the process
 * but maybe not the machine. After a power cut it may be behind, never ahead; then the lower bound in the state database
 * (state-format.ts) is the floor. One bad slot loses no more than the last step.
 *
 * A slot is sealed; its body, all big-endian:
 *
 * | offset | size | meaning |
 * | ------ | ---- | ------- |
 * | 0 | 8 | number of this note; its parity is the slot |
 * | 8 | 4 | sid |
 * | 12 | 4 | CRC-32 of the cluster id |
 * | 16 | 8 | zxid: the end of the log |
 * | 24 | 8 | generation of the log |
 * | 32 | 4 | acceptedEpoch |
 * | 36 | 4 | currentEpoch |
 * | 40 | 1 | right to vote, as in log-meta.ts |
 */
import { crc32 } from 'node:zlib';
import { ByteWriter, formatZxid, toZxid, type Zxid } from '@quorate/protocol';
import type { StoreIdentity } from './contract.ts';
import type { DiskState } from './disk-state.ts';
import type { Plan } from './io.ts';
import { type Epochs, mayBecome, parse, VOTE_RIGHTS } from './log-meta.ts';
import { DamageError, seal } from './sealed.ts';

/** Bytes of a slot in the file; the slots lie in different pages. */
export const SLOT_BYTES = 64;
export const SLOT_OFFSETS = [0, 4096] as const;
const SLOT_KEY: Uint8Array = Uint8Array.of(0x77);
const SEALED_BYTES = 46;

export interface Watermark {
  readonly number: bigint;
  readonly zxid: Zxid;
  readonly generation: bigint;
  readonly epochs: Epochs;
}

export function packWatermark(identity: StoreIdentity, mark: Watermark): Uint8Array {
  const { acceptedEpoch, currentEpoch, voteRight } = mark.epochs;
  const writer = new ByteWriter(SLOT_BYTES).u64(mark.number).u32(identity.sid).u32(crc32(identity.clusterId));
  writer.u64(mark.zxid).u64(mark.generation).u32(acceptedEpoch).u32(currentEpoch).u8(VOTE_RIGHTS.indexOf(voteRight));
  return seal(SLOT_KEY, writer.finish());
}

/** Throws DamageError, also for that of another member. */
export function unpackWatermark(identity: StoreIdentity, slot: Uint8Array): Watermark {
  return parse(SLOT_KEY, slot.subarray(0, SEALED_BYTES), (reader) => {
    const number = reader.u64();
    const sid = reader.u32();
    const cluster = reader.u32();
    if (sid !== identity.sid || cluster !== crc32(identity.clusterId)) {
      throw new DamageError(`it is that of member ${sid}, of this or another cluster`);
    }
    const zxid = toZxid(reader.u64());
    const generation = reader.u64();
    const [acceptedEpoch, currentEpoch, code] = [reader.u32(), reader.u32(), reader.u8()];
    const voteRight = VOTE_RIGHTS[code];
    if (voteRight === undefined) throw new DamageError(`the right to vote ${code} is none`);
    return { number, zxid, generation, epochs: { acceptedEpoch, currentEpoch, voteRight } };
  });
}

/** The newer of the good slots. Throws DamageError when there is none. */
export function newestWatermark(identity: StoreIdentity, slots: readonly Uint8Array[] | undefined): Watermark {
  if (slots === undefined) throw new DamageError('it is missing');
  let newest: Watermark | undefined;
  let fault: DamageError | undefined;
  for (const slot of slots) {
    try {
      const mark = unpackWatermark(identity, slot);
      if (newest === undefined || mark.number > newest.number) newest = mark;
    } catch (thrown) {
      if (!(thrown instanceof DamageError)) throw thrown;
      fault ??= thrown;
    }
  }
  if (newest === undefined) throw new DamageError(`both of its slots are bad: ${fault?.message}`);
  return newest;
}

/** What is durable now, in place of the note before the last. */
export function* noteWatermark(disk: DiskState, options: { readonly sync: boolean } = { sync: false }): Plan {
  const { lastZxid: zxid, epochs } = disk;
  const mark = { number: (disk.watermark?.number ?? 0n) + 1n, zxid, generation: disk.head.generation, epochs };
  // Before it is written: a next note, if this one fails, must not go to the good slot.
  disk.watermark = mark;
  yield { kind: 'note', slot: mark.number % 2n === 0n ? 0 : 1, value: packWatermark(disk.identity, mark), ...options };
}

/** True when the last note says what is durable now. */
export function watermarkHolds(disk: DiskState): boolean {
  const { watermark: mark, epochs } = disk;
  return (
    mark !== undefined &&
    mark.zxid === disk.lastZxid &&
    mark.generation === disk.head.generation &&
    mark.epochs.acceptedEpoch === epochs.acceptedEpoch &&
    mark.epochs.currentEpoch === epochs.currentEpoch &&
    mark.epochs.voteRight === epochs.voteRight
  );
}

/** Throws DamageError when the epochs that were found are older than those that were reported. */
export function checkEpochs(found: Epochs, { epochs: noted, zxid }: Watermark): void {
  if (
    found.acceptedEpoch < noted.acceptedEpoch ||
    found.currentEpoch < noted.currentEpoch ||
    !mayBecome(noted.voteRight, found.voteRight)
  ) {
    throw new DamageError(
      `it is older than what was acknowledged: epochs ${found.acceptedEpoch} and ${found.currentEpoch}, ${found.voteRight}; ` +
        `expected ${noted.acceptedEpoch} and ${noted.currentEpoch}, ${noted.voteRight}, as noted at ${formatZxid(zxid)}`,
    );
  }
}
