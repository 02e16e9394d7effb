import type { Txn, TxnBody } from '@quorate/core';
import { type MultiPart, NO_SESSION, type SessionId } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { at, bytes, create, session } from './checkers/history.fixture.ts';
import { decide, pathOf } from './request-model.ts';
import { TreeModel } from './tree-model.ts';

/** A model after these txns; each must have been possible. */
function modelAfter(...bodies: readonly (TxnBody | readonly [TxnBody, SessionId])[]): TreeModel {
  const model = new TreeModel();
  bodies.forEach((each, index) => {
    const [body, of] = 'kind' in each ? [each, NO_SESSION] : each;
    expect(model.apply(at(index + 1), txn(body, of))).toBeUndefined();
  });
  return model;
}

function txn(body: TxnBody, of: SessionId = NO_SESSION): Txn {
  return { origin: { sid: 1, incarnation: 1, seq: 1 }, session: of, timeMs: 5, body };
}

const opens: readonly [TxnBody, SessionId] = [{ kind: 'createSession', timeoutMs: 1, token: bytes('t') }, session(7)];
const creating = (path: string, sequential = false) =>
  ({ kind: 'create', path, data: undefined, mode: 'persistent', sequential }) as const;

const refusalOf = (model: TreeModel, op: MultiPart): string | undefined => {
  const decided = decide(model, { session: NO_SESSION, identities: [] }, op);
  return typeof decided === 'string' ? decided : undefined;
};

test('C001: direct creates and deletes move cversion and pzxid of the parent, nothing else does', () => {
  const model = modelAfter(
    create('/p', ''),
    create('/p/c', ''),
    { kind: 'setData', path: '/p/c', data: bytes('x'), version: 1 },
    create('/p/c/d', ''),
    { kind: 'delete', path: '/p/c/d' },
  );
  expect(model.stat('/p')).toMatchObject({ cversion: 1, pzxid: at(2), numChildren: 1, version: 0, mzxid: at(1) });
  expect(model.apply(at(6), txn({ kind: 'delete', path: '/p/c' }))).toBeUndefined();
  expect(model.stat('/p')).toMatchObject({ cversion: 2, pzxid: at(6), numChildren: 0 });
});

test('C002: sequential names count every create of the parent, and no delete', () => {
  const model = modelAfter(create('/s', ''), create('/s/a', '', { creates: 1 }), create('/s/x', '', { creates: 2 }), {
    kind: 'delete',
    path: '/s/a',
  });
  expect(pathOf(model, creating('/s/a-', true))).toBe('/s/a-0000000002');
  expect(pathOf(model, creating('/s/a-'))).toBe('/s/a-');
});

test('a write is refused for the first reason in order', () => {
  const model = modelAfter(opens, create('/a', ''), create('/a/b', ''), create('/e', '', { owner: session(7) }));
  expect(refusalOf(model, creating('/x/y'))).toBe('NO_NODE');
  expect(refusalOf(model, creating('/a'))).toBe('NODE_EXISTS');
  expect(refusalOf(model, creating('/e/x'))).toBe('NO_CHILDREN_FOR_EPHEMERALS');
  expect(refusalOf(model, creating('/n'))).toBeUndefined();
  expect(refusalOf(model, { kind: 'delete', path: '/a', expectedVersion: 3 })).toBe('BAD_VERSION');
  expect(refusalOf(model, { kind: 'delete', path: '/a', expectedVersion: 0 })).toBe('NOT_EMPTY');
  expect(refusalOf(model, { kind: 'delete', path: '/a/b', expectedVersion: undefined })).toBeUndefined();
  expect(refusalOf(model, { kind: 'setData', path: '/n', data: undefined, expectedVersion: 0 })).toBe('NO_NODE');
  expect(refusalOf(model, { kind: 'setData', path: '/a', data: undefined, expectedVersion: 1 })).toBe('BAD_VERSION');
});

test('the end of a session takes exactly its ephemerals', () => {
  const model = modelAfter(opens, create('/e', '', { owner: session(7) }), create('/p', ''));
  expect(model.apply(at(4), txn({ kind: 'closeSession', paths: [] }, session(7)))).toContain('its ephemerals are [/e]');
  const whole = modelAfter(opens, create('/e', '', { owner: session(7) }), create('/p', ''), [
    { kind: 'closeSession', paths: ['/e'] },
    session(7),
  ]);
  expect([whole.znodes.has('/e'), whole.znodes.has('/p'), whole.sessions.size]).toEqual([false, true, 0]);
});

test('what cannot be is said to be wrong, and not applied', () => {
  const model = modelAfter(create('/a', ''));
  const wrongs: TxnBody[] = [
    create('/a', ''),
    create('/x/y', ''),
    create('/e', '', { owner: session(7) }),
    create('/a/b', '', { creates: 5 }),
    { kind: 'delete', path: '/x' },
    { kind: 'setData', path: '/x', data: undefined, version: 1 },
    { kind: 'setData', path: '/a', data: undefined, version: 2 },
    { kind: 'closeSession', paths: [] },
  ];
  for (const wrong of wrongs) expect(modelAfter(create('/a', '')).apply(at(9), txn(wrong))).toEqual(expect.any(String));
  expect([...model.znodes.keys()].filter((path) => !path.startsWith('/z'))).toEqual(['/', '/a']);
});
