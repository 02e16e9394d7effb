import { describe, expect, it } from 'vitest';
import { FixtureEnsemble } from './ensemble.fixture.ts';

/** Established with leader 3 of three, or 5 of five. */
function established(voters: number[]): FixtureEnsemble {
  const ensemble = new FixtureEnsemble(voters, []);
  ensemble.start();
  ensemble.write('a');
  return ensemble;
}

/** Every order of some members. */
function orders(sids: readonly number[]): number[][] {
  if (sids.length < 2) return [[...sids]];
  return sids.flatMap((first) => orders(sids.filter((sid) => sid !== first)).map((rest) => [first, ...rest]));
}

describe('C043: an election after the loss of a leader', () => {
  it.each([
    [[1, 2, 3], 3],
    [[1, 2, 3, 4, 5], 5],
  ])('of %j needs no timer, in whatever order members notice it', (voters, leader) => {
    for (const order of orders(voters.filter((sid) => sid !== leader))) {
      const ensemble = established(voters);
      for (const sid of order) {
        ensemble.cut(leader, sid);
        ensemble.settle();
      }
      const leading = ensemble.member(order.find((sid) => ensemble.member(sid).current.kind === 'leading') ?? leader);
      expect([order, leading.current.kind, leading.sid === leader]).toEqual([order, 'leading', false]);
    }
  });
});
