/**
 * The digest of the replicated state: a 64-bit number that is the same on members that hold the same znodes (path, data,
 * every field of the stat) and the same sessions (id, timeout, token, results of numbered writes), and all but surely differs on others.
 *
 * It is the sum of one hash a znode, one a session and one a result, so it does not depend on the order of changes and one change
 * costs one term. It finds accidents (a bug, a flipped bit), not forgeries. Inside it is two 32-bit halves, because
 * bigint arithmetic costs four times as much. Mixing constants: MurmurHash3 (public domain).
 */
import { NO_SESSION, type SessionId } from '@quorate/protocol';
import { type PackedData, upperOf } from './packed.ts';
import type { StoredResult } from './results.ts';
import { AVERSION, CONTENT_HASH, CTIME, HASH, word } from './rows.ts';
import type { StoredSession } from './sessions.ts';
import type { StoredZnode } from './znode.ts';

/** Number of this way of hashing. Another way needs another number, or old checkpoints would look damaged. */
export const DIGEST_VERSION = 1;

/** What the digest is of, first word of each hash: a znode's content and a session can never pass for one another. */
const CONTENT = 1;
const ZNODE = 2;
const SESSION = 3;
const RESULT = 4;

/** Hashes a sequence of words into 64 bits. For fixed input each step is a permutation of the 64-bit state. */
export class Hasher {
  /** The result, after `finish`; signed halves. */
  high = 0;
  low = 0;
  readonly #scratch = new DataView(new ArrayBuffer(8));

  start(kind: number): this {
    this.high = kind;
    this.low = 0x9e3779b9 | 0;
    return this;
  }

  word(value: number): this {
    let k = Math.imul(value, 0xcc9e2d51);
    k = Math.imul((k << 15) | (k >>> 17), 0x1b873593);
    let a = this.high ^ k;
    a = (Math.imul((a << 13) | (a >>> 19), 5) + this.low) | 0;
    this.high = a;
    this.low = ((this.low << 17) | (this.low >>> 15)) ^ Math.imul(a, 0x85ebca6b);
    return this;
  }

  /** That many words of an array. */
  words(words: Int32Array, from: number, count: number): this {
    for (let i = from; i < from + count; i++) this.word(words[i] as number);
    return this;
  }

  /** A 64-bit value. */
  long(value: bigint): this {
    this.#scratch.setBigUint64(0, value);
    return this.word(this.#scratch.getInt32(0)).word(this.#scratch.getInt32(4));
  }

  /** A whole number of up to 53 bits. */
  integer(value: number): this {
    return this.word(upperOf(value)).word(value | 0);
  }

  string(value: string): this {
    const length = value.length;
    this.word(length);
    let i = 1;
    for (; i < length; i += 2) this.word((value.charCodeAt(i - 1) << 16) | value.charCodeAt(i));
    return i === length ? this.word(value.charCodeAt(i - 1)) : this;
  }

  bytes(value: Uint8Array | undefined): this {
    if (value === undefined) return this.word(-1);
    const length = value.length;
    this.word(length);
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      const low = (value[i] as number) | ((value[i + 1] as number) << 8);
      this.word(low | ((value[i + 2] as number) << 16) | ((value[i + 3] as number) << 24));
    }
    for (; i < length; i++) this.word(value[i] as number);
    return this;
  }

  /** The same as the bytes that were packed. */
  packed(value: PackedData): this {
    if (typeof value !== 'string') return this.bytes(value);
    const length = value.length;
    this.word(length);
    let i = 0;
    for (; i + 4 <= length; i += 4) {
      const low = value.charCodeAt(i) | (value.charCodeAt(i + 1) << 8);
      this.word(low | (value.charCodeAt(i + 2) << 16) | (value.charCodeAt(i + 3) << 24));
    }
    for (; i < length; i++) this.word(value.charCodeAt(i));
    return this;
  }

  /** Spreads the last words over all bits; `high` and `low` are the result. */
  finish(): this {
    const a = scramble(this.high ^ this.low);
    const b = scramble((this.low + a) | 0);
    this.high = (a + b) | 0;
    this.low = b;
    return this;
  }
}

function scramble(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** The running sum, and the hashes that go into it. */
export class Digest {
  #high = 0;
  #low = 0;
  readonly #hasher = new Hasher();

  /** The digest, unsigned. */
  get value(): bigint {
    return (BigInt(this.#high >>> 0) << 32n) | BigInt(this.#low >>> 0);
  }

  /** Hashes path and data anew: after a create and after each change of the data. */
  hashContent(znode: StoredZnode): void {
    const { high, low } = this.#hasher.start(CONTENT).string(znode.path).packed(znode.content).finish();
    znode.words[znode.at + CONTENT_HASH] = high;
    znode.words[znode.at + CONTENT_HASH + 1] = low;
  }

  /** Counts the znode as it is now. It must not be counted already. */
  add(znode: StoredZnode): void {
    const { high, low } = this.#hashZnode(znode);
    znode.words[znode.at + HASH] = high;
    znode.words[znode.at + HASH + 1] = low;
    this.#sum(high, low);
  }

  /** Takes out what `add` counted for this znode, whatever it looks like by now. */
  remove(znode: StoredZnode): void {
    this.#sum(-word(znode, HASH), -word(znode, HASH + 1));
  }

  addSession(session: StoredSession): void {
    const { high, low } = this.#hashSession(session);
    session.hashHigh = high;
    session.hashLow = low;
    this.#sum(high, low);
  }

  /** Takes out what `addSession` counted for this session. */
  removeSession(session: StoredSession): void {
    this.#sum(-session.hashHigh, -session.hashLow);
  }

  addResult(session: SessionId, result: StoredResult): void {
    const { high, low } = this.#hashResult(session, result);
    result.hashHigh = high;
    result.hashLow = low;
    this.#sum(high, low);
  }

  /** Takes out what `addResult` counted for this result. */
  removeResult(result: StoredResult): void {
    this.#sum(-result.hashHigh, -result.hashLow);
  }

  /** False when the znode is not what was hashed when it was last changed: its memory was altered by something else. */
  isIntact(znode: StoredZnode): boolean {
    const content = this.#hasher.start(CONTENT).string(znode.path).packed(znode.content).finish();
    if (content.high !== word(znode, CONTENT_HASH) || content.low !== word(znode, CONTENT_HASH + 1)) return false;
    const { high, low } = this.#hashZnode(znode);
    return high === word(znode, HASH) && low === word(znode, HASH + 1);
  }

  /** The same for a session. */
  isSessionIntact(session: StoredSession): boolean {
    const { high, low } = this.#hashSession(session);
    if (high !== session.hashHigh || low !== session.hashLow) return false;
    return (session.kept?.all() ?? []).every((result) => {
      const now = this.#hashResult(session.id, result);
      return now.high === result.hashHigh && now.low === result.hashLow;
    });
  }

  #hashZnode(znode: StoredZnode): Hasher {
    const hasher = this.#hashStat(znode);
    if (znode.acl === undefined) return hasher.finish();
    for (const { perms, scheme, id } of znode.acl) hasher.word(perms).string(scheme).string(id);
    return hasher.word(znode.acl.length).finish();
  }

  /** The words of a row as they follow each other, and between the zxids and the times the owner. */
  #hashStat(znode: StoredZnode): Hasher {
    const { words, at, owner } = znode;
    const hasher = this.#hasher.start(ZNODE).words(words, at + CONTENT_HASH, CTIME - CONTENT_HASH);
    // What all but few have, without a number of 64 bits.
    if (owner === NO_SESSION) hasher.word(0).word(0);
    else hasher.long(owner);
    return hasher.words(words, at + CTIME, AVERSION + 1 - CTIME).word(znode.childCount);
  }

  #hashSession({ id, timeoutMs, packedToken }: StoredSession): Hasher {
    return this.#hasher.start(SESSION).long(id).integer(timeoutMs).packed(packedToken).finish();
  }

  #hashResult(session: SessionId, { request, packed }: StoredResult): Hasher {
    return this.#hasher.start(RESULT).long(session).integer(request).packed(packed).finish();
  }

  #sum(high: number, low: number): void {
    this.#high = (this.#high + high) | 0;
    this.#low = (this.#low + low) | 0;
  }
}
