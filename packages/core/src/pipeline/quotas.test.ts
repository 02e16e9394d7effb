import {
  formatLimits,
  formatUsage,
  limitsPath,
  type MultiOp,
  type MultiPart,
  NO_QUOTA_LIMITS,
  NO_SESSION,
  type QuotaLimits,
  quotaAncestors,
  type SessionId,
  statsPath,
  type WriteOp,
} from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { create, set } from '../peer/words.fixture.ts';
import { StateDisk } from '../tree/tree-script.fixture.ts';
import type { TxnBody } from '../tree/txn.ts';
import { PreparedTree } from './leader.fixture.ts';

const S = 21n as SessionId;

/** What becomes of a write: the code of the refusal, or its kind. */
const said = (body: TxnBody): string => (body.kind === 'error' ? body.code : body.kind);

function remove(path: string): Extract<WriteOp, { kind: 'delete' }> {
  return { kind: 'delete', path, expectedVersion: undefined };
}

class Leader extends PreparedTree {
  constructor() {
    super();
    this.open(S);
  }

  /** Sets a quota as the tools do. */
  limit(path: string, limits: Partial<QuotaLimits>): string {
    for (const ancestor of quotaAncestors(path)) this.order(create(ancestor));
    const data = formatLimits({ ...NO_QUOTA_LIMITS, ...limits });
    const made = this.order({ ...create(limitsPath(path)), data });
    this.order(create(statsPath(path)));
    return said(made);
  }

  do(op: WriteOp, session: SessionId = NO_SESSION): string {
    return said(this.order(op, session));
  }

  /** As the znode of the usage says; only what is applied. */
  usage(path: string): string {
    return String.fromCharCode(...(this.tree.data(statsPath(path)) ?? []));
  }
}

describe.each([
  ['applied at once', (leader: Leader) => leader.apply()],
  ['all in flight', () => undefined],
])('C011: a hard limit, %s', (_, settle) => {
  it('holds for creates and for data, counts the top too, and what is deleted makes room', () => {
    const leader = new Leader();
    const done = (op: WriteOp): string => {
      const what = leader.do(op);
      settle(leader);
      return what;
    };
    done(create('/q', '12345'));
    expect(leader.limit('/q', { countHard: 3, bytesHard: 100 })).toBe('create');
    settle(leader);
    const steps: [Exclude<WriteOp, MultiOp>, string][] = [
      [create('/q/a', 'x'.repeat(50)), 'create'],
      [create('/q/b', 'x'.repeat(46)), 'QUOTA_EXCEEDED'],
      [create('/q/b', 'x'.repeat(45)), 'create'],
      [create('/q/c'), 'QUOTA_EXCEEDED'],
      [create('/q/b/c'), 'QUOTA_EXCEEDED'],
      [create('/qq'), 'create'],
      [set('/q', '123456'), 'QUOTA_EXCEEDED'],
      [set('/q', '1234'), 'setData'],
      [set('/q/a', 'x'.repeat(52)), 'QUOTA_EXCEEDED'],
      [set('/q/a', 'x'.repeat(51)), 'setData'],
      [remove('/q/b'), 'delete'],
      [create('/q/c', 'y'), 'create'],
      [create('/q/d'), 'QUOTA_EXCEEDED'],
    ];
    for (const [op, wanted] of steps) expect([op.path, done(op)]).toEqual([op.path, wanted]);
    leader.apply();
    expect(leader.usage('/q')).toBe('count=3,bytes=56');
  });

  it('gives room back when a session ends, in whatever way its ephemerals go', () => {
    const leader = new Leader();
    leader.do(create('/q'));
    leader.limit('/q', { countHard: 3 });
    settle(leader);
    for (const path of ['/q/a', '/q/b']) leader.do(create(path, 'x', { mode: 'ephemeral' }), S);
    settle(leader);
    expect(leader.do(create('/q/c'))).toBe('QUOTA_EXCEEDED');
    leader.propose(leader.preparation.expire(S, 1_000));
    settle(leader);
    expect(leader.do(create('/q/c'))).toBe('create');
    leader.apply();
    expect(leader.usage('/q')).toBe('count=2,bytes=0');
    expect(leader.preparation.size).toBe(0);
  });

  it('is changed by the data of its znode, and gone with it', () => {
    const leader = new Leader();
    leader.do(create('/q'));
    leader.limit('/q', { countHard: 1 });
    settle(leader);
    expect(leader.do(create('/q/a'))).toBe('QUOTA_EXCEEDED');
    const wider = formatLimits({ ...NO_QUOTA_LIMITS, countHard: 2 });
    leader.do({ kind: 'setData', path: limitsPath('/q'), data: wider, expectedVersion: undefined });
    settle(leader);
    expect([leader.do(create('/q/a')), leader.do(create('/q/b'))]).toEqual(['create', 'QUOTA_EXCEEDED']);
    leader.do(remove(limitsPath('/q')));
    settle(leader);
    expect(leader.do(create('/q/b'))).toBe('create');
  });
});

describe('C011: quotas', () => {
  it('with soft limits alone let everything through, and say once that one was crossed', () => {
    const leader = new Leader();
    leader.do(create('/q'));
    leader.limit('/q', { count: 2, bytes: 10 });
    const crossed = (): string[] => [...leader.preparation.takeSoftCrossings()];
    leader.do(create('/q/a'));
    expect(crossed()).toEqual([]);
    expect(leader.do(create('/q/b'))).toBe('create');
    expect(crossed()).toEqual(['/q']);
    leader.do(create('/q/c'));
    expect(crossed()).toEqual([]);
    expect(leader.do(set('/q', '12345678901'))).toBe('setData');
    expect(crossed()).toEqual(['/q']);
  });

  it('one above or below another one are refused, as are limits that are none, and usage that a client says', () => {
    const leader = new Leader();
    for (const path of ['/q', '/q/a', '/q/a/b', '/qa']) leader.do(create(path));
    expect(leader.limit('/q/a', { countHard: 9 })).toBe('create');
    for (const path of ['/q', '/q/a/b']) expect(leader.limit(path, { countHard: 9 })).toBe('INVALID_ARGUMENT');
    expect(leader.limit('/qa', { countHard: 9 })).toBe('create');
    leader.apply();
    for (const path of ['/q', '/q/a/b']) expect(leader.limit(path, { countHard: 9 })).toBe('INVALID_ARGUMENT');
    leader.do(create('/zookeeper/quota/other'));
    expect(leader.do(create(limitsPath('/other'), 'count=x,bytes=-1'))).toBe('INVALID_ARGUMENT');
    expect(leader.do(set(limitsPath('/q/a'), 'count=-7,bytes=-1'))).toBe('INVALID_ARGUMENT');
    expect(leader.do(set(statsPath('/q/a'), 'count=0,bytes=0'))).toBe('INVALID_ARGUMENT');
    expect(leader.do(create(limitsPath(''), 'count=1,bytes=1'))).toBe('create');
    expect(leader.do(create('/free'))).toBe('create');
  });

  it('change nothing of the znode with the usage but its data', () => {
    const leader = new Leader();
    leader.do(create('/q', 'abc'));
    leader.limit('/q', { count: 5 });
    leader.apply();
    const before = leader.tree.stat(statsPath('/q'));
    expect(leader.usage('/q')).toBe('count=1,bytes=3');
    leader.do(create('/q/a', 'x'.repeat(100)));
    leader.apply();
    expect(leader.usage('/q')).toBe('count=2,bytes=103');
    expect(leader.tree.stat(statsPath('/q'))).toEqual({ ...before, dataLength: 'count=2,bytes=103'.length });
  });

  it('below a znode that is not there yet count from its create on', () => {
    const leader = new Leader();
    leader.limit('/q', { countHard: 1 });
    expect([leader.do(create('/q')), leader.do(create('/q/a'))]).toEqual(['create', 'QUOTA_EXCEEDED']);
    leader.apply();
    expect(leader.usage('/q')).toBe('count=1,bytes=0');
  });
});

describe('C011: a hard limit in a multi', () => {
  const all = (...parts: MultiPart[]): MultiOp => ({ kind: 'multi', parts });

  it('refuses the whole of it, whichever part goes past it, and leaves nothing of the others', () => {
    const leader = new Leader();
    for (const path of ['/q', '/q/a']) leader.do(create(path));
    leader.limit('/q', { countHard: 3 });
    leader.apply();
    const refused = leader.order(all(create('/q/b'), create('/other'), create('/q/c')));
    expect(refused).toMatchObject({ kind: 'error', code: 'QUOTA_EXCEEDED', path: '/q/c', part: 2 });
    expect(said(leader.order(all(create('/q/b'), create('/other'))))).toBe('multi');
    expect(leader.do(create('/q/c'))).toBe('QUOTA_EXCEEDED');
    leader.apply();
    expect(leader.usage('/q')).toBe('count=3,bytes=0');
    expect(leader.preparation.size).toBe(0);
  });

  it('counts what parts before it take and give', () => {
    const leader = new Leader();
    for (const path of ['/q', '/q/a', '/q/b']) leader.do(create(path));
    leader.limit('/q', { countHard: 3, bytesHard: 10 });
    expect(said(leader.order(all(create('/q/c'), remove('/q/a'))))).toBe('QUOTA_EXCEEDED');
    expect(said(leader.order(all(remove('/q/a'), create('/q/c', '12345'), set('/q/b', '12345'))))).toBe('multi');
    expect(said(leader.order(all(set('/q/c', '1234'), set('/q/b', '1234567'))))).toBe('QUOTA_EXCEEDED');
    expect(said(leader.order(all(set('/q/c', ''), set('/q/b', '1234567890'))))).toBe('multi');
    leader.apply();
    expect(leader.usage('/q')).toBe('count=3,bytes=10');
  });

  it('set by a part holds for the parts after it, counts what they and others do before, and goes with a failed multi', () => {
    const leader = new Leader();
    for (const path of ['/q', '/q/a', '/zookeeper/quota/q']) leader.do(create(path));
    const limit = { ...create(limitsPath('/q')), data: formatLimits({ ...NO_QUOTA_LIMITS, countHard: 3 }) };
    expect(said(leader.order(all(create('/q/b'), limit, create('/q/c'))))).toBe('QUOTA_EXCEEDED');
    expect(leader.do(create('/q/d'))).toBe('create');
    expect(said(leader.order(all(create('/q/b'), limit, remove('/q/a'), create('/q/c'))))).toBe('QUOTA_EXCEEDED');
    expect(said(leader.order(all(limit, remove('/q/a'), create('/q/c'))))).toBe('multi');
    leader.apply();
    expect(leader.tree.quotas.get('/q')).toMatchObject({ count: 3, bytes: 0 });
  });
});

describe('the usage of any subtree', () => {
  const PATHS = ['/q', '/q/a', '/q/a/x', '/q/b', '/r', '/r/a'];
  const path = fc.constantFrom(...PATHS);
  const size = fc.integer({ min: 0, max: 30 });
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), path, size, ephemeral: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('set' as const), path, size }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), path, size }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('unlimit' as const), path }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('expire' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('apply' as const), size }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reload' as const) }) },
  );

  it('is what a recount gives, never past its hard limit by a write, and the same after a load', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), (steps) => {
        const leader = new Leader();
        const disk = new StateDisk();
        let session = S;
        for (const one of steps) {
          const data = 'size' in one ? 'x'.repeat(one.size) : '';
          if (one.do === 'create') {
            leader.do(create(one.path, data, { mode: one.ephemeral ? 'ephemeral' : 'persistent' }), session);
          } else if (one.do === 'set') leader.do(set(one.path, data));
          else if (one.do === 'delete') leader.do(remove(one.path));
          else if (one.do === 'limit') leader.limit(one.path, { countHard: one.size % 5, bytesHard: one.size * 2 });
          else if (one.do === 'unlimit') leader.do(remove(limitsPath(one.path)));
          else if (one.do === 'expire') {
            leader.propose(leader.preparation.expire(session, 1_000));
            session = (session + 1n) as SessionId;
            leader.open(session);
          } else if (one.do === 'apply') leader.apply(one.size);
          else {
            disk.save(leader.tree);
            const loaded = disk.load();
            expect(loaded.digest).toBe(leader.tree.digest);
            expect(new Map(quotasOf(loaded))).toEqual(new Map(quotasOf(leader.tree)));
          }
          for (const [of, { count, bytes: held }] of quotasOf(leader.tree)) {
            expect([of, { count, bytes: held }]).toEqual([of, leader.tree.usageOf(of)]);
            const shown = leader.tree.data(statsPath(of));
            if (shown !== undefined) expect(shown).toEqual(formatUsage({ count, bytes: held }));
          }
        }
        leader.apply();
        expect(leader.preparation.size).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  function quotasOf({ quotas }: Leader['tree']): [string, { count: number; bytes: number }][] {
    return [...quotas.paths()].map((one) => [one, { ...quotas.get(one)! }]);
  }
});
