import { expect, test } from 'vitest';
import { Random } from './random.ts';

test('the same seed gives the same stream, another seed or name another one', () => {
  const draw = (random: Random) => Array.from({ length: 8 }, () => random.next());
  expect(draw(new Random(7))).toEqual(draw(new Random(7)));
  expect(draw(new Random(7))).not.toEqual(draw(new Random(8)));
  expect(draw(new Random(7))).not.toEqual(draw(new Random(7, 'network')));
  expect(draw(new Random(7))).not.toEqual(draw(new Random(7 + 2 ** 32)));
});

test('the stream is the one that every earlier run has seen', () => {
  const random = new Random(42);
  expect(Array.from({ length: 3 }, () => random.next())).toMatchInlineSnapshot(`
    [
      3866967580,
      2217849601,
      422238379,
    ]
  `);
});

test('a fork does not depend on what was drawn from its parent', () => {
  const early = new Random(3).fork('disk');
  const parent = new Random(3);
  parent.next();
  expect(parent.fork('disk').next()).toBe(early.next());
});

test('between covers both ends and nothing else', () => {
  const random = new Random(1);
  const seen = new Set(Array.from({ length: 400 }, () => random.between(2, 5)));
  expect([...seen].sort((a, b) => a - b)).toEqual([2, 3, 4, 5]);
});

test('shuffle keeps every item, and weighted never takes a weight of 0', () => {
  const random = new Random(5);
  expect(random.shuffle([1, 2, 3, 4, 5]).sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5]);
  const picks = Array.from({ length: 200 }, () => random.weighted({ often: 3, never: 0, seldom: 1 }));
  expect(new Set(picks)).toEqual(new Set(['often', 'seldom']));
});
