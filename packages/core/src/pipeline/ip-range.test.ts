import { expect, it } from 'vitest';
import { isInRange, isRange } from './ip-range.ts';

it('knows addresses and ranges of both families', () => {
  for (const text of [
    '1.2.3.4',
    '10.0.0.0/8',
    '0.0.0.0/0',
    '1.2.3.4/32',
    '::1',
    '::',
    'fe80::1/64',
    '::ffff:1.2.3.4',
  ]) {
    expect([text, isRange(text)]).toEqual([text, true]);
  }
  const wrong = [
    '',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4/33',
    '1.2.3.4/',
    '1.2.3.4/8/8',
    '::1/129',
    ':::',
    '1::2::3',
    'a.b.c.d',
    '1:2:3:4:5:6:7',
  ];
  for (const text of [...wrong, '1:2:3:4:5:6:7:8:9', '12345::', '::g', '1.2.3.4/-1', ' 1.2.3.4']) {
    expect([text, isRange(text)]).toEqual([text, false]);
  }
});

it('compares the leading bits, of the same family only', () => {
  expect(isInRange('10.1.2.3', '10.0.0.0/8')).toBe(true);
  expect(isInRange('11.1.2.3', '10.0.0.0/8')).toBe(false);
  expect(isInRange('10.1.2.3', '10.1.2.3')).toBe(true);
  expect(isInRange('10.1.2.4', '10.1.2.3')).toBe(false);
  expect(isInRange('10.1.2.3', '0.0.0.0/0')).toBe(true);
  expect(isInRange('::ffff:10.1.2.3', '10.0.0.0/8')).toBe(true);
  expect(isInRange('fe80::1:2', 'fe80::/16')).toBe(true);
  expect(isInRange('fe81::1', 'fe80::/16')).toBe(false);
  expect(isInRange('0:0:0:0:0:0:0:1', '::1')).toBe(true);
  expect(isInRange('127.0.0.1', '::/0')).toBe(false);
  expect(isInRange('nonsense', '0.0.0.0/0')).toBe(false);
});
