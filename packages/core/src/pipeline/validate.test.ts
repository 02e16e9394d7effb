import { NO_SESSION, type Op, PATH_BYTES_MAX, REQUEST_BYTES_MAX, type SessionId } from '@quorate/protocol';
import { describe, expect, it } from 'vitest';
import { opFault } from './validate.ts';

const SESSION = 5n as SessionId;

function create(path: string, more: Partial<Extract<Op, { kind: 'create' }>> = {}): Op {
  return { kind: 'create', path, data: undefined, mode: 'persistent', sequential: false, ...more };
}

const ILLEGAL = [
  '',
  'a',
  '/a/',
  '/a//b',
  '/a/./b',
  '/a/../b',
  '/a\u0000',
  '/a\u0001',
  '/a\u001f',
  '/a\u007f',
  '/a\u009f',
];
ILLEGAL.push('/a\ud800', '/a\uf8ff', '/a\ufff0', '/a\u{1f600}');
const LEGAL = ['/a..b', '/...', '/é', '/a b', '/', '/zookeeper/mine'];

describe('paths', () => {
  it.each(ILLEGAL)('C005: refuses to create %j', (path) => {
    expect(opFault(create(path), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
  });

  it.each(LEGAL)('C005: lets %j through', (path) => {
    expect(opFault(create(path), NO_SESSION)).toBeUndefined();
  });

  it('of sequential znodes may end with a slash, for digits follow; nothing else is forgiven', () => {
    const sequential = { sequential: true };
    expect(opFault(create('/a/', sequential), NO_SESSION)).toBeUndefined();
    expect(opFault(create('/', sequential), NO_SESSION)).toBeUndefined();
    expect(opFault(create('/a/..', sequential), NO_SESSION)).toBeUndefined();
    for (const path of ['', 'a/', '/a//', '/./', '/a\u0000/']) {
      expect(opFault(create(path, sequential), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    }
  });

  it.each(['exists', 'getData', 'getChildren'] as const)('are checked for %s too', (kind) => {
    expect(opFault({ kind, path: '/a//b' }, NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault({ kind, path: '/a' }, NO_SESSION)).toBeUndefined();
  });

  it('of a sync may be anything that is not too long, for it is only given back', () => {
    expect(opFault({ kind: 'sync', path: '' }, NO_SESSION)).toBeUndefined();
    expect(opFault({ kind: 'sync', path: 'x'.repeat(PATH_BYTES_MAX + 1) }, NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
  });

  it('are bounded in bytes, not in characters, with the digits to come', () => {
    const atLimit = `/${'é'.repeat((PATH_BYTES_MAX - 1) / 2)}`;
    expect(opFault(create(atLimit), NO_SESSION)).toBeUndefined();
    expect(opFault(create(`${atLimit}a`), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(create(atLimit, { sequential: true }), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
  });

  it('are shown in a message short and without what a terminal would obey', () => {
    const message = opFault(create(`/\u001b[2J${'x'.repeat(5_000)}`), NO_SESSION)?.message ?? '';
    expect(message.length).toBeLessThan(400);
    expect(message).not.toContain('\u001b');
  });
});

describe('operations', () => {
  it.each(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])('never delete %s', (path) => {
    expect(opFault({ kind: 'delete', path, expectedVersion: undefined }, NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
  });

  it('hold path and data together to the size of a request', () => {
    const data = (size: number): Op => ({
      kind: 'setData',
      path: '/a',
      data: new Uint8Array(size),
      expectedVersion: 0,
    });
    expect(opFault(data(REQUEST_BYTES_MAX - 2), NO_SESSION)).toBeUndefined();
    expect(opFault(data(REQUEST_BYTES_MAX - 1), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(create('/a', { data: new Uint8Array(REQUEST_BYTES_MAX) }), NO_SESSION)?.code).toBe(
      'INVALID_ARGUMENT',
    );
  });

  it('expect versions of 32 bits', () => {
    for (const expectedVersion of [0.5, 2 ** 31, Number.NaN]) {
      expect(opFault({ kind: 'delete', path: '/a', expectedVersion }, NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    }
    expect(opFault({ kind: 'delete', path: '/a', expectedVersion: -(2 ** 31) }, NO_SESSION)).toBeUndefined();
  });

  it('that concern a session need one', () => {
    expect(opFault(create('/a', { mode: 'ephemeral' }), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault(create('/a', { mode: 'ephemeral' }), SESSION)).toBeUndefined();
    expect(opFault({ kind: 'closeSession' }, NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    expect(opFault({ kind: 'closeSession' }, SESSION)).toBeUndefined();
  });
});

describe('modes', () => {
  const TTL = 'ttl' as const;

  it('take a TTL from 1 ms to 2^40 - 1 ms where they have one, and nowhere else', () => {
    for (const ttlMs of [1, 2 ** 40 - 1])
      expect(opFault(create('/a', { mode: TTL, ttlMs }), NO_SESSION)).toBeUndefined();
    for (const ttlMs of [0, -1, 2 ** 40, 0.5, Number.NaN]) {
      expect(opFault(create('/a', { mode: TTL, ttlMs }), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    }
    expect(opFault(create('/a', { mode: TTL }), NO_SESSION)?.code).toBe('INVALID_ARGUMENT');
    for (const mode of ['persistent', 'ephemeral', 'container'] as const) {
      expect(opFault(create('/a', { mode, ttlMs: 5 }), SESSION)?.code).toBe('INVALID_ARGUMENT');
    }
  });

  it('of sequential znodes are all but container', () => {
    for (const [mode, code] of [
      ['persistent', undefined],
      ['ephemeral', undefined],
      ['container', 'INVALID_ARGUMENT'],
    ] as const) {
      expect(opFault(create('/a', { mode, sequential: true }), SESSION)?.code).toBe(code);
    }
    expect(opFault(create('/a', { mode: TTL, ttlMs: 5, sequential: true }), NO_SESSION)).toBeUndefined();
  });
});
