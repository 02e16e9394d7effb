import type { ErrorCode, MultiPart } from '@quorate/protocol';
import { describe, expect, test } from 'vitest';
import { checkLinearizable } from './check.ts';
import {
  bytes,
  call,
  changed,
  close,
  closed,
  create,
  get,
  made,
  remove,
  removed,
  set,
  shown,
  sync,
  synced,
} from './history.fixture.ts';
import type { History, HistoryCall, SeenPart, SeenResult } from './history.ts';

type Op = HistoryCall['op'];

const made1 = call(create('/a', 'x'), [1, 2], made('/a'));
const own = { session: 7n, stream: 's7', process: 's7' };
const kind = (history: History): string => checkLinearizable(history).kind;

const changed1: SeenPart = { kind: 'setData', stat: { version: 1 } };
const removed1: SeenPart = { kind: 'delete' };
const madeA: SeenPart = { kind: 'create', path: '/a' };
const multi = (...parts: (Op | MultiPart)[]): Op => ({ kind: 'multi', parts: parts as MultiPart[] });
const both = (...results: SeenPart[]): SeenResult => ({ kind: 'multi', results });
const brief = (path: string): Op => ({ ...create(path, 'x'), mode: 'ttl', ttlMs: 5 }) as Op;
const deep = (path: string): Op => ({ ...create(path, 'z'), parents: true }) as Op;
const put = (path: string, value: string): Op => ({ kind: 'createOrSet', path, data: bytes(value) });
const ending = (path: string): Op => ({ kind: 'deleteSubtree', path });
const failedIn = (part: number, code: ErrorCode): HistoryCall['result'] => {
  return { kind: 'error', code, path: undefined, message: '', part };
};

const GOOD: readonly (readonly [string, History])[] = [
  [
    'what is below the top of a subtree that ends may be gone or not, and the top is when it is said',
    [
      made1,
      call(create('/a/b', 'x'), [3, 4], made('/a/b')),
      call(create('/a/c', 'x'), [5, 6], made('/a/c')),
      call(ending('/a'), [7, 8], { kind: 'deleteSubtree', more: true }),
      call(get('/a'), [9, 10], shown('x', 0)),
      call(get('/a/b'), [11, 12], 'NO_NODE'),
      call(get('/a/c'), [13, 14], shown('x', 0)),
      call(ending('/a'), [15, 16], { kind: 'deleteSubtree', more: false }),
      call(get('/a'), [17, 18], 'NO_NODE'),
      call(ending('/a'), [19, 20], 'NO_NODE'),
    ],
  ],
  [
    'ancestors are made where they are missing, and stay as they are where they are not',
    [
      made1,
      call(deep('/a/b/c'), [3, 4], made('/a/b/c')),
      call(get('/a'), [5, 6], shown('x', 0)),
      call(get('/a/b'), [7, 8], { kind: 'getData', data: undefined, stat: { version: 0 } }),
    ],
  ],
  [
    'a put of unknown outcome has set or made it, or not',
    [
      call(put('/a', 'x'), [1]),
      call(get('/a'), [2, 3], 'NO_NODE'),
      call(get('/a'), [4, 5], shown('x', 0)),
      call(put('/a', 'y'), [6, 7], { kind: 'createOrSet', created: false, stat: { version: 1 } }),
    ],
  ],
  [
    'a sequential number after ancestors is any',
    [
      call(create('/q', ''), [1, 2], made('/q')),
      call(create('/q/a-', '', { sequential: true }), [3, 4], made('/q/a-0000000000')),
      call(deep('/q/d/e'), [5, 6], made('/q/d/e')),
      call(create('/q/a-', '', { sequential: true }), [7, 8], made('/q/a-0000000002')),
    ],
  ],
  [
    'a multi does all that it does to a znode at one moment',
    [
      made1,
      call(multi(set('/a', 'y'), remove('/a', 1), create('/a', 'z')), [3, 4], both(changed1, removed1, madeA)),
      call(get('/a'), [5, 6], shown('z', 0)),
    ],
  ],
  [
    'a multi of unknown outcome may have happened',
    [made1, call(multi(set('/a', 'y'), create('/b', 'y')), [3]), call(get('/b'), [5, 6], shown('y', 0))],
  ],
  [
    'a znode with a TTL may be gone at any time',
    [call(brief('/a'), [1, 2], made('/a')), call(get('/a'), [3, 4], 'NO_NODE'), call(brief('/a'), [5, 6], made('/a'))],
  ],
  ['who may not read a znode learns that it is there', [made1, call(get('/a'), [3, 4], 'NO_AUTH')]],
  [
    'what a part would have found after those before it is no fact about the time before',
    [
      made1,
      call(multi(remove('/a'), set('/a', 'y')), [3, 4], undefined, { result: failedIn(1, 'NO_NODE') }),
      call(get('/a'), [5, 6], shown('x', 0)),
    ],
  ],
  ['a read after a write shows it', [made1, call(get('/a'), [3, 4], shown('x', 0))]],
  [
    'a read during a write may show either',
    [
      made1,
      call(set('/a', 'y'), [3, 9], changed(1)),
      call(get('/a'), [4, 5], shown('x', 0)),
      call(get('/a'), [6, 7], shown('y', 1)),
    ],
  ],
  [
    'a write of unknown outcome may have happened',
    [made1, call(set('/a', 'y'), [3]), call(get('/a'), [5, 6], shown('y', 1))],
  ],
  [
    'or happen much later',
    [
      made1,
      call(set('/a', 'y'), [3, 4], 'OUTCOME_UNKNOWN'),
      call(get('/a'), [5, 6], shown('x')),
      call(get('/a'), [7, 8], shown('y')),
    ],
  ],
  ['or never', [made1, call(set('/a', 'y'), [3]), call(set('/a', 'z'), [5, 6], changed(1))]],
  [
    'a conditional write sees the version that the unknown one made',
    [made1, call(set('/a', 'y'), [3]), call(set('/a', 'z', 1), [5, 6], changed(2))],
  ],
  [
    'deleted and made again, the version is 0 again',
    [
      made1,
      call(set('/a', 'y'), [3, 4], changed(1)),
      call(remove('/a', 1), [5, 6], removed),
      call(create('/a', 'z'), [7, 8], made('/a')),
      call(get('/a'), [9, 10], shown('z', 0)),
    ],
  ],
  [
    'a write that surely was not done is none',
    [made1, call(set('/a', 'y'), [3, 4], 'UNAVAILABLE'), call(get('/a'), [5, 6], shown('x', 0))],
  ],
  [
    'refusals are facts',
    [
      call(get('/a'), [1, 2], 'NO_NODE'),
      call(create('/a', 'x'), [3, 4], made('/a')),
      call(create('/a', 'y'), [5, 6], 'NODE_EXISTS'),
      call(set('/a', 'y', 3), [7, 8], 'BAD_VERSION'),
    ],
  ],
  [
    'sequential znodes are numbered without gaps',
    [
      made1,
      call(create('/a/n-', '1', { sequential: true }), [3, 8], made('/a/n-0000000001')),
      call(create('/a/n-', '2', { sequential: true }), [3, 8], made('/a/n-0000000000')),
    ],
  ],
  [
    'a gap is a create of unknown outcome',
    [
      made1,
      call(create('/a/n-', '1', { sequential: true }), [3]),
      call(create('/a/n-', '2', { sequential: true }), [5, 6], made('/a/n-0000000001')),
      call(get('/a/n-0000000000'), [7, 8], shown('1')),
    ],
  ],
  [
    'an ordinary read may be old',
    [
      made1,
      call(set('/a', 'y'), [3, 4], changed(1), { process: 'q' }),
      call(get('/a'), [5, 6], shown('x'), { ...own, linearizable: false }),
    ],
  ],
  [
    'an ephemeral may go when its session has been silent',
    [call(create('/e', 'x', { ephemeral: true }), [1, 2], made('/e'), own), call(get('/e'), [5, 6], 'NO_NODE')],
  ],
];

const BAD: readonly (readonly [string, History, string])[] = [
  [
    'the top of a subtree that has ended and is there',
    [made1, call(ending('/a'), [3, 4], { kind: 'deleteSubtree', more: false }), call(get('/a'), [5, 6], shown('x', 0))],
    '/a: after no znode',
  ],
  [
    'a znode beside a subtree that ends and is gone with it',
    [call(create('/ab', 'x'), [1, 2], made('/ab')), call(ending('/a'), [3, 4]), call(get('/ab'), [5, 6], 'NO_NODE')],
    '/ab: after version 0',
  ],
  [
    'an ancestor that was made and is not there',
    [call(deep('/a/b'), [1, 2], made('/a/b')), call(get('/a'), [3, 4], 'NO_NODE')],
    '/a: after version 0',
  ],
  [
    'a put that says it has set what was not there',
    [call(put('/a', 'x'), [1, 2], { kind: 'createOrSet', created: false, stat: { version: 1 } })],
    '/a: after no znode',
  ],
  [
    'several reads of one moment, one of them of another',
    [
      made1,
      call(set('/a', 'y'), [3, 4], changed(1)),
      call({ kind: 'multiRead', parts: [{ kind: 'getData', path: '/a' }] }, [5, 6], {
        kind: 'multiRead',
        results: [{ kind: 'getData', data: bytes('x') }],
      }),
    ],
    '/a: after version 1',
  ],
  [
    'a multi of which one znode shows nothing',
    [
      made1,
      call(multi(set('/a', 'y'), create('/b', 'y')), [3, 4], both(changed1, { kind: 'create', path: '/b' })),
      call(get('/b'), [5, 6], 'NO_NODE'),
    ],
    '/b: after version 0, none of these can come next',
  ],
  [
    'a multi of which a znode shows the middle',
    [
      made1,
      call(multi(set('/a', 'y'), set('/a', 'z')), [3, 9], both(changed1, { kind: 'setData', stat: { version: 2 } })),
      call(get('/a'), [4, 8], shown('y', 1)),
    ],
    '/a: after',
  ],
  [
    'a check that held for a znode that was not there',
    [call(multi({ kind: 'check', path: '/a', expectedVersion: 0 }), [1, 2], both({ kind: 'check' }))],
    '/a: after no znode',
  ],
  [
    'a guarded write that was done without its guard',
    [made1, call(set('/a', 'y'), [3, 4], changed(1), { guards: [{ path: '/g' }] })],
    '/g: after no znode',
  ],
  ['a znode without a TTL that is gone by itself', [made1, call(get('/a'), [3, 4], 'NO_NODE')], '/a: after version 0'],
  ['a znode that may not be read and is not there', [call(get('/a'), [1, 2], 'NO_AUTH')], '/a: after no znode'],
  [
    'a part that was refused for what was not so',
    [
      made1,
      call(multi(set('/b', 'y')), [3, 4], undefined, { result: failedIn(0, 'NO_NODE') }),
      call(multi(create('/a', 'z')), [5, 6], undefined, { result: failedIn(0, 'NO_NODE') }),
    ],
    '/: after',
  ],
  [
    'a read that misses an acknowledged write',
    [made1, call(set('/a', 'y'), [3, 4], changed(1)), call(get('/a'), [5, 6], shown('x'))],
    '/a: after version 1, none of these can come next',
  ],
  [
    'two reads that go back',
    [
      made1,
      call(set('/a', 'y'), [3, 20], changed(1)),
      call(get('/a'), [4, 5], shown('y')),
      call(get('/a'), [6, 7], shown('x')),
    ],
    'p: getData /a [6..7] -> ok "x"',
  ],
  ['a lost write', [made1, call(get('/a'), [3, 4], 'NO_NODE')], 'after version 0'],
  [
    'an unknown write that comes, goes and comes again',
    [
      made1,
      call(set('/a', 'y'), [3]),
      call(get('/a'), [5, 6], shown('y')),
      call(set('/a', 'z'), [7, 8], changed(2)),
      call(get('/a'), [9, 10], shown('y')),
    ],
    'getData /a [9..10]',
  ],
  [
    'one version given twice',
    [made1, call(set('/a', 'y', 0), [3, 9], changed(1)), call(set('/a', 'z', 0), [3, 9], changed(1))],
    '/a: after version 1',
  ],
  ['a create that succeeds twice', [made1, call(create('/a', 'y'), [3, 4], made('/a'))], 'create /a "y"'],
  ['data that nobody wrote', [made1, call(get('/a'), [3, 4], shown('q'))], 'getData /a'],
  [
    'one sequential number for two',
    [
      made1,
      call(create('/a/n-', '1', { sequential: true }), [3, 8], made('/a/n-0000000000')),
      call(create('/a/m-', '2', { sequential: true }), [3, 8], made('/a/m-0000000000')),
    ],
    '/a: after version 0, 1 children so far',
  ],
  [
    'a gap that nobody can have made',
    [made1, call(create('/a/n-', '1', { sequential: true }), [3, 4], made('/a/n-0000000001'))],
    '/a',
  ],
  ['a child without a parent', [call(create('/a/b', 'x'), [1, 2], made('/a/b'))], '/a: after no znode'],
  [
    'a read after a sync of its stream that misses a write',
    [
      made1,
      call(set('/a', 'y'), [3, 4], changed(1)),
      call(sync('/a'), [5, 6], synced, own),
      call(get('/a'), [7, 8], shown('x'), { ...own, linearizable: false }),
    ],
    's7: getData /a',
  ],
  [
    'a read after a write of its stream that misses what was there before',
    [
      made1,
      call(set('/a', 'y'), [3, 4], changed(1)),
      call(create('/b', 'z'), [5, 6], made('/b'), own),
      call(get('/a'), [7, 8], shown('x'), { ...own, linearizable: false }),
    ],
    's7: getData /a',
  ],
  [
    'an ephemeral that dies while its session still writes',
    [
      made1,
      call(create('/e', 'x', { ephemeral: true }), [3, 4], made('/e'), own),
      call(get('/e'), [5, 6], 'NO_NODE'),
      call(set('/a', 'y'), [7, 8], changed(1), own),
    ],
    '/e: after version 0, of session 0x7',
  ],
  [
    'an ephemeral that outlives the close of its session',
    [
      call(create('/e', 'x', { ephemeral: true }), [1, 2], made('/e'), own),
      call(close, [3, 4], closed, own),
      call(get('/e'), [5, 6], shown('x')),
    ],
    '/e: after',
  ],
  [
    'a stream that is shown an older position',
    [
      call(get('/a'), [1, 2], 'NO_NODE', { ...own, zxid: 9n }),
      call(get('/b'), [3, 4], 'NO_NODE', { ...own, zxid: 8n, linearizable: false }),
    ],
    'shows 0x8',
  ],
];

describe('what clients saw', () => {
  test.each(GOOD)('%s', (_, history) => {
    expect(checkLinearizable(history)).toMatchObject({ kind: 'linearizable' });
    expect(kind([...history].reverse())).toBe('linearizable');
  });

  test.each(BAD)('is not linearizable: %s', (_, history, message) => {
    const verdict = checkLinearizable(history);
    expect(verdict).toMatchObject({ kind: 'violation' });
    expect('message' in verdict ? verdict.message : '').toContain(message);
  });

  test('a search that is given up says so', () => {
    const history = [made1, ...Array.from({ length: 9 }, (_, n) => call(set('/a', `v${n}`), [3, 9], changed(1 + n)))];
    expect(checkLinearizable(history, { stepsMax: 5 })).toMatchObject({ kind: 'undecided', path: '/a' });
    expect(kind(history)).toBe('linearizable');
  });

  test('many writes of unknown outcome that nobody saw cost little', () => {
    const lost = Array.from({ length: 200 }, (_, n) => call(set('/a', `v${n}`), [3 + n]));
    const later = [call(set('/a', 'y'), [300, 301], changed(151)), call(get('/a'), [302, 303], shown('y'))];
    expect(checkLinearizable([made1, ...lost, ...later], { stepsMax: 5_000 })).toMatchObject({ kind: 'linearizable' });
    const never = call(get('/a'), [304, 305], shown('x'));
    expect(checkLinearizable([made1, ...lost, ...later, never], { stepsMax: 50_000 })).toMatchObject({
      kind: 'violation',
    });
  });

  test('nor do lost deletes and creates that undo each other', () => {
    const lost = Array.from({ length: 40 }, (_, n) =>
      call(n % 2 === 0 ? remove('/a') : create('/a', `v${n}`), [3 + n], undefined, { process: `c${n}` }),
    );
    const seen = [5, 9, 1].map((n, at) => call(get('/a'), [100 + 2 * at, 101 + 2 * at], shown(`v${n}`, 0)));
    expect(checkLinearizable([made1, ...lost, ...seen], { stepsMax: 50_000 })).toMatchObject({ kind: 'linearizable' });
    const never = call(get('/a'), [120, 121], shown('v5', 1));
    expect(checkLinearizable([made1, ...lost, ...seen, never], { stepsMax: 50_000 })).toMatchObject({
      kind: 'violation',
    });
  });
});
