import type { TxnBody } from '@quorate/core';
import { type Acl, NO_SESSION, PERMS } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { at, create } from './checkers/history.fixture.ts';
import { refusalFault, stepFault } from './subtree-model.ts';
import { TreeModel } from './tree-model.ts';

const locked: Acl = [{ perms: PERMS.ALL & ~PERMS.DELETE, scheme: 'world', id: 'anyone' }];

/** /t with a, a/x and b; `acl` is that of /t/a. */
function modelOf(acl?: Acl): TreeModel {
  const model = new TreeModel();
  const made = { ...create('/t/a', ''), ...(acl && { acl }) } as TxnBody;
  [create('/t', ''), made, create('/t/a/x', ''), create('/t/b', '', { creates: 2 })].forEach((body, index) => {
    const txn = { origin: { sid: 1, incarnation: 1, seq: 1 }, session: NO_SESSION, timeMs: 5, body };
    expect(model.apply(at(index + 1), txn)).toBeUndefined();
  });
  return model;
}

const stepOf = (path: string, limit?: number) => {
  return { op: { kind: 'deleteSubtree', path, ...(limit && { limit }) }, session: NO_SESSION, identities: [] } as const;
};
const deleting = (more: boolean, ...paths: string[]): TxnBody => ({
  kind: 'compound',
  answers: 'deleteSubtree',
  parts: paths.map((path) => ({ kind: 'delete', path })),
  ...(more && { more }),
});
const all = ['/t/b', '/t/a/x', '/t/a', '/t'];

test('a step deletes from below, as much as was asked for, and says whether the top is left', () => {
  const model = modelOf();
  expect(stepFault(model, stepOf('/t'), deleting(false, ...all))).toBeUndefined();
  expect(stepFault(model, stepOf('/t', 2), deleting(true, '/t/a/x', '/t/a'))).toBeUndefined();
  expect(stepFault(model, stepOf('/t', 3), deleting(false, ...all))).toContain('deletes 4 znodes, 3 were asked for');
  expect(stepFault(model, stepOf('/t'), deleting(false, '/t/a'))).toBe('deletes /t/a: NOT_EMPTY');
  expect(stepFault(model, stepOf('/t'), deleting(true, ...all))).toBe('says that its top is still there');
  expect(stepFault(model, stepOf('/t'), deleting(false, '/t/b'))).toBe('says that its top is gone');
  expect(stepFault(model, stepOf('/t'), deleting(true))).toBe('deletes nothing');
  expect(stepFault(model, stepOf('/t/a'), deleting(true, '/t/b'))).toBe('has a delete of /t/b');
  expect(stepFault(model, stepOf('/u'), deleting(false, '/u'))).toBe('had to be NO_NODE, not done');
  expect(stepFault(model, stepOf('/t'), { kind: 'delete', path: '/t' })).toBe('stands as delete');
  expect([...model.znodes.keys()].filter((path) => path.startsWith('/t'))).toHaveLength(4);
});

test('a step is refused for its top, or for what may not be deleted below it', () => {
  expect(refusalFault(modelOf(), stepOf('/t'), 'NO_NODE')).toBe('had to be done, not NO_NODE');
  expect(refusalFault(modelOf(), stepOf('/t'), 'NO_AUTH')).toBe('had to be done, not NO_AUTH');
  expect(refusalFault(modelOf(), stepOf('/u'), 'NO_NODE')).toBeUndefined();
  expect(refusalFault(modelOf(locked), stepOf('/t'), 'NO_AUTH')).toBeUndefined();
  expect(refusalFault(modelOf(locked), stepOf('/t/a/x'), 'NO_NODE')).toBe('had to be NO_AUTH, not NO_NODE');
  expect(stepFault(modelOf(locked), stepOf('/t'), deleting(false, ...all))).toBe('deletes /t/a/x: NO_AUTH');
});
