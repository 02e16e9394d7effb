import type { TxnBody } from '@quorate/core';
import {
  type Acl,
  formatLimits,
  type Identity,
  limitsPath,
  type MultiPart,
  NO_QUOTA_LIMITS,
  NO_SESSION,
  PERMS,
  statsPath,
} from '@quorate/protocol';
import { expect, test } from 'vitest';
import type { NamingWrite } from './calls.ts';
import { at, bytes, create } from './checkers/history.fixture.ts';
import { judge } from './request-model.ts';
import { TreeModel } from './tree-model.ts';

function modelOf(...bodies: TxnBody[]): TreeModel {
  const model = new TreeModel();
  bodies.forEach((body, index) => {
    const txn = { origin: { sid: 1, incarnation: 1, seq: 1 }, session: NO_SESSION, timeMs: 5, body };
    expect(model.apply(at(index + 1), txn)).toBeUndefined();
  });
  return model;
}

function outcome(model: TreeModel, op: NamingWrite, identities: readonly Identity[] = []): string {
  const judged = judge(model, { op, session: NO_SESSION, identities, guards: [] }, at(99), 7);
  return judged.kind === 'done' ? 'done' : `${judged.code}${judged.part === undefined ? '' : ` ${judged.part}`}`;
}

const making = (path: string, data = ''): MultiPart => {
  return { kind: 'create', path, data: bytes(data), mode: 'persistent', sequential: false };
};
const dropping = (path: string): MultiPart => ({ kind: 'delete', path, expectedVersion: undefined });
const setting = (path: string, data = 'x'): MultiPart => {
  return { kind: 'setData', path, data: bytes(data), expectedVersion: undefined };
};
const multi = (...parts: MultiPart[]): NamingWrite => ({ kind: 'multi', parts });
const only = (perms: number, id = 'ann:x'): Acl => [{ perms, scheme: 'digest', id }];
const made = (path: string, acl: Acl): TxnBody => ({ ...create(path, ''), acl }) as TxnBody;
const ann: readonly Identity[] = [{ scheme: 'digest', id: 'ann:x' }];

test('each part of a multi meets what those before it have done, and a refusal leaves nothing behind', () => {
  const model = modelOf(create('/a', ''));
  expect(outcome(model, multi(making('/b'), making('/b/c'), setting('/b')))).toBe('done');
  expect(outcome(model, multi(making('/b'), making('/b')))).toBe('NODE_EXISTS 1');
  expect(outcome(model, multi(dropping('/a'), making('/a/b')))).toBe('NO_NODE 1');
  expect(outcome(model, multi(making('/a/b'), dropping('/a')))).toBe('NOT_EMPTY 1');
  expect([...model.znodes.keys()].filter((path) => !path.startsWith('/z'))).toEqual(['/', '/a']);
  expect(model.znodes.get('/a')).toMatchObject({ creates: 0, cversion: 0, children: new Set() });
});

test('each right is asked of the znode that it is about', () => {
  const right = (perms: number, op: NamingWrite): string[] => {
    const model = modelOf(made('/a', only(perms)), create('/a/b', '', { creates: 1 }));
    return [outcome(model, op, ann), outcome(model, op)];
  };
  const all = PERMS.ALL;
  const setAcl: NamingWrite = { kind: 'setAcl', path: '/a', acl: only(1), expectedVersion: undefined };
  expect(right(PERMS.CREATE, making('/a/c') as NamingWrite)).toEqual(['done', 'NO_AUTH']);
  expect(right(all & ~PERMS.CREATE, making('/a/c') as NamingWrite)).toEqual(['NO_AUTH', 'NO_AUTH']);
  expect(right(PERMS.DELETE, dropping('/a/b') as NamingWrite)).toEqual(['done', 'NO_AUTH']);
  expect(right(all & ~PERMS.DELETE, dropping('/a/b') as NamingWrite)).toEqual(['NO_AUTH', 'NO_AUTH']);
  expect(right(PERMS.WRITE, setting('/a') as NamingWrite)).toEqual(['done', 'NO_AUTH']);
  expect(right(all & ~PERMS.WRITE, multi(setting('/a')))).toEqual(['NO_AUTH 0', 'NO_AUTH 0']);
  expect(right(PERMS.ADMIN, setAcl)).toEqual(['done', 'NO_AUTH']);
  expect(right(all & ~PERMS.ADMIN, setAcl)).toEqual(['NO_AUTH', 'NO_AUTH']);
});

test('a list is for the world, for names, for ranges of addresses, and never in the way of super', () => {
  const may = (acl: Acl, ...identities: Identity[]) =>
    outcome(modelOf(made('/a', acl)), setting('/a') as NamingWrite, identities);
  const from = (id: string): Identity => ({ scheme: 'ip', id });
  expect(may([{ perms: PERMS.WRITE, scheme: 'world', id: 'anyone' }])).toBe('done');
  expect(may([{ perms: PERMS.READ, scheme: 'world', id: 'anyone' }])).toBe('NO_AUTH');
  expect(may([{ perms: PERMS.WRITE, scheme: 'ip', id: '10.1.0.0/16' }], from('10.1.9.9'))).toBe('done');
  expect(may([{ perms: PERMS.WRITE, scheme: 'ip', id: '10.1.0.0/16' }], from('10.2.0.1'))).toBe('NO_AUTH');
  expect(may(only(PERMS.READ), { scheme: 'super', id: '' })).toBe('done');
});

test('`auth` stands for the names of whoever asks; a list that nobody can match is none', () => {
  const acl: Acl = [{ perms: PERMS.ALL, scheme: 'auth', id: '' }];
  const op = { ...making('/a'), acl } as NamingWrite;
  const judged = judge(new TreeModel(), { op, session: NO_SESSION, identities: ann, guards: [] }, at(1), 7);
  expect(judged).toMatchObject({ kind: 'done', body: { acl: only(PERMS.ALL) } });
  expect(outcome(new TreeModel(), op)).toBe('INVALID_ACL');
  expect(outcome(new TreeModel(), { ...making('/a'), acl: [] } as NamingWrite)).toBe('INVALID_ACL');
});

test('C011: a quota counts what its subtree holds after each part, and its usage is written down', () => {
  const quota = { ...NO_QUOTA_LIMITS, countHard: 3, bytesHard: 4 };
  const model = modelOf(
    create('/q', 'ab'),
    create('/zookeeper/quota/q', ''),
    { kind: 'create', path: limitsPath('/q'), data: formatLimits(quota), ephemeralOwner: NO_SESSION, parentCreates: 1 },
    create(statsPath('/q'), '', { creates: 2 }),
  );
  expect(String.fromCharCode(...(model.znodes.get(statsPath('/q'))?.data ?? []))).toBe('count=1,bytes=2');
  expect(outcome(model, multi(making('/q/a'), making('/q/b')))).toBe('done');
  expect(outcome(model, multi(making('/q/a'), making('/q/b'), making('/q/c')))).toBe('QUOTA_EXCEEDED 2');
  expect(outcome(model, multi(making('/q/a'), making('/q/b'), dropping('/q/a'), making('/q/c')))).toBe('done');
  expect(outcome(model, setting('/q', 'abcd') as NamingWrite)).toBe('done');
  expect(outcome(model, setting('/q', 'abcde') as NamingWrite)).toBe('QUOTA_EXCEEDED');
  expect(outcome(model, making('/other', 'abcdefgh') as NamingWrite)).toBe('done');
});

test('a create makes the ancestors that are missing, and who makes them may create in them', () => {
  const model = modelOf(made('/a', only(PERMS.CREATE)));
  const op = { ...making('/a/b/c'), acl: only(PERMS.READ), parents: true } as NamingWrite;
  const judged = judge(model, { op, session: NO_SESSION, identities: ann, guards: [] }, at(9), 7);
  expect(judged).toMatchObject({ kind: 'done', body: { kind: 'compound', answers: 'create' } });
  const parts = judged.kind === 'done' && 'parts' in judged.body ? judged.body.parts : [];
  expect(parts.map((part) => [part.path, 'acl' in part && part.acl])).toEqual([
    ['/a/b', only(PERMS.READ)],
    ['/a/b/c', only(PERMS.READ)],
  ]);
  expect(outcome(model, op)).toBe('NO_AUTH');
  expect(model.znodes.has('/a/b')).toBe(false);
  const plain = judge(
    modelOf(),
    { op: { ...op, path: '/z' } as NamingWrite, session: NO_SESSION, identities: [], guards: [] },
    at(9),
    7,
  );
  expect(plain).toMatchObject({ kind: 'done', body: { kind: 'create', path: '/z' } });
});

test('a write that sets or creates does what the tree asks for', () => {
  const model = modelOf(create('/a', 'x'));
  const put = (path: string, more: { parents?: true } = {}) => {
    const op = { kind: 'createOrSet', path, data: bytes('y'), ...more } as const;
    return judge(model, { op, session: NO_SESSION, identities: [], guards: [] }, at(9), 7);
  };
  const compound = { kind: 'compound', answers: 'createOrSet' };
  expect(put('/a')).toMatchObject({ body: { ...compound, parts: [{ kind: 'setData', path: '/a', version: 1 }] } });
  expect(put('/b')).toMatchObject({ body: { ...compound, parts: [{ kind: 'create', path: '/b' }] } });
  expect(put('/b/c')).toMatchObject({ kind: 'refused', code: 'NO_NODE' });
  expect(put('/b/c', { parents: true })).toMatchObject({ body: { parts: [{ path: '/b' }, { path: '/b/c' }] } });
});
