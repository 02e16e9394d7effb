import { ZERO_ZXID } from '@quorate/protocol';
import { expect, test } from 'vitest';
import { append, applied, at, ensemble, issued, logged, refusal, started } from './checkers/history.fixture.ts';
import { Ledger } from './ledger.ts';
import { ShadowLog } from './shadow-log.ts';

const [one, two, three] = [refusal(at(1)), refusal(at(2)), refusal(at(3))];

function ledgerOf(...observations: Parameters<Ledger['note']>[0][]): Ledger {
  const ledger = new Ledger();
  for (const observation of [ensemble, ...observations]) ledger.note(observation);
  return ledger;
}

test('the committed history is what anybody has applied, with all before it', () => {
  const ledger = ledgerOf(...logged([1, 2], one, two, three), applied(2, at(2)));
  expect(ledger.committed).toEqual([at(1), at(2)]);
  expect(ledger.tip).toBe(at(2));
  expect([at(0), at(2), at(3)].map((zxid) => ledger.isCommitted(zxid))).toEqual([true, true, false]);
  expect(ledger.conflicts).toEqual([]);
});

test('a txn can be read back', () => {
  expect(ledgerOf(...logged([1], one)).txn(at(1))?.body).toMatchObject({ kind: 'error', code: 'NO_NODE' });
  expect(ledgerOf().txn(at(1))).toBeUndefined();
});

test('a member that starts again stands where its disk does', () => {
  const ledger = ledgerOf(...logged([1], one, two), started(1, { records: [one], epochs: [4, 3] }));
  expect(ledger.member(1).durable.last).toBe(at(1));
  expect(ledger.member(1).applied).toBe(ZERO_ZXID);
  expect(ledger.member(1)).toMatchObject({ acceptedEpoch: 4, currentEpoch: 3 });
});

test('what is handed over and what is durable are told apart', () => {
  const { issued: handedOver, durable } = ledgerOf(...logged([1], one), issued(1, append(two))).member(1);
  expect([handedOver.has(at(2)), durable.has(at(2)), durable.has(at(1))]).toEqual([true, false, true]);
});

test('a shadow log follows appends, cuts and installs', () => {
  const log = new ShadowLog();
  log.take(append(one, two, three));
  expect([log.last, log.after(at(1)), log.after(at(3))]).toEqual([at(3), at(2), undefined]);
  log.take({ kind: 'truncate', after: at(1) });
  expect([log.last, log.has(at(1)), log.has(at(2))]).toEqual([at(1), true, false]);
  log.take({ kind: 'installCommit', zxid: at(9) });
  expect([log.last, log.base, log.has(at(4))]).toEqual([at(9), at(9), true]);
});
