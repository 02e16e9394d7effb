/** What must hold of an ensemble once its members are back: nothing acknowledged is missing, and all trees are equal. */
import { connect, memberStatus } from '@quorate/client';
import { until } from './ensemble-process.ts';

/** Waits until all members stand at one zxid, and returns their digests there; equal trees have one digest. */
export async function digestsAtOneZxid(addresses: readonly string[], withinMs = 60_000): Promise<Set<bigint>> {
  return until(
    'all members at one zxid',
    async () => {
      const states = await Promise.all(addresses.map((address) => memberStatus(address).catch(() => undefined)));
      const [first] = states;
      if (first === undefined) return undefined;
      if (!states.every((state) => state?.zxid === first.zxid)) return undefined;
      return new Set(states.map((state) => state?.digest ?? -1n));
    },
    withinMs,
  );
}

/** The acknowledged paths that each member does not have, member by member. All are children of `parent`. */
export async function missing(
  addresses: readonly string[],
  parent: string,
  acknowledged: readonly string[],
): Promise<Record<string, string[]>> {
  const lost: Record<string, string[]> = {};
  for (const address of addresses) {
    await using client = await connect(address);
    await client.sync();
    const there = new Set((await client.children(parent)).map((name) => `${parent}/${name}`));
    const gone = acknowledged.filter((path) => !there.has(path));
    if (gone.length > 0) lost[address] = gone;
  }
  return lost;
}

/** Minimum, median, 90th percentile and maximum, whole milliseconds. */
export function distribution(values: readonly number[]): string {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
  return `min ${at(0)}, median ${at(0.5)}, p90 ${at(0.9)}, max ${at(1)} ms over ${sorted.length}: ${sorted.map(Math.round).join(' ')}`;
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN;
}
