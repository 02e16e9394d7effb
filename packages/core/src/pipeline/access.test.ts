/** ACLs: against the functions, and against a leader's preparation and a real tree. Cases of area security. */
import {
  type AclEntry,
  type Guard,
  type Identity,
  NO_SESSION,
  OPEN_ACL,
  PERMS,
  type ReadOp,
  type SessionId,
  ZERO_ZXID,
} from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { create, set } from '../peer/words.fixture.ts';
import { DataTree } from '../tree/data-tree.ts';
import type { TxnBody } from '../tree/txn.ts';
import { maskedAcl, mayAccess, storedAcl } from './access.ts';
import { PreparedTree } from './leader.fixture.ts';
import { readAnswer } from './reads.ts';
import type { OrderedOp } from './write-request.ts';

const ALICE: Identity = { scheme: 'digest', id: 'alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E=' };
const BOB: Identity = { scheme: 'digest', id: 'bob:W/5m7VcMIQO06nkWQpuZIjXxpMU=' };
const HOME: Identity = { scheme: 'ip', id: '10.1.2.3' };
const SUPER: Identity = { scheme: 'super', id: '' };

const entry = (scheme: string, id: string, perms: number = PERMS.ALL): AclEntry => ({ scheme, id, perms });
const forAlice = (perms: number): readonly AclEntry[] => [entry('digest', ALICE.id, perms)];
const codeOf = (body: TxnBody): string => (body.kind === 'error' ? body.code : body.kind);

class Guarded extends PreparedTree {
  as(identities: readonly Identity[], op: OrderedOp, guards: readonly Guard[] = []): string {
    const txn = this.preparation.prepare(
      { incarnation: 1, seq: this.nextSeq(), session: NO_SESSION, attached: false, op, identities, guards },
      1,
      1_000,
      undefined,
    );
    return codeOf(this.propose(txn));
  }
}

function read(tree: DataTree, op: ReadOp, identities: readonly Identity[]) {
  const { result } = readAnswer(tree, op, NO_SESSION as SessionId, identities);
  return result.kind === 'error' ? result.code : result;
}

describe('a list', () => {
  it('lets pass whoever one of its entries means for one of the rights asked for', () => {
    const acl = [
      entry('world', 'anyone', PERMS.READ),
      entry('ip', '10.0.0.0/8', PERMS.WRITE),
      ...forAlice(PERMS.ADMIN),
    ];
    expect(mayAccess({ acl }, PERMS.READ, [])).toBe(true);
    expect(mayAccess({ acl }, PERMS.WRITE, [])).toBe(false);
    expect(mayAccess({ acl }, PERMS.WRITE, [HOME])).toBe(true);
    expect(mayAccess({ acl }, PERMS.ADMIN, [HOME, BOB])).toBe(false);
    expect(mayAccess({ acl }, PERMS.ADMIN, [HOME, ALICE])).toBe(true);
    expect(mayAccess({ acl }, PERMS.DELETE, [SUPER])).toBe(true);
    expect(mayAccess({ acl }, PERMS.WRITE | PERMS.READ, [])).toBe(true);
    expect(mayAccess({ acl: undefined }, PERMS.ALL, [])).toBe(true);
    expect(mayAccess({ acl: [entry('digest', ALICE.id)] }, PERMS.READ, [{ scheme: 'x509', id: ALICE.id }])).toBe(false);
  });

  it('C127: is kept in order without exact duplicates, auth stands for all that was proved, and nonsense is INVALID_ACL', () => {
    const world = entry('world', 'anyone', PERMS.READ);
    const both = [world, entry('digest', BOB.id), world];
    expect(storedAcl('/a', both, [])).toEqual([world, entry('digest', BOB.id)]);
    expect(storedAcl('/a', [entry('auth', 'ignored')], [HOME, ALICE, SUPER, BOB])).toEqual([
      entry('digest', ALICE.id),
      entry('digest', BOB.id),
    ]);
    const good = [entry('ip', '10.0.0.0/8'), entry('ip', '::1'), entry('x509', 'CN=a'), entry('world', 'anyone', 0)];
    for (const one of [...good, entry('world', 'anyone', 32)]) expect(storedAcl('/a', [one], [])).toEqual([one]);
    const bad = [[], [entry('auth', '')], [entry('world', 'me')], [entry('kerberos', 'me')], [entry('ip', 'home')]];
    for (const acl of [...bad, [entry('digest', 'alice')], [entry('digest', 'a:b:c')], [world, entry('', '')]]) {
      expect(storedAcl('/a', acl, [HOME])).toMatchObject({ code: 'INVALID_ACL', path: '/a' });
    }
  });

  it('C115: is shown without hashes to those who may not change it', () => {
    expect(maskedAcl([entry('digest', ALICE.id), entry('ip', '::1')])).toEqual([
      entry('digest', 'alice:x'),
      entry('ip', '::1'),
    ]);
  });
});

describe('each operation asks for its right', () => {
  it('create and delete of the parent, set of the znode, setAcl for ADMIN; in flight as applied', () => {
    for (const isLate of [true, false]) {
      const prepared = new Guarded();
      const unused = prepared.tree.aclCount;
      const as = (identities: readonly Identity[], op: OrderedOp): string => {
        const code = prepared.as(identities, op);
        if (!isLate) prepared.apply();
        return code;
      };
      expect(as([ALICE], create('/a', '', { acl: [entry('auth', '')] }))).toBe('create');
      expect(as([BOB], create('/a/b'))).toBe('NO_AUTH');
      expect(as([ALICE], create('/a/b'))).toBe('create');
      expect(as([BOB], { kind: 'delete', path: '/a/b', expectedVersion: undefined })).toBe('NO_AUTH');
      // The right to a znode's data is its own: nothing is inherited.
      expect(as([BOB], set('/a/b', 'x'))).toBe('setData');
      expect(as([BOB], set('/a', 'x'))).toBe('NO_AUTH');
      const open = { kind: 'setAcl', path: '/a', acl: OPEN_ACL, expectedVersion: 0 } as const;
      expect(as([BOB], open)).toBe('NO_AUTH');
      expect(as([BOB, SUPER], { ...open, expectedVersion: 3 })).toBe('BAD_VERSION');
      expect(as([ALICE], open)).toBe('setAcl');
      expect(as([BOB], set('/a', 'x'))).toBe('setData');
      expect(as([BOB], { kind: 'delete', path: '/a/b', expectedVersion: undefined })).toBe('delete');
      prepared.apply();
      expect(prepared.tree.stat('/a')).toMatchObject({ aversion: 1, version: 1 });
      expect(prepared.tree.aclCount).toBe(unused);
    }
  });

  it('in every part of a multi, with what the parts before it did', () => {
    const prepared = new Guarded();
    const parts = [create('/m', '', { acl: forAlice(PERMS.CREATE) }), create('/m/x')];
    expect(prepared.as([BOB], { kind: 'multi', parts })).toBe('NO_AUTH');
    expect(prepared.as([ALICE], { kind: 'multi', parts })).toBe('multi');
    expect(prepared.as([ALICE], { kind: 'multi', parts: [{ kind: 'check', path: '/m', expectedVersion: 0 }] })).toBe(
      'NO_AUTH',
    );
  });

  it('of the configuration everybody may read, and nobody but super changes anything, in whatever operation', () => {
    const prepared = new Guarded();
    const path = '/zookeeper/config';
    const change = { ...set(path, 'x'), kind: 'setData' } as const;
    const child = create(`${path}/a`);
    const ways: readonly OrderedOp[] = [
      change,
      child,
      { ...child, path: `${path}/a/b`, parents: true },
      { kind: 'createOrSet', path, data: undefined },
      { kind: 'createOrSet', path: `${path}/a`, data: undefined },
      { kind: 'setAcl', path, acl: OPEN_ACL, expectedVersion: undefined },
      { kind: 'multi', parts: [create('/a'), change] },
      { kind: 'multi', parts: [child] },
      { kind: 'multi', parts: [{ kind: 'delete', path: `${path}/a`, expectedVersion: undefined }] },
    ];
    for (const op of ways) expect(prepared.as([ALICE, HOME], op)).toBe('NO_AUTH');
    expect(prepared.as([ALICE], { kind: 'multi', parts: [{ kind: 'check', path, expectedVersion: 0 }] })).toBe('multi');
    const gone = { kind: 'delete', path, expectedVersion: undefined } as const;
    for (const op of [gone, { kind: 'multi', parts: [gone] } as const]) {
      expect(prepared.as([SUPER], op)).toBe('INVALID_ARGUMENT');
    }
    prepared.apply();
    const acl = [entry('world', 'anyone', PERMS.READ)];
    expect(readAnswer(prepared.tree, { kind: 'getAcl', path }, NO_SESSION, []).result).toMatchObject({ acl });
    expect(prepared.tree.stat(path)).toMatchObject({ version: 0, aversion: 0, numChildren: 0 });
    expect(prepared.as([SUPER], change)).toBe('setData');
    expect(prepared.as([SUPER], child)).toBe('create');
  });

  it('an ACL that is nonsense wins over a missing parent; a missing znode over a missing right', () => {
    const prepared = new Guarded();
    expect(prepared.as([], create('/no/where', '', { acl: [entry('auth', '')] }))).toBe('INVALID_ACL');
    prepared.as([ALICE], create('/a', '', { acl: forAlice(PERMS.READ) }));
    expect(prepared.as([], { kind: 'delete', path: '/a/none', expectedVersion: undefined })).toBe('NO_AUTH');
    expect(prepared.as([], set('/none', 'x'))).toBe('NO_NODE');
  });

  it('each right is its own: CREATE is no DELETE, WRITE is no READ, and ADMIN alone shows the list', () => {
    const prepared = new Guarded();
    prepared.as([], create('/p', '', { acl: [entry('world', 'anyone', PERMS.CREATE | PERMS.READ)] }));
    expect(prepared.as([], create('/p/c', '', { acl: [entry('world', 'anyone', PERMS.WRITE)] }))).toBe('create');
    expect(prepared.as([], { kind: 'delete', path: '/p/c', expectedVersion: undefined })).toBe('NO_AUTH');
    expect(prepared.as([], set('/p/c', 'x'))).toBe('setData');
    const check = { kind: 'check', path: '/p/c', expectedVersion: undefined } as const;
    expect(prepared.as([], { kind: 'multi', parts: [check] })).toBe('NO_AUTH');
    prepared.as([], create('/q', '', { acl: [entry('world', 'anyone', PERMS.DELETE)] }));
    prepared.as([SUPER], create('/q/c', '', { acl: [entry('world', 'anyone', PERMS.ADMIN)] }));
    expect(prepared.as([], create('/q/d'))).toBe('NO_AUTH');
    prepared.apply();
    expect(read(prepared.tree, { kind: 'getAcl', path: '/q/c' }, [])).toMatchObject({ kind: 'getAcl' });
    expect(read(prepared.tree, { kind: 'getData', path: '/q/c' }, [])).toBe('NO_AUTH');
    expect(prepared.as([], { kind: 'delete', path: '/q/c', expectedVersion: undefined })).toBe('delete');
  });

  it('a guard asks for READ, so that nobody learns by it what is there, and since when', () => {
    const prepared = new Guarded();
    prepared.as([ALICE], create('/secret', '', { acl: forAlice(PERMS.ALL) }));
    prepared.as([], create('/a'));
    const guard = { path: '/secret', czxid: ZERO_ZXID };
    expect(prepared.as([], set('/a', 'x'), [guard])).toBe('NO_AUTH');
    expect(prepared.as([ALICE], set('/a', 'x'), [guard])).toBe('GUARD_FAILED');
    expect(prepared.as([], set('/a', 'x'), [{ ...guard, path: '/none' }])).toBe('GUARD_FAILED');
  });

  it('C128: reads ask for READ, getAcl for READ or ADMIN, and what is not there is NO_NODE for everybody', () => {
    const prepared = new Guarded();
    prepared.as(
      [ALICE],
      create('/a', 'x', { acl: [...forAlice(PERMS.READ | PERMS.ADMIN), entry('digest', BOB.id, PERMS.READ)] }),
    );
    prepared.apply();
    const { tree } = prepared;
    for (const kind of ['exists', 'getData', 'getChildren', 'getAllChildrenNumber', 'getAcl'] as const) {
      expect(read(tree, { kind, path: '/a' }, [HOME])).toBe('NO_AUTH');
      expect(read(tree, { kind, path: '/a' }, [BOB])).toMatchObject({ kind });
      expect(read(tree, { kind, path: '/none' }, [])).toBe('NO_NODE');
    }
    const bob = read(tree, { kind: 'getAcl', path: '/a' }, [BOB]);
    expect(bob).toMatchObject({ acl: [{ id: 'alice:x' }, { id: 'bob:x' }] });
    expect(read(tree, { kind: 'getAcl', path: '/a' }, [ALICE])).toMatchObject({
      acl: [{ id: ALICE.id }, { id: BOB.id }],
    });
  });
});

it('C140: equal lists are one in memory, and gone with their last znode', () => {
  const prepared = new Guarded();
  const unused = prepared.tree.aclCount;
  for (let n = 0; n < 100; n++) prepared.as([ALICE], create(`/n${n}`, '', { acl: forAlice(PERMS.ALL) }));
  prepared.as([ALICE], create('/open', '', { acl: OPEN_ACL }));
  prepared.apply();
  expect(prepared.tree.aclCount).toBe(unused + 1);
  expect(prepared.tree.znode('/n1')?.acl).toBe(prepared.tree.znode('/n2')?.acl);
  expect(prepared.tree.znode('/open')?.acl).toBeUndefined();
  const digest = prepared.tree.digest;
  prepared.as([ALICE], {
    kind: 'setAcl',
    path: '/n1',
    acl: forAlice(PERMS.READ | PERMS.ADMIN),
    expectedVersion: undefined,
  });
  prepared.apply();
  expect(prepared.tree.digest).not.toBe(digest);
  expect(prepared.tree.aclCount).toBe(unused + 2);
  for (let n = 0; n < 100; n++) prepared.as([SUPER], { kind: 'delete', path: `/n${n}`, expectedVersion: undefined });
  prepared.apply();
  expect(prepared.tree.aclCount).toBe(unused);
});
