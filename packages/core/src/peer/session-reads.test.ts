import { expect, it } from 'vitest';
import { TestEnsemble, TOKEN } from './ensemble.fixture.ts';
import { create } from './words.fixture.ts';

const EPHEMERAL = { mode: 'ephemeral' } as const;

it('ask for the ephemerals of their session with its token, and of nobody without one', () => {
  const ensemble = new TestEnsemble();
  const [first, second] = ensemble.followers;
  const { session } = ensemble.open(first!, 0);
  ensemble.call(first!, create('/a', '', EPHEMERAL), { session, token: TOKEN });
  const op = { kind: 'getEphemerals', path: '/' } as const;
  expect(ensemble.call(second!, op, { session, token: TOKEN }).result).toEqual({
    kind: 'getEphemerals',
    paths: ['/a'],
  });
  expect(ensemble.call(second!, op, { session }).result).toMatchObject({ code: 'SESSION_EXPIRED' });
  expect(ensemble.call(second!, op).result).toMatchObject({ code: 'INVALID_ARGUMENT' });
});
