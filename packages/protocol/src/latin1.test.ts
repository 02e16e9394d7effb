import { expect, it } from 'vitest';
import { isAscii, LATIN1_MAX, readLatin1 } from './latin1.ts';

const ALL = Uint8Array.from({ length: LATIN1_MAX + 10 }, (_, i) => (i * 7) % 256);

it('makes a character of every byte, whatever the length, and no string knows of the next', () => {
  const made: string[] = [];
  for (let length = 0; length <= LATIN1_MAX; length += length < 40 ? 1 : 59) {
    for (const start of [0, 9]) made.push(readLatin1(ALL, start, start + length));
  }
  let at = 0;
  for (let length = 0; length <= LATIN1_MAX; length += length < 40 ? 1 : 59) {
    for (const start of [0, 9])
      expect(made[at++]).toBe(Buffer.from(ALL.subarray(start, start + length)).toString('latin1'));
  }
});

it('refuses more than its most, and keeps nothing of it', () => {
  expect(() => readLatin1(ALL, 0, LATIN1_MAX + 1)).toThrow('at most 512');
  expect(readLatin1(ALL, 0, LATIN1_MAX)).toHaveLength(LATIN1_MAX);
});

it('tells ASCII from what is not', () => {
  const bytes = Uint8Array.of(0x80, 0x00, 0x7f, 0xff);
  expect([isAscii(bytes, 1, 3), isAscii(bytes, 0, 3), isAscii(bytes, 1, 4), isAscii(bytes, 2, 2)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
