import { expect, test } from 'vitest';
import { applied, at, check, logged, refusal, sent, status } from './history.fixture.ts';
import { PrimaryOrderChecker } from './primary-order.ts';

const txn = (counter: number, epoch = 1) => refusal(at(counter, epoch));
const leading = (sid: number, epoch: number) => status(sid, { role: 'leading', epoch });

test('leader after leader, each with what was delivered before, is right; what was never delivered may be lost', () => {
  check(new PrimaryOrderChecker(), [
    leading(1, 1),
    logged([1, 2], txn(1), txn(2)),
    applied(2, at(2)),
    logged([1], txn(3)),
    leading(2, 2),
    logged([2, 3], txn(1, 2)),
    applied(3, at(1, 2)),
  ]);
});

test('a txn that the leader of its epoch has not broadcast is a violation', () => {
  expect(() => check(new PrimaryOrderChecker(), [leading(1, 1), logged([2], txn(1))])).toThrow(
    '0x100000001 was broadcast by member 2; member 1 leads its epoch',
  );
});

test("a txn is its sender's, whoever logs it first", () => {
  const propose = sent(1, 2, { kind: 'propose', records: [txn(1)], committed: at(0) });
  check(new PrimaryOrderChecker(), [leading(1, 1), propose, logged([2], txn(1))]);
});

test('a leader that leaves out a number, or does not begin with the first, is a violation', () => {
  expect(() => check(new PrimaryOrderChecker(), [logged([1], txn(1), txn(3))])).toThrow(
    '0x100000003 was broadcast right after 0x100000001',
  );
  expect(() => check(new PrimaryOrderChecker(), [logged([1], txn(2))])).toThrow(
    '0x100000002 was broadcast first of its epoch',
  );
});

test('a leader that begins without what was delivered before is a violation, also when it was delivered later', () => {
  const begun = [logged([1, 2, 3], txn(1)), logged([1, 2], txn(2)), leading(3, 2), logged([3], txn(1, 2))];
  check(new PrimaryOrderChecker(), [begun, applied(3, at(1))]);
  expect(() => check(new PrimaryOrderChecker(), [begun, applied(2, at(2))])).toThrow(
    'member 3 has broadcast 0x200000001 without 0x100000002',
  );
});

test('a delivery with a gap is a violation', () => {
  const gap = [logged([1], txn(1)), logged([2], txn(1)), logged([1, 2], txn(1, 2)), logged([3], txn(2, 1))];
  check(new PrimaryOrderChecker(), [gap, applied(1, at(1, 2))]);
  expect(() =>
    check(new PrimaryOrderChecker(), [logged([1], txn(1), txn(1, 2), txn(2, 1)), applied(1, at(2, 1))]),
  ).toThrow('without 0x100000002');
});
