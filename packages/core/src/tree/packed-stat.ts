/**
 * A znode's stat as 32-bit words in an array that holds many: a copy of what it was, without an object of its own. Says the same as
 * `StoredZnode.stat` at the time of the copy.
 */
import { NO_SESSION, type SessionId, type Stat, type Zxid } from '@quorate/protocol';
import { highOf, joined, joinedNumber, lowOf } from './packed.ts';
import { CZXID, VERSION } from './rows.ts';
import type { StoredZnode } from './znode.ts';

/** Words that one takes. */
export const PACKED_STAT_WORDS = 17;

/** Those in front stand in a row as they do here: three zxids, two times, the version. */
const SAME_WORDS = VERSION + 1 - CZXID;

/** Writes the stat of `znode`, as it is now, from `at` on. */
export function packStat(znode: StoredZnode, words: Int32Array, at: number): void {
  const { childCount, ephemeralOwner } = znode;
  for (let i = 0; i < SAME_WORDS; i++) words[at + i] = znode.words[znode.at + CZXID + i] as number;
  words[at + 11] = 2 * znode.creates - childCount;
  words[at + 12] = znode.aversion;
  words[at + 13] = znode.dataLength;
  words[at + 14] = childCount;
  const isEphemeral = ephemeralOwner !== NO_SESSION;
  words[at + 15] = isEphemeral ? highOf(ephemeralOwner) : 0;
  words[at + 16] = isEphemeral ? lowOf(ephemeralOwner) : 0;
}

/** Reads what was written from `at` on. */
export function unpackStat(words: Int32Array, at: number): Stat {
  const word = (index: number): number => words[at + index] as number;
  return {
    czxid: joined(word(0), word(1)) as Zxid,
    mzxid: joined(word(2), word(3)) as Zxid,
    pzxid: joined(word(4), word(5)) as Zxid,
    ctimeMs: joinedNumber(word(6), word(7)),
    mtimeMs: joinedNumber(word(8), word(9)),
    version: word(10),
    cversion: word(11),
    aversion: word(12),
    dataLength: word(13),
    numChildren: word(14),
    ephemeralOwner: joined(word(15), word(16)) as SessionId,
  };
}
