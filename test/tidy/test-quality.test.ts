import { expect, test } from 'vitest';
import { assertionFaults, sleepFaults, switchFaults } from './test-quality.ts';
import { readFiles } from './workspace.ts';

const tests = readFiles((path) => path.endsWith('.test.ts'));
const file = (text: string) => ({ path: 'a.test.ts', text });

test('every test asserts something', () => {
  expect(tests.flatMap(assertionFaults)).toEqual([]);
});

test('no test is switched off or singled out', () => {
  expect(tests.flatMap(switchFaults)).toEqual([]);
});

test('no test waits by the clock', () => {
  expect(tests.flatMap(sleepFaults)).toEqual([]);
});

test.each([
  `test('runs', () => { run(); });`,
  `it('runs', async () => { await run(); });`,
  `test.each([1, 2])('runs %d', (n) => { run(n); });`,
  `function help() { return 1; }\ntest('runs', () => help());`,
  `const help = () => 1;\ntest('runs', () => { help(); });`,
  `test('says expect only in a string', () => { log('expect(1)'); });`,
])('%s has no assertion', (text) => {
  expect(assertionFaults(file(text))).toHaveLength(1);
});

test.each([
  `test('runs', () => { expect(run()).toBe(1); });`,
  `test('runs', () => { fc.assert(fc.property(x, f)); });`,
  `test.each([[1], [2]])('runs %d', (n) => expect(n).toBe(n));`,
  `function help(n: number) { expect(n).toBe(1); }\ntest('runs', () => help(1));`,
  `const help = (n: number) => { expect(n).toBe(1); };\ntest('runs', () => help(1));`,
  `const help = (n: number) => check(n);\ntest('runs', () => help(1));`,
  `test('runs', () => expectFaults([]));`,
  `const ok = /x/.test(text);`,
])('%s has one, or is no test', (text) => {
  expect(assertionFaults(file(text))).toEqual([]);
});

test('tests with a switch are faults', () => {
  const text = ['skip', 'only', 'todo', 'skipIf(x)']
    .map((name) => `${'test'}.${name}('a', () => expect(1));`)
    .join('\n');
  expect(switchFaults(file(text))).toHaveLength(4);
  expect(switchFaults(file(`${'describe'}.only('a', () => undefined)`))).toHaveLength(1);
});

test('waits by the clock are faults', () => {
  const text = [
    'await new Promise((resolve) => setTimeout(resolve, 10));',
    'await sleep(10);',
    `import { setTimeout as wait } from 'node:timers/promises';`,
  ];
  for (const one of text) expect(sleepFaults(file(one))).toHaveLength(1);
});
