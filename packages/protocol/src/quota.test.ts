import { describe, expect, it } from 'vitest';
import {
  formatLimits,
  formatUsage,
  limitsPath,
  NO_QUOTA_LIMITS,
  parseLimits,
  parseUsage,
  quotaAncestors,
  quotaNode,
  statsPath,
} from './quota.ts';

const ascii = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const shown = (bytes: Uint8Array): string => String.fromCharCode(...bytes);

describe('a quota', () => {
  it('is written as ZooKeeper does', () => {
    expect(shown(formatLimits({ ...NO_QUOTA_LIMITS, count: 5 }))).toBe('count=5,bytes=-1');
    const hard = { count: 5, bytes: -1, countHard: 10, bytesHard: 1000 };
    expect(shown(formatLimits(hard))).toBe('count=5,bytes=-1=;byteHardLimit=1000;countHardLimit=10');
    expect(shown(formatUsage({ count: 2, bytes: 30 }))).toBe('count=2,bytes=30');
  });

  it('is read in all its forms; what is missing is no limit, what is no limit is refused', () => {
    const read = (text: string) => parseLimits(ascii(text));
    expect(read('count=5,bytes=-1=;byteHardLimit=1000;countHardLimit=10')).toEqual({
      count: 5,
      bytes: -1,
      countHard: 10,
      bytesHard: 1000,
    });
    expect(read('bytes=7')).toEqual({ ...NO_QUOTA_LIMITS, bytes: 7 });
    expect(read('countHardLimit=;count=3')).toEqual({ ...NO_QUOTA_LIMITS, count: 3 });
    for (const none of ['', 'x']) expect(read(none)).toEqual(NO_QUOTA_LIMITS);
    expect(parseLimits(undefined)).toEqual(NO_QUOTA_LIMITS);
    for (const bad of ['count=x', 'count=-2', 'bytes=1.5', 'countHardLimit=99999999999999999999']) {
      expect([bad, read(bad)]).toEqual([bad, undefined]);
    }
    expect(parseUsage(ascii('count=2,bytes=30'))).toEqual({ count: 2, bytes: 30 });
    expect(parseUsage(ascii('count=2'))).toBeUndefined();
  });

  it('has its znodes below those of its path', () => {
    expect(quotaAncestors('/a/b')).toEqual(['/zookeeper/quota/a', '/zookeeper/quota/a/b']);
    expect(quotaNode(limitsPath('/a/b'))).toEqual({ kind: 'limits', of: '/a/b' });
    expect(quotaNode(statsPath('/a'))).toEqual({ kind: 'stats', of: '/a' });
    for (const path of [
      '/a',
      '/zookeeper/quota',
      '/zookeeper/quota/zookeeper_limits',
      '/zookeeper/quota/zookeeper/zookeeper_limits',
      '/zookeeper/quota/a',
    ]) {
      expect(quotaNode(path)).toBeUndefined();
    }
  });
});
