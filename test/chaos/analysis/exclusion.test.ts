/** The checks of what there may be only one of find two. */
import { describe, expect, it } from 'vitest';
import { leaderFaults, lockFaults, sideChannelFaults } from './exclusion.ts';

describe('leaders', () => {
  it('two in one epoch are found, one that led twice is not', () => {
    expect(
      leaderFaults([
        { epoch: 1, sid: 1 },
        { epoch: 2, sid: 2 },
        { epoch: 1, sid: 1 },
      ]),
    ).toEqual([]);
    expect(
      leaderFaults([
        { epoch: 1, sid: 1 },
        { epoch: 1, sid: 2 },
      ]),
    ).toEqual(['members 1 and 2 both led in epoch 1']);
  });
});

describe('locks', () => {
  const tenure = (client: string, token: bigint, from: number, to: number) => ({ lock: 'a', client, token, from, to });
  const write = (client: string, token: bigint, zxid: bigint) => ({ lock: 'a', client, token, zxid });

  it('one owner after the other is good, and locks do not mix', () => {
    const tenures = [tenure('p', 1n, 0, 5), tenure('q', 2n, 5, 9), { ...tenure('r', 3n, 6, 7), lock: 'b' }];
    expect(lockFaults({ tenures, writes: [write('p', 1n, 4n), write('q', 2n, 6n)] })).toEqual([]);
  });

  it('two owners at one moment are found, also behind a short tenure between', () => {
    expect(lockFaults({ tenures: [tenure('p', 1n, 0, 5), tenure('q', 2n, 4, 9)], writes: [] })).toHaveLength(1);
    const hidden = [tenure('p', 1n, 0, 9), tenure('p', 1n, 1, 2), tenure('q', 2n, 8, 10)];
    expect(lockFaults({ tenures: hidden, writes: [] }).join('\n')).toMatch(
      /q held it from 8 ms while p did until 9 ms/,
    );
  });

  it('a write of an earlier holder after that of a later one is found', () => {
    const writes = [write('q', 2n, 6n), write('p', 1n, 7n)];
    expect(lockFaults({ tenures: [], writes })).toEqual(['lock a: p wrote with token 1 after q with 2']);
  });
});

describe('C047: the side channel', () => {
  it('a reader that saw less than it was told is found', () => {
    const round = { path: '/s/0', how: 'sync', told: 3, at: 0 } as const;
    expect(
      sideChannelFaults([
        { ...round, seen: 3 },
        { ...round, seen: 4 },
      ]),
    ).toEqual([]);
    expect(
      sideChannelFaults([
        { ...round, seen: 2 },
        { ...round, seen: Number.NaN },
      ]),
    ).toHaveLength(2);
  });
});
