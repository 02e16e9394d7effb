import { toZxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  IDENTITY_KEY,
  packEpochs,
  packHead,
  packIdentity,
  unpackEpochs,
  unpackHead,
  unpackIdentity,
} from './log-meta.ts';
import { DamageError } from './sealed.ts';
import {
  BOUND_KEY,
  CHECKPOINT_KEY,
  keyText,
  packBound,
  packCheckpoint,
  readStateRecord,
  STATE_IDENTITY_KEY,
  STATE_RANGE,
  stateOp,
  unpackBound,
  unpackCheckpoint,
} from './state-format.ts';

const zxids = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(toZxid);
const generations = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe('state records', () => {
  it('read back, and any change of key or value is damage', () => {
    const keys = fc.uint8Array({ minLength: 1, maxLength: 20 }).filter((key) => key[0] !== 0);
    fc.assert(
      fc.property(keys, fc.uint8Array({ maxLength: 40 }), fc.nat(), (key, value, at) => {
        const op = stateOp({ key, value });
        const stored = Buffer.from(op.value!);
        expect([...readStateRecord(key, stored).value!]).toEqual([...value]);
        const flipped = Buffer.from(stored);
        flipped[at % stored.length]! ^= 0x10;
        expect(() => readStateRecord(key, flipped)).toThrow(DamageError);
        const other = Uint8Array.from(key);
        other[at % key.length]! ^= 0x10;
        expect(() => readStateRecord(other, stored)).toThrow(DamageError);
        expect(() => readStateRecord(key, stored.subarray(0, at % stored.length))).toThrow(DamageError);
      }),
    );
  });

  it('deletes carry no value; keys of the store and empty keys are refused', () => {
    expect(stateOp({ key: Buffer.from('nA'), value: undefined }).value).toBeUndefined();
    for (const key of [new Uint8Array(), CHECKPOINT_KEY, BOUND_KEY, STATE_IDENTITY_KEY]) {
      expect(() => stateOp({ key, value: new Uint8Array() })).toThrow(RangeError);
      expect(Buffer.compare(key, STATE_RANGE.from)).toBe(-1);
    }
  });

  it('keys are shown in messages without control characters, and cut', () => {
    expect(keyText(Buffer.from('n/a b\n'))).toBe('n/a\\x20b\\x0a');
    expect(keyText(Buffer.from('x'.repeat(70)))).toBe(`${'x'.repeat(64)}…`);
  });
});

describe('records of the store itself', () => {
  it('C013: read back exactly', () => {
    fc.assert(
      fc.property(
        zxids,
        generations,
        fc.nat(0xffff_ffff),
        fc.string({ unit: 'grapheme' }),
        (zxid, generation, n, text) => {
          expect(unpackCheckpoint(packCheckpoint(zxid))).toBe(zxid);
          expect(unpackBound(packBound({ zxid, generation }))).toEqual({ zxid, generation });
          const head = { generation, state: n, floor: zxid };
          expect(unpackHead(packHead(head))).toEqual(head);
          const identity = { sid: n, clusterId: text };
          expect(unpackIdentity(IDENTITY_KEY, packIdentity(IDENTITY_KEY, identity))).toEqual(identity);
        },
      ),
    );
  });

  it('any flipped bit is damage, and so is the value of another key', () => {
    const packed = [packCheckpoint(toZxid(5n)), packBound({ zxid: toZxid(5n), generation: 1n })];
    for (const value of packed) {
      for (let at = 0; at < value.length * 8; at++) {
        const flipped = Buffer.from(value);
        flipped[at >> 3]! ^= 1 << (at & 7);
        expect(() => unpackCheckpoint(flipped)).toThrow(DamageError);
        expect(() => unpackBound(flipped)).toThrow(DamageError);
      }
    }
    expect(() => unpackIdentity(STATE_IDENTITY_KEY, packIdentity(IDENTITY_KEY, { sid: 1, clusterId: 'a' }))).toThrow(
      DamageError,
    );
  });

  it('epochs that cannot be are damage', () => {
    expect(unpackEpochs(packEpochs({ acceptedEpoch: 0x7fff_ffff, currentEpoch: 3, voteRight: 'recovering' }))).toEqual({
      acceptedEpoch: 0x7fff_ffff,
      currentEpoch: 3,
      voteRight: 'recovering',
    });
    expect(() => unpackEpochs(packEpochs({ acceptedEpoch: 2, currentEpoch: 3, voteRight: 'held' }))).toThrow(
      DamageError,
    );
    expect(() => unpackEpochs(packEpochs({ acceptedEpoch: 0x8000_0000, currentEpoch: 3, voteRight: 'held' }))).toThrow(
      DamageError,
    );
  });
});
