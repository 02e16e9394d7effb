import { NO_SESSION, toSessionId, toZxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DataTree } from './data-tree.ts';
import { Digest, Hasher } from './digest.ts';
import { Rows } from './rows.ts';
import { TreeScript } from './tree-script.fixture.ts';
import { StoredZnode, type ZnodeFields } from './znode.ts';

const ROWS = new Rows();

const FIELDS: ZnodeFields = {
  data: Uint8Array.of(1, 2, 3),
  czxid: toZxid(0x1_0000_0001n),
  mzxid: toZxid(0x1_0000_0002n),
  pzxid: toZxid(0x1_0000_0003n),
  ctimeMs: 1_790_000_000_000,
  mtimeMs: 1_790_000_000_001,
  version: 4,
  creates: 5,
  aversion: 6,
  owner: NO_SESSION,
};

function digestOf(path: string, fields: ZnodeFields): bigint {
  const digest = new Digest();
  const znode = StoredZnode.of(path, fields, ROWS);
  digest.hashContent(znode);
  digest.add(znode);
  return digest.value;
}

describe('digest', () => {
  it.each<[string, Partial<ZnodeFields>]>([
    ['one byte of the data', { data: Uint8Array.of(1, 2, 4) }],
    ['a byte more of the data', { data: Uint8Array.of(1, 2, 3, 0) }],
    ['empty data', { data: new Uint8Array(0) }],
    ['null data', { data: undefined }],
    ['czxid', { czxid: toZxid(0x1_0000_0000n) }],
    ['the high half of mzxid', { mzxid: toZxid(0x2_0000_0002n) }],
    ["mzxid and pzxid in each other's place", { mzxid: FIELDS.pzxid, pzxid: FIELDS.mzxid }],
    ['pzxid', { pzxid: toZxid(0x1_0000_0004n) }],
    ['ctime', { ctimeMs: 1_790_000_000_001 }],
    ['mtime', { mtimeMs: 1_790_000_000_001 + 2 ** 32 }],
    ['version', { version: -4 }],
    ['the count of creates', { creates: 6 }],
    ['aversion', { aversion: 7 }],
    ['the owner', { owner: toSessionId(0xfe00_0000_0000_0003n) }],
  ])('differs when %s differs', (_what, change) => {
    expect(digestOf('/a', { ...FIELDS, ...change })).not.toBe(digestOf('/a', FIELDS));
  });

  it('differs when the path differs, or a byte moves from the path to the data', () => {
    expect(digestOf('/b', FIELDS)).not.toBe(digestOf('/a', FIELDS));
    expect(digestOf('/a1', { ...FIELDS, data: Uint8Array.of(0x32) })).not.toBe(
      digestOf('/a', { ...FIELDS, data: Uint8Array.of(0x31, 0x32) }),
    );
  });

  it('differs when a session, its timeout or its token differs', () => {
    const id = toSessionId(0x0100_0000_0000_0001n);
    const of = (session: bigint, timeoutMs: number, token: Uint8Array<ArrayBuffer>) => {
      const script = new TreeScript();
      script.createSession(toSessionId(session), timeoutMs, token);
      return script.tree.digest;
    };
    const all = [of(id, 4000, Uint8Array.of(1)), of(id + 1n, 4000, Uint8Array.of(1)), of(id, 4001, Uint8Array.of(1))];
    all.push(of(id, 4000, Uint8Array.of(2)), DataTree.empty().digest);
    expect(new Set(all).size).toBe(all.length);
  });

  it('is what it was when a change is undone, and does not depend on the order of what makes the state', () => {
    const one = new Digest();
    const other = new Digest();
    const znodes = ['/a', '/b', '/c'].map((path) => StoredZnode.of(path, FIELDS, ROWS));
    for (const znode of znodes) {
      one.hashContent(znode);
      one.add(znode);
    }
    const before = one.value;
    one.remove(znodes[1]!);
    expect(one.value).not.toBe(before);
    one.add(znodes[1]!);
    expect(one.value).toBe(before);
    for (const znode of [...znodes].reverse()) other.add(znode);
    expect(other.value).toBe(before);
    expect(new Digest().value).toBe(0n);
  });

  it('is a fixed function of the state: checkpoints and other members hold it', () => {
    expect(DataTree.empty().digest).toBe(0xf545_928d_1db6_4021n);
    expect(digestOf('/a', FIELDS)).toBe(0x2105_0918_c7aa_a6bcn);
  });

  it('is an unsigned number of 64 bits', () => {
    fc.assert(
      fc.property(fc.string(), fc.uint8Array(), (name, data) => {
        const value = digestOf(`/${name}`, { ...FIELDS, data });
        expect(value >= 0n && value < 2n ** 64n).toBe(true);
      }),
    );
  });
});

describe('hasher', () => {
  it('gives other results for other words, also when only their top bits differ', () => {
    const seen = new Set<string>();
    const words = [0, 1, 2, 3, 0x8000_0000 | 0, 0x8000_0001 | 0, -1];
    for (const a of words) {
      for (const b of words) {
        for (const c of words) {
          const { high, low } = new Hasher().start(1).word(a).word(b).word(c).finish();
          seen.add(`${high} ${low}`);
        }
      }
    }
    expect(seen.size).toBe(words.length ** 3);
  });

  it('spreads 50,000 near values over each half as chance would', () => {
    const highs = new Set<number>();
    const lows = new Set<number>();
    const hasher = new Hasher();
    for (let i = 0; i < 50_000; i++) {
      hasher
        .start(1)
        .string(`/app/item-${String(i).padStart(10, '0')}`)
        .finish();
      highs.add(hasher.high);
      lows.add(hasher.low);
    }
    // Chance makes about n^2 / 2^33 = 0.3 pairs alike in 32 bits.
    expect(50_000 - highs.size).toBeLessThan(8);
    expect(50_000 - lows.size).toBeLessThan(8);
  });
});
