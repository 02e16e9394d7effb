/**
 * The log database's records beside the log itself: whose data it is (`i`), the head (`h`) and the epochs (`e`). All are
 * written when the database is made, so that a missing one is damage. All numbers big-endian, all values sealed.
 *
 * | key | body |
 * | --- | ---- |
 * | `i` | sid (4), cluster id (UTF-8, the rest) |
 * | `h` | generation (8), number of the current state database (4), end of the log when the generation began (8) |
 * | `e` | acceptedEpoch (4), currentEpoch (4), right to vote (1): 0 unformed, 1 recovering, 2 held |
 *
 * The generation rises, in the same atomic write, whenever the log loses acknowledged records on purpose (truncate,
 * install): a lower bound that was noted under an earlier generation (state-format.ts) then no longer holds. The end of what is
 * left is in the same write, so that there is a bound from the first moment of the new one.
 */
import { ByteReader, ByteWriter, DecodeError, EPOCH_MAX, type Epoch, toZxid, type Zxid } from '@quorate/protocol';
import type { StoreIdentity, VoteRight } from './contract.ts';
import { DamageError, seal, unseal } from './sealed.ts';

export const IDENTITY_KEY: Uint8Array = Uint8Array.of(0x69);
export const HEAD_KEY: Uint8Array = Uint8Array.of(0x68);
export const EPOCHS_KEY: Uint8Array = Uint8Array.of(0x65);

/** Which state database is the current one, and how often the log was cut on purpose. */
export interface Head {
  readonly generation: bigint;
  readonly state: number;
  /** End of the log when this generation began: a lower bound of what is there. */
  readonly floor: Zxid;
}

export interface Epochs {
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
  readonly voteRight: VoteRight;
}

/** In the order in which a member comes by them: the place is the code on disk, and it never goes down. */
export const VOTE_RIGHTS: readonly VoteRight[] = ['unformed', 'recovering', 'held'];

/** True when a member that has the right `from` on its disk may have `to` next. */
export function mayBecome(from: VoteRight, to: VoteRight): boolean {
  return VOTE_RIGHTS.indexOf(to) >= VOTE_RIGHTS.indexOf(from);
}

/** `key` differs between the log and the state database. */
export function packIdentity(key: Uint8Array, identity: StoreIdentity): Uint8Array {
  return seal(key, new ByteWriter().u32(identity.sid).raw(Buffer.from(identity.clusterId, 'utf8')).finish());
}

export function unpackIdentity(key: Uint8Array, value: Uint8Array): StoreIdentity {
  return parse(key, value, (reader) => ({ sid: reader.u32(), clusterId: reader.text(reader.remaining) }));
}

export function packHead(head: Head): Uint8Array {
  return seal(HEAD_KEY, new ByteWriter(24).u64(head.generation).u32(head.state).u64(head.floor).finish());
}

export function unpackHead(value: Uint8Array): Head {
  return parse(HEAD_KEY, value, (reader) => ({
    generation: reader.u64(),
    state: reader.u32(),
    floor: readZxid(reader.u64()),
  }));
}

export function packEpochs(epochs: Epochs): Uint8Array {
  const { acceptedEpoch, currentEpoch, voteRight } = epochs;
  const writer = new ByteWriter(16).u32(acceptedEpoch).u32(currentEpoch).u8(VOTE_RIGHTS.indexOf(voteRight));
  return seal(EPOCHS_KEY, writer.finish());
}

/** Throws DamageError, also when the current epoch is above the accepted one or the right to vote is none. */
export function unpackEpochs(value: Uint8Array): Epochs {
  const [acceptedEpoch, currentEpoch, code] = parse(EPOCHS_KEY, value, (reader) => [
    reader.u32(),
    reader.u32(),
    reader.u8(),
  ]);
  if (currentEpoch > acceptedEpoch || acceptedEpoch > EPOCH_MAX) {
    throw new DamageError(`current epoch ${currentEpoch} and accepted epoch ${acceptedEpoch} cannot be`);
  }
  const voteRight = VOTE_RIGHTS[code];
  if (voteRight === undefined) throw new DamageError(`the right to vote ${code} is none`);
  return { acceptedEpoch, currentEpoch, voteRight };
}

/** Unseals and reads a value to its end. Throws DamageError. */
export function parse<T>(key: Uint8Array, value: Uint8Array, read: (reader: ByteReader) => T): T {
  const reader = new ByteReader(unseal(key, value));
  try {
    const parsed = read(reader);
    reader.end();
    return parsed;
  } catch (thrown) {
    if (thrown instanceof DecodeError) throw new DamageError(`it cannot be read: ${thrown.message}`);
    throw thrown;
  }
}

/** A number read from disk. Throws DamageError when it is no zxid. */
export function readZxid(value: bigint): Zxid {
  try {
    return toZxid(value);
  } catch {
    throw new DamageError(`0x${value.toString(16)} is not a zxid`);
  }
}
