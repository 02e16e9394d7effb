import { type Answer, type ListingOp, MULTI_PARTS_MAX, type MultiPart } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { answerOf, type Member, TestEnsemble } from './ensemble.fixture.ts';
import { create, list } from './words.fixture.ts';

const WISH = { withStat: false, withData: false, token: undefined, isEnd: false } as const;

function page(path: string, after: string): ListingOp {
  return { kind: 'listChildren', path, after, limit: 2, ...WISH };
}

/** As many children as take some turns to put in order. */
function crowd(ensemble: TestEnsemble, member: Member, multis: number): void {
  ensemble.call(member, create('/p'));
  for (let multi = 0; multi < multis; multi++) {
    const parts = Array.from(
      { length: MULTI_PARTS_MAX },
      (_, part): MultiPart => create(`/p/n${(part * 1_009) % MULTI_PARTS_MAX}.${multi}`),
    );
    expect(ensemble.call(member, { kind: 'multi', parts }).result.kind).toBe('multi');
  }
}

function namesOf({ result }: Answer): readonly string[] {
  return 'entries' in result ? result.entries.map(({ name }) => name) : [result.kind];
}

it('P3, C166: a listing that waits for an order shows no later write of its session, and holds its place in the line', () => {
  const ensemble = new TestEnsemble();
  const member = ensemble.followers[0]!;
  const { session } = ensemble.open(member, 5);
  crowd(ensemble, member, 3);
  const by = { session, attachment: 5 };
  const ids = [
    ensemble.submit(member, create('/p/y'), by),
    ensemble.submit(member, page('/p', 'o'), by),
    ensemble.submit(member, list('/p'), by),
    ensemble.submit(member, create('/p/z'), by),
    ensemble.submit(member, page('/p', 'o'), by),
    ensemble.submit(member, page('/p', 'o'), { ...by, linearizable: true }),
    ensemble.submit(member, list('/p'), by),
  ];
  ensemble.run();
  expect(member.answered).not.toContain(ids[1]);
  ensemble.advance(2_000);
  expect(member.answered.slice(-ids.length)).toEqual(ids);
  const [, first, whole, , second, third, wholeAfter] = ids.map((id) => answerOf(member, id));
  expect([namesOf(first!), namesOf(second!), namesOf(third!)]).toEqual([['y'], ['y', 'z'], ['y', 'z']]);
  const count = 3 * MULTI_PARTS_MAX;
  expect(whole!.result.kind === 'getChildren' && whole!.result.children.length).toBe(count + 1);
  expect(wholeAfter!.result.kind === 'getChildren' && wholeAfter!.result.children.length).toBe(count + 2);
});

it('a list that its front cannot hand on is refused at once, without being made', () => {
  const ensemble = new TestEnsemble({ voters: 1 });
  const member = ensemble.leader;
  crowd(ensemble, member, 1);
  const id = ensemble.submit(member, list('/p'), { listBytesMax: 4 * MULTI_PARTS_MAX });
  ensemble.turn(member);
  const { result } = answerOf(member, id);
  expect(result).toMatchObject({ kind: 'error', code: 'INVALID_ARGUMENT', path: '/p' });
  expect(result.kind === 'error' && result.message).toContain(`${MULTI_PARTS_MAX} children`);
  expect(ensemble.call(member, list('/zookeeper'), { listBytesMax: 1 }).result).toMatchObject({ kind: 'error' });
  expect(ensemble.call(member, list('/zookeeper'), { listBytesMax: 15 }).result.kind).toBe('getChildren');
});

it('is a GAP after its member was started again', () => {
  const ensemble = new TestEnsemble({ voters: 1 });
  const member = ensemble.leader;
  for (const path of ['/p', '/p/a', '/p/b', '/p/c']) ensemble.call(member, create(path));
  const { result } = ensemble.call(member, page('/p', ''));
  const token = 'next' in result ? result.next : undefined;
  expect(namesOf(ensemble.call(member, { ...page('/p', ''), token }))).toEqual(['c']);
  const again = ensemble.call(member, page('/p', ''));
  ensemble.kill(member);
  ensemble.start(member);
  ensemble.advance(1_000);
  const late = 'next' in again.result ? again.result.next : undefined;
  expect(ensemble.call(member, { ...page('/p', ''), token: late }).result).toMatchObject({ code: 'GAP' });
});

it('is refused for a name that is none', () => {
  const ensemble = new TestEnsemble({ voters: 1 });
  const ask = (op: ListingOp) => ensemble.call(ensemble.leader, op).result;
  expect(ask(page('/', 'a/b'))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(ask(page('p', ''))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(ask(page('/', 'y'.repeat(70_000)))).toMatchObject({ code: 'INVALID_ARGUMENT' });
  expect(ask(page('/', 'y')).kind).toBe('listChildren');
});

it('is a GAP after a snapshot from the leader, and shows what it began with until then', () => {
  const ensemble = new TestEnsemble({ limits: { checkpointTxns: 10, historyBytesMax: 2_000 } });
  const [member] = ensemble.followers as [Member, Member];
  for (const path of ['/p', '/p/a', '/p/b', '/p/c', '/p/d', '/p/e', '/p/f']) ensemble.call(member, create(path));
  const subtree: ListingOp = { kind: 'getSubtree', path: '/p', depth: undefined, limit: 2, ...WISH };
  const next = ({ result }: Answer) => ('next' in result ? result.next : undefined);
  const first = ensemble.call(member, subtree);
  ensemble.isolate(member);
  const { leader } = ensemble;
  ensemble.call(leader, { kind: 'delete', path: '/p/b', expectedVersion: undefined });
  for (let number = 0; number < 60; number++) ensemble.call(leader, create(`/filler${number}`, 'x'.repeat(100)));
  const second = ensemble.call(member, { ...subtree, token: next(first) });
  expect([namesOf(first), namesOf(second)]).toEqual([
    ['/p', '/p/a'],
    ['/p/b', '/p/c'],
  ]);
  const sent = leader.sent.length;
  ensemble.heal();
  ensemble.advance(5_000);
  expect(leader.sent.slice(sent).some(({ message }) => message.kind === 'snapshot')).toBe(true);
  expect(ensemble.call(member, { ...subtree, token: next(second) }).result).toMatchObject({ code: 'GAP' });
  expect(namesOf(ensemble.call(member, { ...subtree, limit: 9 }))).not.toContain('/p/b');
});
