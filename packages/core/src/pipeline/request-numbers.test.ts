import { type Answer, decodeAnswer, type Numbered, type SessionId, UNACKNOWLEDGED_MAX } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerOf } from '../tree/answer.ts';
import type { TxnBody } from '../tree/txn.ts';
import { PreparedTree } from './leader.fixture.ts';
import type { OrderedOp } from './write-request.ts';

const S = 21n as SessionId;
const SEQUENTIAL = { kind: 'create', path: '/n-', data: undefined, mode: 'persistent', sequential: true } as const;
const DELETE: OrderedOp = { kind: 'delete', path: '/gone', expectedVersion: undefined };

function number(request: number, acknowledged = 0): Numbered {
  return { request, acknowledged };
}

function opened(): PreparedTree {
  const prepared = new PreparedTree();
  prepared.open(S);
  prepared.apply();
  return prepared;
}

/** Orders, applies all, and answers. */
function ask(prepared: PreparedTree, op: OrderedOp, numbered: Numbered): Answer {
  const body = prepared.order(op, S, numbered);
  prepared.apply();
  return answer(prepared, body);
}

function answer({ tree, last }: PreparedTree, body: TxnBody): Answer {
  return answerOf(tree, last, { origin: { sid: 1, incarnation: 1, seq: 1 }, session: S, timeMs: 0, body });
}

function codeOf({ result }: Answer): string {
  return result.kind === 'error' ? result.code : result.kind;
}

describe('C077: a numbered write that comes again', () => {
  it('is answered with its first result, zxid and all, and changes nothing', () => {
    const prepared = opened();
    const first = ask(prepared, SEQUENTIAL, number(1));
    ask(prepared, SEQUENTIAL, number(2));
    const { digest, znodeCount } = prepared.tree;
    expect(ask(prepared, SEQUENTIAL, number(1))).toEqual(first);
    expect([prepared.tree.digest, prepared.tree.znodeCount]).toEqual([digest, znodeCount]);
    expect(first).toMatchObject({ zxid: prepared.last - 2n, result: { path: '/n-0000000000' } });
  });

  it('is known also while its first is in flight', () => {
    const prepared = opened();
    prepared.order(SEQUENTIAL, S, number(1));
    const again = prepared.order(SEQUENTIAL, S, number(1));
    expect(again).toEqual({ kind: 'repeat', request: 1 });
    prepared.apply();
    expect(prepared.tree.children('/')).toEqual(['n-0000000000', 'zookeeper']);
    expect(answer(prepared, again)).toMatchObject({ zxid: prepared.last - 1n, result: { path: '/n-0000000000' } });
  });

  it('was refused the first time and stays refused, whatever has changed since', () => {
    const prepared = opened();
    const first = ask(prepared, DELETE, number(1));
    prepared.order({ ...SEQUENTIAL, path: '/gone', sequential: false });
    expect(codeOf(first)).toBe('NO_NODE');
    expect(ask(prepared, DELETE, number(1))).toEqual(first);
    expect(prepared.tree.znode('/gone')).toBeDefined();
  });

  it('gets the result of every part of a multi, and which part failed', () => {
    const prepared = opened();
    const plain = (path: string) => ({ ...SEQUENTIAL, path, sequential: false }) as const;
    const set = { kind: 'setData', path: '/a', data: undefined, expectedVersion: 0 } as const;
    const multi: OrderedOp = {
      kind: 'multi',
      parts: [plain('/a'), set, { kind: 'delete', path: '/a', expectedVersion: 1 }],
    };
    const done = ask(prepared, multi, number(1));
    const failed = ask(prepared, { kind: 'multi', parts: [plain('/b'), set] }, number(2));
    ask(prepared, plain('/a'), number(3));
    expect(ask(prepared, multi, number(1))).toEqual(done);
    expect(ask(prepared, { kind: 'multi', parts: [plain('/b'), set] }, number(2))).toEqual(failed);
    expect([done.result, failed.result]).toMatchObject([
      {
        kind: 'multi',
        results: [{ kind: 'create', stat: { version: 0 } }, { stat: { version: 1 } }, { kind: 'delete' }],
      },
      { kind: 'error', code: 'NO_NODE', part: 1 },
    ]);
    expect(prepared.tree.children('/')).toEqual(['a', 'zookeeper']);
  });

  it('after it was acknowledged takes no effect any more', () => {
    const prepared = opened();
    for (const request of [1, 2]) ask(prepared, SEQUENTIAL, number(request));
    ask(prepared, SEQUENTIAL, number(3, 2));
    expect(codeOf(ask(prepared, SEQUENTIAL, number(1)))).toBe('OUT_OF_ORDER');
    expect(prepared.tree.children('/')).toHaveLength(4);
    expect(prepared.tree.sessions.get(S)?.results).toMatchObject({ size: 1, last: 3 });
  });

  it('is known although its acknowledgement overtakes it', () => {
    const prepared = opened();
    ask(prepared, SEQUENTIAL, number(1));
    prepared.order(SEQUENTIAL, S, number(2, 1));
    const late = prepared.order(SEQUENTIAL, S, number(1));
    prepared.apply();
    expect(codeOf(answer(prepared, late))).toBe('OUT_OF_ORDER');
    expect(prepared.tree.children('/')).toHaveLength(3);
  });
});

describe('the number of a write', () => {
  it('that was passed over is not taken any more, so that writes of a session keep their order', () => {
    const prepared = opened();
    ask(prepared, SEQUENTIAL, number(3));
    expect(codeOf(ask(prepared, SEQUENTIAL, number(2)))).toBe('OUT_OF_ORDER');
    expect(codeOf(ask(prepared, SEQUENTIAL, number(2)))).toBe('OUT_OF_ORDER');
    expect(codeOf(ask(prepared, SEQUENTIAL, number(4)))).toBe('create');
  });

  it('is not used up when the session or its owner was the reason for the refusal', () => {
    const prepared = opened();
    const request = { incarnation: 1, seq: 90, session: S, attached: true, numbered: number(1), op: SEQUENTIAL };
    const moved = { code: 'SESSION_MOVED', path: undefined, message: 'moved' } as const;
    const txn = prepared.preparation.prepare(request, 1, 0, moved);
    prepared.propose(txn);
    prepared.apply();
    expect([txn.body.kind, txn.numbered]).toEqual(['error', undefined]);
    expect(codeOf(ask(prepared, SEQUENTIAL, number(1)))).toBe('create');
  });

  it('is bounded: past it a write is refused and not taken, until the client acknowledges', () => {
    const prepared = opened();
    for (let request = 1; request <= UNACKNOWLEDGED_MAX; request++) prepared.order(DELETE, S, number(request));
    const next = UNACKNOWLEDGED_MAX + 1;
    expect(codeOf(ask(prepared, SEQUENTIAL, number(next)))).toBe('THROTTLED');
    expect(prepared.tree.sessions.get(S)?.results.size).toBe(UNACKNOWLEDGED_MAX);
    expect(codeOf(ask(prepared, SEQUENTIAL, number(next, 1)))).toBe('create');
    expect(prepared.tree.sessions.get(S)?.results.size).toBe(UNACKNOWLEDGED_MAX);
  });

  it('is bounded in bytes too, what is in flight included', () => {
    const prepared = opened();
    const long: OrderedOp = { kind: 'delete', path: `/${'x'.repeat(60_000)}`, expectedVersion: undefined };
    const codes = Array.from({ length: 60 }, (_, n) => {
      const body = prepared.order(long, S, number(n + 1));
      if (n % 10 === 9) prepared.apply(5);
      return body.kind === 'error' ? body.code : body.kind;
    });
    expect(codes.slice(0, 10)).toEqual(Array(10).fill('NO_NODE'));
    expect(codes.at(-1)).toBe('THROTTLED');
  });

  it('counts within its session, and goes with it', () => {
    const prepared = opened();
    const before = prepared.tree.digest;
    const other = 22n as SessionId;
    prepared.open(other);
    for (const request of [1, 2]) expect(prepared.order(DELETE, other, number(request)).kind).toBe('error');
    prepared.apply();
    expect(codeOf(ask(prepared, SEQUENTIAL, number(1)))).toBe('create');
    prepared.order({ kind: 'delete', path: '/n-0000000000', expectedVersion: undefined });
    prepared.order({ kind: 'closeSession' }, other);
    prepared.apply();
    expect(prepared.tree.sessions.get(other)).toBeUndefined();
    expect(prepared.tree.digest).not.toBe(before);
    expect(prepared.preparation.size).toBe(0);
  });
});

describe('any order in which copies of numbered writes come', () => {
  const copy = fc.record({ request: fc.integer({ min: 1, max: 12 }), applied: fc.nat(3) });

  it('gives each number one txn at most, in order, and every answer is that of the first', () => {
    fc.assert(
      fc.property(fc.array(copy, { maxLength: 60 }), (copies) => {
        const prepared = opened();
        const taken: number[] = [];
        const answers: [number, TxnBody][] = [];
        for (const { request, applied } of copies) {
          const body = prepared.order(SEQUENTIAL, S, number(request));
          if (body.kind === 'create') taken.push(request);
          else answers.push([request, body]);
          prepared.apply(applied);
        }
        prepared.apply();
        expect(taken).toEqual([...new Set(taken)].sort((a, b) => a - b));
        expect(prepared.tree.children('/')).toHaveLength(taken.length + 1);
        const { results } = prepared.tree.sessions.get(S)!;
        for (const [request, body] of answers) {
          const first = results.get(request);
          if (first === undefined) expect(codeOf(answer(prepared, body))).toBe('OUT_OF_ORDER');
          else expect(answer(prepared, body)).toEqual(decodeAnswer(first));
        }
        expect(prepared.preparation.size).toBe(0);
      }),
      { numRuns: 300 },
    );
  });
});
