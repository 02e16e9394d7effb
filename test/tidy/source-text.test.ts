import { expect, test } from 'vitest';
import { importsOf, read } from './source-text.ts';

test('comments, strings, templates and regular expressions are not code, and offsets stay', () => {
  const text = [
    `const a = 'Date'; // Date`,
    `/* Date`,
    ` Date */ const b = /Date["']/.test(x) ? 1 / 2 : "it's Date";`,
    'const c = `Date ${now(`inner Date ${d}`)} Date`;',
  ].join('\n');
  const { code } = read(text);
  expect(code).toHaveLength(text.length);
  expect(code).not.toContain('Date');
  expect(code).toContain('1 / 2');
  expect(code).toContain('now(');
  expect(code.indexOf('.test(x)')).toBe(text.indexOf('.test(x)'));
});

test('imports are found in every form, and not in comments or strings', () => {
  const text = [
    `import a from 'one';`,
    `import {`,
    `  b, // from 'no'`,
    `  type C,`,
    `} from './two.ts';`,
    `export * from "three";`,
    `import 'four';`,
    `const five = await import('five');`,
    `// import x from 'six';`,
    `const text = "import y from 'seven'";`,
    `import type { D } from 'eight';`,
  ].join('\n');
  expect(importsOf(text)).toEqual([
    { specifier: 'one', line: 1 },
    { specifier: './two.ts', line: 2 },
    { specifier: 'three', line: 6 },
    { specifier: 'four', line: 7 },
    { specifier: 'five', line: 8 },
    { specifier: 'eight', line: 11 },
  ]);
});
