/** The pause before the next attempt to connect: full jitter, so that many clients do not come at the same time. */

export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** A random part of min(maxMs, baseMs * 2^(failures-1)), ms. `failures` is at least 1; `random` gives [0, 1). */
export function backoffMs({ baseMs, maxMs }: Backoff, failures: number, random: () => number): number {
  return Math.floor(random() * Math.min(maxMs, baseMs * 2 ** Math.min(failures - 1, 30)));
}

/** A random order of `items` (Fisher–Yates). */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const item = order[last] as T;
    order[last] = order[other] as T;
    order[other] = item;
  }
  return order;
}
