/** Majorities of voters. Pure arithmetic; a voter counts once, an observer never. */
import type { Sid } from '@quorate/protocol';

/** The smallest number of voters that is a quorum of `voters`. */
export function quorumSize(voters: readonly Sid[]): number {
  return Math.floor(voters.length / 2) + 1;
}

/** True when the voters for which `counts` holds are a quorum. */
export function isQuorum(voters: readonly Sid[], counts: (sid: Sid) => boolean): boolean {
  let number = 0;
  for (const sid of voters) if (counts(sid)) number++;
  return number >= quorumSize(voters);
}

/** The largest value that a quorum has reached, where `reached` gives the value that each voter has reached. */
export function reachedByQuorum<T extends bigint | number>(voters: readonly Sid[], reached: (sid: Sid) => T): T {
  const values = voters.map(reached);
  values.sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  return values[quorumSize(voters) - 1] as T;
}
