/** What a transaction has read is held against what was there, part by part. */
import type { MultiPart } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { checkLinearizable } from './check.ts';
import { bytes, call, create, made, set } from './history.fixture.ts';
import type { History, HistoryCall, SeenPart, SeenResult } from './history.ts';

type Op = HistoryCall['op'];

const made1 = call(create('/a', 'x'), [1, 2], made('/a'));
const changed1: SeenPart = { kind: 'setData', stat: { version: 1 } };
const multi = (...parts: (Op | MultiPart)[]): Op => ({ kind: 'multi', parts: parts as MultiPart[] });
const both = (...results: SeenPart[]): SeenResult => ({ kind: 'multi', results });

test('what a transaction read before and after its own write is what was there', () => {
  const read: MultiPart = { kind: 'getData', path: '/a' };
  const parts = [{ kind: 'exists', path: '/b' } as const, read, set('/a', 'y'), read];
  const results: SeenPart[] = [
    { kind: 'exists', stat: undefined },
    { kind: 'getData', data: bytes('x'), stat: { version: 0 } },
    changed1,
    { kind: 'getData', data: bytes('y'), stat: { version: 1 } },
  ];
  const history = [made1, call(multi(...parts), [3, 4], both(...results))];
  expect(checkLinearizable(history)).toMatchObject({ kind: 'linearizable' });
});

const BAD: readonly (readonly [string, History, string])[] = [
  [
    'a check that nothing was there, of a znode that was',
    [
      made1,
      call(
        multi({ kind: 'check', path: '/a', expectedVersion: undefined, absent: true }),
        [3, 4],
        both({ kind: 'check' }),
      ),
    ],
    '/a: after version 0',
  ],
  [
    'a read in a multi that misses what was there',
    [made1, call(multi({ kind: 'exists', path: '/a' }), [3, 4], both({ kind: 'exists', stat: undefined }))],
    '/a: after version 0',
  ],
  [
    'a read in a multi that shows what its own write has put in its place',
    [
      made1,
      call(
        multi(set('/a', 'y'), { kind: 'getData', path: '/a' }),
        [3, 4],
        both(changed1, { kind: 'getData', data: bytes('x') }),
      ),
    ],
    '/a: after version 0',
  ],
];

test.each(BAD)('%s is no history', (_, history, message) => {
  const verdict = checkLinearizable(history);
  expect(verdict).toMatchObject({ kind: 'violation', message: expect.stringContaining(message) as string });
});
