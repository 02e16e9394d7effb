import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { childPath, nameOf, parentOf, pathFault, sequenceSuffix } from './path.ts';

/** The rules of reference §5.1 said again, one after the other and without care for speed. */
function isLegalSlowly(path: string): boolean {
  if (path === '/') return true;
  if (!path.startsWith('/') || path.endsWith('/')) return false;
  const names = path.slice(1).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) return false;
  const forbidden: readonly (readonly [number, number])[] = [
    [0x0000, 0x001f],
    [0x007f, 0x009f],
    [0xd800, 0xf8ff],
    [0xfff0, 0xffff],
  ];
  const units = Array.from({ length: path.length }, (_, i) => path.charCodeAt(i));
  return units.every((unit) => forbidden.every(([low, high]) => unit < low || unit > high));
}

const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('/', '.', 'a', '..', 'é', ' ') },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) },
);
const anyPath = fc.array(unit, { maxLength: 12 }).map((units) => `/${units.join('')}`);
const legalPath = fc
  .array(fc.constantFrom('a', 'b.c', '..x', '...', 'é', ' '), { minLength: 1, maxLength: 5 })
  .map((names) => `/${names.join('/')}`);

describe('a path', () => {
  it.each([
    '',
    'a',
    '/a/',
    '//',
    '/a//b',
    '/.',
    '/..',
    '/a/./b',
    '/a/../b',
    '/a/..',
    '/a\u0000',
    '/a\u0001',
    '/a\u001f',
    '/a\u007f',
    '/a\u009f',
    '/a\ud800',
    '/a\uf8ff',
    '/a\ufff0',
    '/a\uffff',
    '/\u{1f600}',
  ])('C005: %j is not legal', (path) => {
    expect(pathFault(path)).toBeTypeOf('string');
  });

  it.each([
    '/',
    '/a',
    '/.a',
    '/a.',
    '/...',
    '/a..b',
    '/é',
    '/a b',
    '/a\u00a0',
    '/a\ud7ff',
    '/a\uf900',
    '/a\uffef',
    '/~',
  ])('C005: %j is legal', (path) => {
    expect(pathFault(path)).toBeUndefined();
  });

  it('is legal exactly when the rules say so one by one', () => {
    fc.assert(
      fc.property(fc.oneof(anyPath, fc.string({ unit: 'binary', maxLength: 6 })), (path) => {
        expect(pathFault(path) === undefined).toBe(isLegalSlowly(path));
      }),
      { numRuns: 1000 },
    );
  });

  it('says what is wrong with it and where', () => {
    expect(pathFault('/a//b')).toBe('it has an empty name at position 3');
    expect(pathFault('/a/..')).toBe('it has the relative name .. at position 3');
    expect(pathFault('/ab\u0007')).toBe('it has the forbidden character U+0007 at position 3');
  });

  it('is put together again from its parent and its name', () => {
    fc.assert(
      fc.property(legalPath, (path) => {
        expect(childPath(parentOf(path), nameOf(path))).toBe(path);
        expect(nameOf(path)).not.toContain('/');
        expect(pathFault(parentOf(path))).toBeUndefined();
      }),
    );
    expect(parentOf('/a')).toBe('/');
    expect(parentOf('/a/b/c')).toBe('/a/b');
    expect(childPath('/', 'a')).toBe('/a');
  });
});

describe('the suffix of a sequential znode', () => {
  // As C's and Java's %010d: ten places, of which a sign takes one.
  it.each([
    [0, '0000000000'],
    [7, '0000000007'],
    [2_147_483_647, '2147483647'],
    [-2_147_483_648, '-2147483648'],
    [-2_147_483_647, '-2147483647'],
    [-1, '-000000001'],
  ])('C002: of %i is %s', (counter, suffix) => {
    expect(sequenceSuffix(counter)).toBe(suffix);
  });
});
