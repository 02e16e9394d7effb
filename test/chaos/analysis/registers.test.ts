/** The checks of values, versions and real time find histories that no correct ensemble can give, and pass good ones. */
import { describe, expect, it } from 'vitest';
import type { Call } from '../history.ts';
import { call, read, write } from './history.fixture.ts';
import { realTimeFaults, sessionOrderFaults, VersionTable } from './registers.ts';

const X = '/r/x';
const Y = '/r/y';
const good: readonly Call[] = [
  write(X, 0, 1n, [0, 1]),
  write(Y, 0, 2n, [0, 2]),
  write(X, 1, 3n, [3, 5], { session: 7n }),
  read(X, 1, 3n, [6, 7], { linearizable: true, session: 7n }),
  write(X, 2, 4n, [6, 9]),
  read(X, 1, 3n, [7, 8]),
  call('sync', '/', [10, 11], { zxid: 4n }),
  read(X, 2, 4n, [12, 13], { linearizable: true, session: 7n }),
];

function faultsOf(calls: readonly Call[]): { table: string[]; realTime: string[]; sessions: string[] } {
  const table = new VersionTable(calls);
  return { table: table.faults, realTime: realTimeFaults(calls, table), sessions: sessionOrderFaults(calls, table) };
}

describe('values and versions', () => {
  it('a good history passes', () => {
    expect(faultsOf(good)).toEqual({ table: [], realTime: [], sessions: [] });
  });

  it.each([
    ['another value at a version', read(X, 1, 3n, [20, 21], { seen: 'v2' }), /another answer says v1/],
    ['another zxid at a version', read(X, 1, 9n, [20, 21]), /another answer says/],
    ['a value that nobody wrote', read(X, 3, 5n, [20, 21], { seen: 'ghost' }), /which nobody wrote/],
    ['a conditional write on another version', write(X, 4, 6n, [20, 21], { expected: 2 }), /of the expected 2/],
    ['versions against the order of zxids', write(X, 3, 2n, [20, 21]), /not after 0x4/],
  ])('%s is found', (_, bad, message) => {
    expect(faultsOf([...good, bad]).table.join('\n')).toMatch(message);
  });

  it('a write that was refused and is seen nevertheless is found', () => {
    const refused = write(X, 3, 5n, [14, 15], { outcome: 'refused', code: 'UNAVAILABLE', version: undefined });
    expect(faultsOf([...good, refused, read(X, 3, 5n, [20, 21])]).table.join('\n')).toMatch(
      /was refused \(UNAVAILABLE\)/,
    );
  });

  it('a write of unknown outcome may be seen or not', () => {
    const unknown = write(X, 3, 5n, [14, Number.POSITIVE_INFINITY], { outcome: 'unknown', version: undefined });
    expect(faultsOf([...good, unknown])).toEqual({ table: [], realTime: [], sessions: [] });
    expect(faultsOf([...good, unknown, read(X, 3, 5n, [20, 21])]).table).toEqual([]);
  });

  it('one value at two versions is found: a write that took effect twice', () => {
    const twice = [write(X, 3, 5n, [14, 15]), read(X, 4, 6n, [20, 21], { seen: 'v3' })];
    expect(faultsOf([...good, ...twice]).table.join('\n')).toMatch(/written twice/);
  });
});

describe('real time', () => {
  it.each([
    [
      'a linearizable read of what was replaced before it began',
      read(X, 1, 3n, [20, 21], { linearizable: true }),
      /read version 1, replaced at 0x4/,
    ],
    ['a sync that did not reach what had been shown', call('sync', '/', [20, 21], { zxid: 3n }), /reached only 0x3/],
    ['a write that stands before what had been shown', write(Y, 1, 4n, [20, 21]), /stands at 0x4/],
  ])('%s is found', (_, bad, message) => {
    expect(faultsOf([...good, bad]).realTime.join('\n')).toMatch(message);
  });

  it('a local read may be old, and calls that overlap may come in any order', () => {
    const old = read(X, 0, 1n, [20, 21]);
    const overlapping = read(X, 1, 3n, [8, 10], { linearizable: true });
    expect(faultsOf([...good, old, overlapping])).toEqual({ table: [], realTime: [], sessions: [] });
  });
});

describe('session order', () => {
  it('a session that unsees a value of the same znode is found', () => {
    expect(faultsOf([...good, read(X, 1, 3n, [20, 21], { session: 7n })]).sessions.join('\n')).toMatch(
      /read version 1, replaced/,
    );
  });

  it('a session that was shown another znode at a later zxid and then reads an old value is found', () => {
    const calls = [
      ...good,
      write(Y, 1, 5n, [14, 15]),
      read(Y, 1, 5n, [16, 17], { session: 8n }),
      read(X, 1, 3n, [20, 21], { session: 8n }),
    ];
    expect(faultsOf(calls).sessions.join('\n')).toMatch(/in the same session had shown 0x5/);
    expect(faultsOf(calls.map((one) => ({ ...one, session: 0n }))).sessions).toEqual([]);
  });

  it('a write that was asked for again may stand before what a read shows that was made earlier and answered later', () => {
    const calls = [read(X, 2, 4n, [14, 18], { session: 9n }), write(Y, 1, 4n, [16, 17], { session: 9n })];
    expect(faultsOf([...good, ...calls]).sessions.join('\n')).not.toMatch(/stands at 0x4, not after/);
  });

  it('a write that stands before what its session has seen is found', () => {
    const calls = [read(X, 2, 4n, [14, 15], { session: 9n }), write(Y, 1, 4n, [16, 17], { session: 9n })];
    expect(faultsOf([...good, ...calls]).sessions.join('\n')).toMatch(/stands at 0x4, not after/);
  });
});
