/**
 * The log database's records beside the log itself: whose data it is (`i`), the head (`h`) and the epochs (`e`). All are
 * written when the database is made, so that a missing one is damage. All numbers big-endian, all values sealed.
 *
 * | key | body |
 * | --- | ---- |
 * | `i` | sid (4), cluster id (UTF-8, the rest) |
 * | `h` | generation (8), number of the current state database (4) |
 * | `e` | acceptedEpoch (4), currentEpoch (4) |
 *
 * The generation rises, in the same atomic write, whenever the log loses acknowledged records on purpose (truncate,
 * install): a lower bound that was noted under an earlier generation (state-format.ts) then no longer holds.
 */
import { ByteReader, ByteWriter, DecodeError, EPOCH_MAX, type Epoch } from '@quorate/protocol';
import type { StoreIdentity } from './contract.ts';
import { DamageError, seal, unseal } from './sealed.ts';

export const IDENTITY_KEY: Uint8Array = Uint8Array.of(0x69);
export const HEAD_KEY: Uint8Array = Uint8Array.of(0x68);
export const EPOCHS_KEY: Uint8Array = Uint8Array.of(0x65);

/** Which state database is the current one, and how often the log was cut on purpose. */
export interface Head {
  readonly generation: bigint;
  readonly state: number;
}

export interface Epochs {
  readonly acceptedEpoch: Epoch;
  readonly currentEpoch: Epoch;
}

/** `key` differs between the log and the state database. */
export function packIdentity(key: Uint8Array, identity: StoreIdentity): Uint8Array {
  return seal(key, new ByteWriter().u32(identity.sid).raw(Buffer.from(identity.clusterId, 'utf8')).finish());
}

export function unpackIdentity(key: Uint8Array, value: Uint8Array): StoreIdentity {
  return parse(key, value, (reader) => ({ sid: reader.u32(), clusterId: reader.text(reader.remaining) }));
}

export function packHead(head: Head): Uint8Array {
  return seal(HEAD_KEY, new ByteWriter(16).u64(head.generation).u32(head.state).finish());
}

export function unpackHead(value: Uint8Array): Head {
  return parse(HEAD_KEY, value, (reader) => ({ generation: reader.u64(), state: reader.u32() }));
}

export function packEpochs(epochs: Epochs): Uint8Array {
  return seal(EPOCHS_KEY, new ByteWriter(16).u32(epochs.acceptedEpoch).u32(epochs.currentEpoch).finish());
}

/** Throws DamageError, also when the current epoch is above the accepted one. */
export function unpackEpochs(value: Uint8Array): Epochs {
  const epochs = parse(EPOCHS_KEY, value, (reader) => ({ acceptedEpoch: reader.u32(), currentEpoch: reader.u32() }));
  if (epochs.currentEpoch > epochs.acceptedEpoch || epochs.acceptedEpoch > EPOCH_MAX) {
    throw new DamageError(`current epoch ${epochs.currentEpoch} and accepted epoch ${epochs.acceptedEpoch} cannot be`);
  }
  return epochs;
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
