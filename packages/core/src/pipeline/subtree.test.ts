/** The end of a subtree in steps: against a leader's preparation and a real tree. */
import { type DeleteSubtreeOp, type Identity, NO_SESSION, type SessionId, SUBTREE_STEP_MAX } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { create } from '../peer/words.fixture.ts';
import type { TxnBody } from '../tree/txn.ts';
import { decodeTxn, encodeTxn } from '../tree/txn-codec.ts';
import { PreparedTree } from './leader.fixture.ts';
import { writeAnswer } from './reads.ts';
import { opFault } from './validate.ts';

const S = 11n as SessionId;
const PARENTS = { parents: true } as const;

const end = (path: string, limit?: number): DeleteSubtreeOp => {
  return limit === undefined ? { kind: 'deleteSubtree', path } : { kind: 'deleteSubtree', path, limit };
};

/** Paths in their order, a plus when there are more; or the code and path of a refusal. */
function outcomeOf(body: TxnBody): string {
  if (body.kind === 'error') return `${body.code} ${body.path}`;
  if (body.kind !== 'compound' || body.answers !== 'deleteSubtree') return body.kind;
  return body.parts.map(({ path }) => path).join() + (body.more === true ? '+' : '');
}

function made(...paths: readonly string[]): PreparedTree {
  const prepared = new PreparedTree();
  for (const path of paths) prepared.order(create(path, 'x', PARENTS));
  prepared.apply();
  return prepared;
}

/** Carries steps out until there is nothing left; how many each deleted. */
function deleteAll(prepared: PreparedTree, op: DeleteSubtreeOp, between = (): void => undefined): number[] {
  const steps: number[] = [];
  for (;;) {
    const txn = prepared.prepare(op);
    prepared.propose(txn);
    prepared.apply();
    const { result } = writeAnswer(prepared.tree, prepared.last, decodeTxn(encodeTxn(txn)));
    if (result.kind !== 'deleteSubtree') throw new Error(`Refused: ${JSON.stringify(result)}`);
    steps.push(result.deleted);
    if (!result.more) return steps;
    between();
  }
}

describe('deleteSubtree', () => {
  it('deletes what is below first and the top last, at one zxid, and nothing else', () => {
    const prepared = made('/a/b/c', '/a/b/d', '/a/e', '/ab', '/a-', '/z');
    expect(outcomeOf(prepared.order(end('/a')))).toBe('/a/e,/a/b/d,/a/b/c,/a/b,/a');
    prepared.apply();
    const { tree } = prepared;
    expect(tree.children('/')).toEqual(['a-', 'ab', 'z', 'zookeeper']);
    expect(tree.stat('/')?.pzxid).toBe(prepared.last);
    expect(prepared.preparation.size).toBe(0);
  });

  it('goes on in steps that are no longer than asked, until the top is gone', () => {
    const paths = Array.from({ length: 25 }, (_, i) => `/a/${i % 3}/${i % 4}/${i}`);
    const prepared = made(...paths);
    const total = prepared.tree.descendantCount('/a') + 1;
    const steps = deleteAll(prepared, end('/a', 7));
    expect(steps).toEqual([...Array<number>(Math.floor(total / 7)).fill(7), total % 7]);
    expect(prepared.tree.znodeCount).toBe(4);
    expect(deleteAll(made('/a/b', '/a/c'), end('/a', 3))).toEqual([3]);
    expect(deleteAll(made('/a/b', '/a/c'), end('/a', 2))).toEqual([2, 1]);
  });

  it('has an end of its own, also when more is asked for, by number and by length', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/many'));
    for (let i = 0; i < SUBTREE_STEP_MAX + 5; i++) prepared.order(create(`/many/${i}`));
    prepared.apply();
    expect(deleteAll(prepared, end('/many', 1_000_000))).toEqual([SUBTREE_STEP_MAX, 6]);
    const long = made(...Array.from({ length: 20 }, (_, i) => `/long/${i}${'n'.repeat(30_000)}`));
    expect(deleteAll(long, end('/long'))).toEqual([9, 9, 3]);
  });

  it('takes what others create below it meanwhile, applied or in flight', () => {
    const prepared = made('/a/1', '/a/2', '/a/3', '/a/4');
    let more = 3;
    const steps = deleteAll(prepared, end('/a', 2), () => {
      if (more-- > 0) prepared.order(create(`/a/later/${more}`, '', PARENTS));
    });
    // Each time also the ancestor that went with what was below it.
    expect(steps.reduce((sum, n) => sum + n)).toBe(5 + 3 * 2);
    expect(prepared.tree.znode('/a')).toBeUndefined();
    const flying = made('/a/b');
    flying.order(create('/a/b/c'));
    flying.order(create('/a/d/e', '', PARENTS));
    flying.order({ kind: 'delete', path: '/a/b/c', expectedVersion: undefined });
    expect(outcomeOf(flying.order(end('/a')))).toBe('/a/d/e,/a/d,/a/b,/a');
    expect(outcomeOf(flying.order(end('/a')))).toBe('NO_NODE /a');
    expect(outcomeOf(flying.order(create('/a')))).toBe('create');
    expect(outcomeOf(flying.order(end('/a')))).toBe('/a');
    flying.apply();
    expect(flying.preparation.size).toBe(0);
  });

  it('asks DELETE on the parent of each, and does nothing of a step that has one without', () => {
    const alice: Identity = { scheme: 'digest', id: 'alice:x' };
    const prepared = made('/a/open/1');
    prepared.order(
      create('/a/hers', '', {
        acl: [
          { perms: 31, ...alice },
          { perms: 4, scheme: 'world', id: 'anyone' },
        ],
      }),
    );
    prepared.order(create('/a/hers/x'));
    const as = (identities: readonly Identity[], op: DeleteSubtreeOp) => {
      const request = { incarnation: 1, seq: prepared.nextSeq(), session: NO_SESSION, attached: false, op, identities };
      return outcomeOf(prepared.propose(prepared.preparation.prepare(request, 1, 1_000, undefined)));
    };
    expect(as([], end('/a'))).toBe('NO_AUTH /a/hers/x');
    expect(prepared.tree.znode('/a/open/1')).toBeDefined();
    // The right on the top's parent is asked for first, before anything below it goes.
    expect(as([], end('/a/hers/x'))).toBe('NO_AUTH /a/hers/x');
    expect(as([alice], end('/a'))).toBe('/a/hers/x,/a/hers,/a/open/1,/a/open,/a');
    expect(as([], end('/none'))).toBe('NO_NODE /none');
    expect(as([], end('/none/x'))).toBe('NO_NODE /none/x');
    for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config', 'a']) {
      expect(opFault(end(path), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    }
  });

  it('counts in quotas, takes quotas with it, and sessions lose the ephemerals', () => {
    const prepared = made('/q/a', '/q/b');
    prepared.open(S);
    prepared.order(create('/q/a/e', '12345', { mode: 'ephemeral' }), S);
    prepared.order(create('/zookeeper/quota/q/zookeeper_limits', ';countHardLimit=4', PARENTS));
    expect(prepared.order(create('/q/c')).kind).toBe('error');
    expect(outcomeOf(prepared.order(end('/q/a')))).toBe('/q/a/e,/q/a');
    expect(prepared.order(create('/q/c')).kind).toBe('create');
    expect(prepared.order(create('/q/d')).kind).toBe('create');
    expect(prepared.order(create('/q/e')).kind).toBe('error');
    prepared.apply();
    expect(prepared.tree.sessions.get(S)?.ephemerals.size).toBe(0);
    expect(prepared.order({ kind: 'closeSession' }, S)).toEqual({ kind: 'closeSession', paths: [] });
    expect(outcomeOf(prepared.order(end('/zookeeper/quota/q')))).toBe(
      '/zookeeper/quota/q/zookeeper_limits,/zookeeper/quota/q',
    );
    expect(prepared.order(create('/q/e')).kind).toBe('create');
    prepared.apply();
    expect(prepared.tree.quotas.size).toBe(0);
    expect(prepared.preparation.size).toBe(0);
  });

  it('C077: a step that is asked for again is answered as the first time, and no second one is made', () => {
    const prepared = made('/a/1', '/a/2', '/a/3');
    prepared.open(S);
    const ask = () => {
      const txn = prepared.prepare(end('/a', 2), S, { request: 1, acknowledged: 0 });
      prepared.propose(txn);
      prepared.apply();
      return writeAnswer(prepared.tree, prepared.last, txn);
    };
    const said = ask();
    expect(said.result).toEqual({ kind: 'deleteSubtree', deleted: 2, more: true });
    expect(ask()).toEqual(said);
    expect(prepared.tree.descendantCount('/a')).toBe(1);
  });

  it('costs a step as much as it deletes, however much there is', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/a'));
    for (let i = 0; i < 30_000; i++) prepared.order(create(`/a/${i}`));
    prepared.apply();
    let looked = 0;
    const pathsBelow = prepared.tree.pathsBelow.bind(prepared.tree);
    prepared.tree.pathsBelow = function* (path: string) {
      for (const below of pathsBelow(path)) {
        looked++;
        yield below;
      }
    };
    expect(outcomeOf(prepared.order(end('/a', 10))).split(',')).toHaveLength(10);
    expect(looked).toBe(11);
  });
});
