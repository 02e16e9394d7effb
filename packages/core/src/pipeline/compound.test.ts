/** Creates that make their ancestors, and writes that create what is not there: against a leader's preparation and a real tree. */
import { type CreateOrSetOp, type Identity, NO_SESSION, type SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { bytes, create, set } from '../peer/words.fixture.ts';
import type { TxnBody } from '../tree/txn.ts';
import { decodeTxn, encodeTxn } from '../tree/txn-codec.ts';
import { PreparedTree } from './leader.fixture.ts';
import { writeAnswer } from './reads.ts';
import { opFault, partFault } from './validate.ts';
import { requestCost } from './write-request.ts';

const S = 11n as SessionId;
const PARENTS = { parents: true } as const;
const ALICE: Identity = { scheme: 'digest', id: 'alice:x' };
const HERS = [{ perms: 31, ...ALICE }];

const put = (path: string, data: string, more: Partial<CreateOrSetOp> = {}): CreateOrSetOp => {
  return { kind: 'createOrSet', path, data: bytes(data), ...more };
};

function outcomeOf(body: TxnBody): string {
  if (body.kind === 'error') return `${body.code} ${body.path}`;
  return 'parts' in body
    ? body.parts.map(({ kind, path }) => `${kind} ${path}`).join()
    : `${body.kind} ${'path' in body ? body.path : ''}`;
}

/** Orders, applies, and answers what came in last. */
function carryOut(prepared: PreparedTree, op: Parameters<PreparedTree['prepare']>[0]) {
  const txn = prepared.prepare(op);
  prepared.propose(txn);
  prepared.apply();
  return writeAnswer(prepared.tree, prepared.last, decodeTxn(encodeTxn(txn)));
}

describe('a create with its ancestors', () => {
  it('makes all that are missing at one zxid, without data, and is answered as a create', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/a'));
    expect(outcomeOf(prepared.order(create('/a/b/c/d', 'x', PARENTS)))).toBe(
      'create /a/b,create /a/b/c,create /a/b/c/d',
    );
    prepared.apply();
    const zxid = prepared.last;
    const { tree } = prepared;
    for (const path of ['/a/b', '/a/b/c', '/a/b/c/d']) expect(tree.stat(path)?.czxid).toBe(zxid);
    expect(tree.data('/a/b')).toBeUndefined();
    expect(tree.stat('/a/b')).toMatchObject({ numChildren: 1, cversion: 1, ephemeralOwner: NO_SESSION });
    const answer = carryOut(prepared, create('/p/q', 'y', PARENTS));
    expect(answer).toMatchObject({
      zxid: prepared.last,
      result: { kind: 'create', path: '/p/q', stat: { dataLength: 1 } },
    });
    expect(prepared.preparation.size).toBe(0);
  });

  it('is a plain create when none is missing, and refuses as one', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/a'));
    expect(outcomeOf(prepared.order(create('/a/b', '', PARENTS)))).toBe('create /a/b');
    expect(outcomeOf(prepared.order(create('/a/b', '', PARENTS)))).toBe('NODE_EXISTS /a/b');
    expect(outcomeOf(prepared.order(create('/', '', PARENTS)))).toBe('NODE_EXISTS /');
    expect(outcomeOf(prepared.order(create('/x/y')))).toBe('NO_NODE /x/y');
  });

  it('leaves nothing of itself when it is refused', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    prepared.order(create('/e', '', { mode: 'ephemeral' }), S);
    expect(outcomeOf(prepared.order(create('/e/x/y', '', PARENTS)))).toBe('NO_CHILDREN_FOR_EPHEMERALS /e/x');
    const limits = '/zookeeper/quota/q/zookeeper_limits';
    prepared.order(create('/q'));
    prepared.order(create(limits, ';countHardLimit=3', PARENTS));
    expect(outcomeOf(prepared.order(create('/q/1/2/3', '', PARENTS)))).toBe('QUOTA_EXCEEDED /q/1/2/3');
    expect(outcomeOf(prepared.order(create('/q/1/2', '', PARENTS)))).toBe('create /q/1,create /q/1/2');
    prepared.apply();
    expect(prepared.tree.usageOf('/q').count).toBe(3);
    expect(prepared.tree.znode('/e/x')).toBeUndefined();
    expect(prepared.preparation.size).toBe(0);
  });

  it('may be sequential or ephemeral itself, its ancestors are neither', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    const op = create('/w/x/', '', { parents: true, sequential: true, mode: 'ephemeral' });
    expect(outcomeOf(prepared.order(op, S))).toBe('create /w,create /w/x,create /w/x/0000000000');
    expect(outcomeOf(prepared.order(op, S))).toBe('create /w/x/0000000001');
    prepared.apply();
    expect(prepared.tree.stat('/w/x')).toMatchObject({ ephemeralOwner: NO_SESSION });
    expect(prepared.tree.sessions.get(S)?.ephemerals.size).toBe(2);
    prepared.order({ kind: 'closeSession' }, S);
    prepared.apply();
    expect(prepared.tree.children('/w/x')).toEqual([]);
  });

  it('gives the ancestors its own ACL, asks CREATE of the lowest that is there, and of none that it makes', () => {
    const prepared = new PreparedTree();
    const as = (identities: readonly Identity[], op: ReturnType<typeof create>) => {
      const txn = prepared.preparation.prepare(
        { incarnation: 1, seq: prepared.nextSeq(), session: NO_SESSION, attached: false, op, identities },
        1,
        1_000,
        undefined,
      );
      return outcomeOf(prepared.propose(txn));
    };
    const readOnly = [{ perms: 1, scheme: 'world', id: 'anyone' }];
    expect(as([], create('/r/s', '', { parents: true, acl: readOnly }))).toBe('create /r,create /r/s');
    expect(as([], create('/r/t/u', '', PARENTS))).toBe('NO_AUTH /r/t');
    expect(as([ALICE], create('/hers/a/b', '', { parents: true, acl: HERS }))).toBe(
      'create /hers,create /hers/a,create /hers/a/b',
    );
    expect(as([], create('/hers/a/c', '', PARENTS))).toBe('NO_AUTH /hers/a/c');
    prepared.apply();
    expect(prepared.tree.znode('/hers/a')?.acl).toEqual(HERS);
  });

  it('is refused by its form in a multi, and when its ancestors could be more than a txn holds', () => {
    expect(partFault(create('/a/b', '', PARENTS), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(partFault(create('/a/b'), NO_SESSION)).toBeUndefined();
    const prepared = new PreparedTree();
    const body = prepared.order({ kind: 'multi', parts: [create('/a'), create('/a/b/c', '', PARENTS)] });
    expect(body).toMatchObject({ kind: 'error', code: 'INVALID_ARGUMENT', part: 1 });
    const deep = '/a'.repeat(2_000);
    expect(opFault(create(deep, '', PARENTS), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(put(deep, '', PARENTS), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(create(deep), NO_SESSION)).toBeUndefined();
    const longAcl = Array.from({ length: 200 }, (_, i) => ({ perms: 1, scheme: 'x509', id: `${i}${'n'.repeat(900)}` }));
    expect(opFault(create('/a/b/c/d', '', { parents: true, acl: longAcl }), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(create('/a/b', '', { parents: true, acl: longAcl }), NO_SESSION)).toBeUndefined();
    prepared.order(create('/a'.repeat(500), '', PARENTS));
    prepared.apply();
    expect(prepared.tree.znodeCount).toBe(504);
  });
});

describe('what a write counts for in bounds', () => {
  it('is no less than its txn takes, also when it makes ancestors', () => {
    const acl = [{ perms: 1, scheme: 'x509', id: 'n'.repeat(300) }];
    for (const path of ['/a', '/é/è/ê/ë', '/a'.repeat(400), `/${'n'.repeat(3_000)}/b/c`]) {
      for (const op of [create(path, 'x', PARENTS), create(path, 'x', { ...PARENTS, acl }), put(path, 'x', PARENTS)]) {
        const txn = new PreparedTree().prepare(op);
        expect(txn.body.kind).not.toBe('error');
        const request = { incarnation: 1, seq: 1, session: NO_SESSION, attached: false, op };
        expect(requestCost(request)).toBeGreaterThanOrEqual(encodeTxn(txn).length);
      }
    }
    const plain = { incarnation: 1, seq: 1, session: NO_SESSION, attached: false, op: create('/a/b/c', 'x') };
    expect(requestCost(plain)).toBeLessThan(120);
  });
});

describe('a createOrSet', () => {
  it('creates what is not there, and sets what is, whatever its version', () => {
    const prepared = new PreparedTree();
    expect(carryOut(prepared, put('/a', '1')).result).toMatchObject({
      kind: 'createOrSet',
      created: true,
      stat: { version: 0 },
    });
    expect(carryOut(prepared, put('/a', '23')).result).toMatchObject({
      kind: 'createOrSet',
      created: false,
      stat: { version: 1, dataLength: 2, mzxid: prepared.last },
    });
    expect(outcomeOf(prepared.order(put('/x/y', '')))).toBe('NO_NODE /x/y');
    expect(outcomeOf(prepared.order(put('/x/y', '', PARENTS)))).toBe('create /x,create /x/y');
    expect(outcomeOf(prepared.order(put('/x/y', 'z', PARENTS)))).toBe('setData /x/y');
    expect(outcomeOf(prepared.order({ kind: 'delete', path: '/x/y', expectedVersion: 1 }))).toBe('delete /x/y');
    expect(outcomeOf(prepared.order(put('/x/y', '')))).toBe('create /x/y');
  });

  it('asks WRITE of what is there, and CREATE of the parent of what is not', () => {
    const prepared = new PreparedTree();
    const acl = [{ perms: 31 - 2, scheme: 'world', id: 'anyone' }];
    prepared.order(create('/noWrite', '', { acl }));
    prepared.order(create('/noCreate', '', { acl: [{ perms: 31 - 4, scheme: 'world', id: 'anyone' }] }));
    expect(outcomeOf(prepared.order(put('/noWrite', 'x')))).toBe('NO_AUTH /noWrite');
    expect(outcomeOf(prepared.order(put('/noWrite/a', 'x')))).toBe('create /noWrite/a');
    expect(outcomeOf(prepared.order(put('/noCreate', 'x')))).toBe('setData /noCreate');
    expect(outcomeOf(prepared.order(put('/noCreate/a', 'x')))).toBe('NO_AUTH /noCreate/a');
    expect(outcomeOf(prepared.order(put('/a', 'x', { acl: [] })))).toBe('INVALID_ACL /a');
  });

  it('counts in quotas as what it comes to', () => {
    const prepared = new PreparedTree();
    prepared.order(create('/q'));
    prepared.order(create('/zookeeper/quota/q/zookeeper_limits', ';byteHardLimit=3;countHardLimit=2', PARENTS));
    expect(outcomeOf(prepared.order(put('/q/a', 'xyzw')))).toBe('QUOTA_EXCEEDED /q/a');
    expect(outcomeOf(prepared.order(put('/q/a', 'xyz')))).toBe('create /q/a');
    expect(outcomeOf(prepared.order(put('/q/b', '')))).toBe('QUOTA_EXCEEDED /q/b');
    expect(outcomeOf(prepared.order(put('/q/a', 'x')))).toBe('setData /q/a');
    expect(outcomeOf(prepared.order(set('/q/a', 'xyzw')))).toBe('QUOTA_EXCEEDED /q/a');
  });

  it('C077: is answered as the first time when it is asked for again, created or not', () => {
    const prepared = new PreparedTree();
    prepared.open(S);
    const first = prepared.prepare(put('/a/b', '1', PARENTS), S, { request: 1, acknowledged: 0 });
    prepared.propose(first);
    prepared.apply();
    const said = writeAnswer(prepared.tree, prepared.last, first);
    expect(said.result).toMatchObject({ kind: 'createOrSet', created: true });
    const again = prepared.prepare(put('/a/b', '1', PARENTS), S, { request: 1, acknowledged: 0 });
    expect(again.body).toEqual({ kind: 'repeat', request: 1 });
    prepared.propose(again);
    prepared.apply();
    expect(writeAnswer(prepared.tree, prepared.last, again)).toEqual(said);
    expect(prepared.tree.stat('/a/b')).toMatchObject({ version: 0 });
  });
});
