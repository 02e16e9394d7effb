import { type MultiPart, NO_SESSION, type SessionId } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { create, set } from '../peer/words.fixture.ts';
import type { TxnBody } from '../tree/txn.ts';
import { CLOSE_SESSION_BYTES_MAX } from './ephemeral-load.ts';
import { PreparedTree } from './leader.fixture.ts';
import { refusal } from './refusal.ts';
import type { OrderedOp } from './write-request.ts';

const S = 11n as SessionId;
const OTHER = 12n as SessionId;
const EPHEMERAL = { mode: 'ephemeral' } as const;
const SEQUENTIAL = { sequential: true } as const;

const del = (path: string, expectedVersion?: number): OrderedOp => ({ kind: 'delete', path, expectedVersion });
const setAt = (path: string, expectedVersion: number): OrderedOp => ({ ...set(path, 'x'), expectedVersion });
const CLOSE: OrderedOp = { kind: 'closeSession' };

function codeOf(body: TxnBody): string {
  return body.kind === 'error' ? body.code : body.kind;
}

function pathOf(body: TxnBody): string | undefined {
  return body.kind === 'create' ? body.path : undefined;
}

describe('sequential names', () => {
  it('C002: come from the creates of the parent, in flight or applied, and never go back', () => {
    for (const isLate of [true, false]) {
      const prepared = new PreparedTree();
      const order = (op: OrderedOp): TxnBody => {
        const body = prepared.order(op);
        if (!isLate) prepared.apply();
        return body;
      };
      order(create('/s'));
      const first = order(create('/s/a-', '', SEQUENTIAL));
      const second = order(create('/s/b-', '', SEQUENTIAL));
      order(del('/s/a-0000000000'));
      order(del('/s/b-0000000001'));
      order(create('/s/x'));
      const third = order(create('/s/a-', '', SEQUENTIAL));
      order(del('/s/x'));
      order(del('/s/a-0000000003'));
      order(del('/s'));
      order(create('/s'));
      const fourth = order(create('/s/a-', '', SEQUENTIAL));
      expect([first, second, third, fourth].map(pathOf)).toEqual([
        '/s/a-0000000000',
        '/s/b-0000000001',
        '/s/a-0000000003',
        '/s/a-0000000000',
      ]);
    }
  });

  it('C002: a refused create takes no number', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/s'));
    prepared.order(create('/s/n-0000000001'));
    expect(codeOf(prepared.order(create('/s/n-', '', SEQUENTIAL)))).toBe('NODE_EXISTS');
    expect(codeOf(prepared.order(create('/s/n-', '', SEQUENTIAL)))).toBe('NODE_EXISTS');
    expect(pathOf(prepared.order(create('/s/m-', '', SEQUENTIAL)))).toBe('/s/m-0000000001');
  });

  it('may have no name of their own', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/a'));
    expect(pathOf(prepared.order(create('/a/', '', SEQUENTIAL)))).toBe('/a/0000000000');
    expect(pathOf(prepared.order(create('/', '', SEQUENTIAL)))).toBe('/0000000001');
  });
});

describe('the order of checks', () => {
  const prepared = new PreparedTree();
  prepared.open(S);
  for (const path of ['/p', '/p/c', '/v']) prepared.order(create(path));
  prepared.order(create('/e', '', EPHEMERAL), S);
  prepared.order(create('/gone', '', EPHEMERAL), S);
  const moved = refusal('SESSION_MOVED', 'moved');

  it.each<[string, OrderedOp, SessionId]>([
    ['SESSION_EXPIRED', create('/no/parent'), OTHER],
    ['SESSION_EXPIRED', setAt('/none', 5), OTHER],
    ['SESSION_EXPIRED', CLOSE, OTHER],
    ['NO_NODE', create('/none/x'), NO_SESSION],
    ['NODE_EXISTS', create('/p'), NO_SESSION],
    ['NODE_EXISTS', create('/'), NO_SESSION],
    ['NO_CHILDREN_FOR_EPHEMERALS', create('/e/x'), NO_SESSION],
    ['NO_NODE', del('/none/x', 9), NO_SESSION],
    ['NO_NODE', del('/p/none', 9), NO_SESSION],
    ['BAD_VERSION', del('/p', 9), NO_SESSION],
    ['NOT_EMPTY', del('/p', 0), NO_SESSION],
    ['NO_NODE', setAt('/none', 9), NO_SESSION],
    ['BAD_VERSION', setAt('/v', 9), NO_SESSION],
    ['INVALID_ARGUMENT', create('/none//x'), NO_SESSION],
    ['INVALID_ARGUMENT', del('/zookeeper'), NO_SESSION],
  ])('gives %s', (code, op, session) => {
    expect(codeOf(prepared.order(op, session))).toBe(code);
  });

  it('asks for the owner after the session and before anything of the tree', () => {
    const request = { incarnation: 1, seq: 1, attached: true, op: create('/none/x') };
    const known = prepared.preparation.prepare({ ...request, session: S }, 1, 0, moved);
    const unknown = prepared.preparation.prepare({ ...request, session: OTHER }, 1, 0, moved);
    expect([codeOf(known.body), codeOf(unknown.body)]).toEqual(['SESSION_MOVED', 'SESSION_EXPIRED']);
  });

  it('names the origin, the time and the session in the txn, refused or not', () => {
    const request = { incarnation: 7, seq: 8, session: S, attached: false, op: del('/none') };
    const txn = prepared.preparation.prepare(request, 3, 1_234, undefined);
    expect(txn).toMatchObject({ origin: { sid: 3, incarnation: 7, seq: 8 }, session: S, timeMs: 1_234 });
  });
});

describe('versions', () => {
  it('count what is in flight', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/v'));
    expect(prepared.order(setAt('/v', 0))).toMatchObject({ kind: 'setData', version: 1 });
    expect(codeOf(prepared.order(setAt('/v', 0)))).toBe('BAD_VERSION');
    expect(prepared.order(setAt('/v', 1))).toMatchObject({ kind: 'setData', version: 2 });
    expect(codeOf(prepared.order(del('/v', 2)))).toBe('delete');
    expect(codeOf(prepared.order(set('/v', 'x')))).toBe('NO_NODE');
    expect(codeOf(prepared.order(create('/v')))).toBe('create');
    expect(prepared.order(setAt('/v', 0))).toMatchObject({ kind: 'setData', version: 1 });
  });
});

describe('the end of a session', () => {
  it('C022: names exactly its ephemerals: those in flight too, those about to go not', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    prepared.open(OTHER);
    for (const path of ['/applied', '/deleted']) prepared.order(create(path, '', EPHEMERAL), S);
    prepared.apply();
    prepared.order(create('/flying', '', EPHEMERAL), S);
    prepared.order(create('/born-and-dead', '', EPHEMERAL), S);
    prepared.order(create('/other', '', EPHEMERAL), OTHER);
    prepared.order(del('/deleted'));
    prepared.order(del('/born-and-dead'));
    prepared.order(create('/deleted', '', EPHEMERAL), OTHER);
    const body = prepared.order(CLOSE, S);
    expect(body.kind === 'closeSession' ? [...body.paths].sort() : []).toEqual(['/applied', '/flying']);
    expect(codeOf(prepared.order(create('/late', '', EPHEMERAL), S))).toBe('SESSION_EXPIRED');
    expect(codeOf(prepared.order(CLOSE, S))).toBe('SESSION_EXPIRED');
    prepared.apply();
    expect(prepared.tree.ephemeralCount).toBe(2);
    expect(prepared.preparation.session(S)).toBeUndefined();
  });

  it('always fits one txn: past the bound no ephemeral is added, and room comes back with deletes', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    const name = (n: number): string => `/${'x'.repeat(60_000)}${n}`;
    let n = 0;
    while (n < 1_000 && codeOf(prepared.order(create(name(n), '', EPHEMERAL), S)) === 'create') n++;
    expect(n).toBe(Math.floor(CLOSE_SESSION_BYTES_MAX / 60_007));
    expect(codeOf(prepared.order(create(name(n), '', EPHEMERAL), S))).toBe('THROTTLED');
    expect(codeOf(prepared.order(create(name(n))))).toBe('create');
    prepared.apply();
    prepared.order(del(name(0)));
    prepared.order(del(name(1)));
    expect(codeOf(prepared.order(create('/short', '', EPHEMERAL), S))).toBe('create');
  });
});

describe('sessions', () => {
  it('are opened once', () => {
    const prepared = new PreparedTree();
    expect(codeOf(prepared.open(S))).toBe('createSession');
    expect(codeOf(prepared.open(S))).toBe('UNAVAILABLE');
    expect(codeOf(prepared.open(NO_SESSION))).toBe('UNAVAILABLE');
    expect(codeOf(prepared.order(create('/a', '', EPHEMERAL), S))).toBe('create');
  });
});

describe('P4: what is in flight', () => {
  const names = ['/a', '/b', '/a/x', '/a/y', '/b/x'];
  const path = fc.constantFrom(...names);
  const session = fc.constantFrom(NO_SESSION, S, OTHER);
  const version = fc.option(fc.integer({ min: 0, max: 2 }), { nil: undefined });
  const single: fc.Arbitrary<OrderedOp> = fc.oneof(
    fc.tuple(path, fc.boolean(), fc.boolean()).map(([at, isEphemeral, sequential]) => {
      return create(at, '', { mode: isEphemeral ? 'ephemeral' : 'persistent', sequential });
    }),
    fc.tuple(path, version).map(([at, expected]) => del(at, expected)),
    fc.tuple(path, version).map(([at, expectedVersion]): OrderedOp => ({ ...set(at, 'x'), expectedVersion })),
    fc.constant(CLOSE),
    fc.constant<OrderedOp>({ kind: 'createSession', timeoutMs: 4_000, token: new Uint8Array(16) }),
  );
  const check = fc.tuple(path, version).map(([at, expectedVersion]) => {
    return { kind: 'check', path: at, expectedVersion } as const;
  });
  const look = fc.tuple(path, fc.integer({ min: 0, max: 2 })).map(([at, way]): MultiPart => {
    if (way === 2) return { kind: 'check', path: at, expectedVersion: undefined, absent: true };
    return { kind: way === 0 ? 'exists' : 'getData', path: at };
  });
  const part = fc.oneof(
    check,
    look,
    single.filter((one) => one.kind === 'create' || one.kind === 'delete' || one.kind === 'setData'),
  ) as fc.Arbitrary<MultiPart>;
  const op = fc.oneof(
    { weight: 3, arbitrary: single },
    {
      weight: 1,
      arbitrary: fc.tuple(path, path, fc.boolean()).map(([above, below, isSet]): OrderedOp => {
        const at = above === '/' ? below : above + below;
        return isSet
          ? { kind: 'createOrSet', path: at, data: undefined, parents: true }
          : create(at, '', { parents: true });
      }),
    },
    { weight: 1, arbitrary: fc.array(part, { maxLength: 4 }).map((parts): OrderedOp => ({ kind: 'multi', parts })) },
  );
  const all = fc.oneof(
    { weight: 9, arbitrary: op },
    { weight: 1, arbitrary: path.map((at): OrderedOp => ({ kind: 'deleteSubtree', path: at })) },
  );
  const step = fc.record({ op: all, session, applied: fc.integer({ min: 0, max: 4 }) });

  it('decides as if everything had been applied already, and leaves nothing behind', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const late = new PreparedTree();
        const slow = new PreparedTree();
        for (const one of steps) {
          // The second one applies each txn before it looks at the next request.
          const expected = slow.order(one.op, one.session);
          slow.apply();
          expect(sorted(late.order(one.op, one.session))).toEqual(sorted(expected));
          late.apply(one.applied);
        }
        late.apply();
        expect(late.tree.digest).toBe(slow.tree.digest);
        expect(late.preparation.size).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('is all that is remembered', () => {
    const prepared = new PreparedTree();
    for (let n = 0; n < 1_000; n++) {
      prepared.order(create(`/n${n}`));
      if (prepared.inFlightCount > 10) prepared.apply(1);
      expect(prepared.preparation.size).toBeLessThanOrEqual(10 * 3 + 3);
    }
  });
});

/** The order of paths in a closeSession has no meaning, nor has that of znodes that are not above each other in a deleteSubtree. */
function sorted(body: TxnBody): TxnBody {
  if (body.kind === 'compound' && body.answers === 'deleteSubtree') {
    return { ...body, parts: [...body.parts].sort((a, b) => (a.path < b.path ? -1 : 1)) };
  }
  return body.kind === 'closeSession' ? { ...body, paths: [...body.paths].sort() } : body;
}
