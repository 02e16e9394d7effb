/** Histories that a real tree could have given, long ones: none is refused, and their checking takes seconds. */
import { expect, test } from 'vitest';
import { Random } from '../random.ts';
import { checkLinearizable } from './check.ts';
import { bytes, call, create, get, made, remove, removed, set } from './history.fixture.ts';
import type { HistoryCall } from './history.ts';

interface Register {
  version: number;
  value: string;
}

/** Clients call at random, each call takes effect at a moment of its interval, a few results are lost. */
function historyOf(seed: number, calls: number, paths: number, clients: number): HistoryCall[] {
  const random = new Random(seed, 'history');
  const tree = new Map<string, Register>();
  const history: HistoryCall[] = [call(create('/w', ''), [0, 1], made('/w'))];
  const freeAt = Array.from({ length: clients }, () => 2);
  const begun = Array.from({ length: calls }, (_, n) => {
    const client = n % clients;
    const from = (freeAt[client] ?? 0) + random.fraction() * 4;
    const at = from + random.fraction() * 5;
    const to = at + random.fraction() * 5;
    freeAt[client] = to;
    return { client, from, at, to, n };
  });
  for (const { client, from, to, n } of begun.sort((a, b) => a.at - b.at)) {
    const path = `/w/c${random.between(0, paths - 1)}`;
    const isLost = random.chance(0.01);
    const done = take(tree, random, path, `v${n}`);
    if (done === undefined) continue;
    const more = { process: `c${client}` };
    history.push(isLost ? call(done.op, [from], undefined, more) : call(done.op, [from, to], done.outcome, more));
  }
  return history;
}

function take(tree: Map<string, Register>, random: Random, path: string, value: string) {
  const register = tree.get(path);
  const kind = random.weighted({ create: 3, set: 4, remove: 1, get: 6 });
  if (kind === 'create') {
    if (register === undefined) tree.set(path, { version: 0, value });
    return { op: create(path, value), outcome: register === undefined ? made(path) : ('NODE_EXISTS' as const) };
  }
  const op = kind === 'set' ? set(path, value) : kind === 'remove' ? remove(path) : get(path);
  if (register === undefined) return { op, outcome: 'NO_NODE' as const };
  if (kind === 'get') {
    const { version } = register;
    return { op, outcome: { kind: 'getData', data: bytes(register.value), stat: { version } } as const };
  }
  if (kind === 'remove') {
    tree.delete(path);
    return { op, outcome: removed };
  }
  register.version += 1;
  register.value = value;
  return { op, outcome: { kind: 'setData', stat: { version: register.version } } as const };
}

test('a hundred thousand calls of 20 clients over 100 znodes are checked, step by step and hardly more', {
  timeout: 120_000,
}, () => {
  const history = historyOf(1, 100_000, 100, 20);
  const verdict = checkLinearizable(history);
  expect(verdict).toMatchObject({ kind: 'linearizable', paths: 102 });
  expect('steps' in verdict ? verdict.steps : Infinity).toBeLessThan(4 * history.length);
});

test('many clients over few znodes, with lost results: true histories are never refused', { timeout: 120_000 }, () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    expect([seed, checkLinearizable(historyOf(seed, 600, 2, 20)).kind]).toEqual([seed, 'linearizable']);
  }
});

test('one stale result among many is found', () => {
  const history = historyOf(3, 5_000, 5, 10);
  const victim = history.findIndex(
    ({ op, result }, index) => index > 2_500 && op.kind === 'getData' && result?.kind === 'getData',
  );
  const { result } = history[victim] ?? {};
  if (result?.kind !== 'getData') throw new Error('The history has no read');
  const version = (result.stat?.version ?? 0) + 1_000;
  history[victim] = { ...(history[victim] as HistoryCall), result: { ...result, stat: { version } } };
  expect(checkLinearizable(history)).toMatchObject({ kind: 'violation' });
});
