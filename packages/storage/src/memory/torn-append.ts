/** What a loss of power in the middle of an append may leave of it, at worst. */
import type { KvOp } from '../io.ts';
import { LOG_RANGE } from '../record-codec.ts';

/**
 * The first entry of an append, cut short after `fraction` of its bytes; undefined for every other write, which is there as
 * a whole or not at all.
 */
export function tornAppend(ops: readonly KvOp[], fraction: number): readonly KvOp[] | undefined {
  const puts = ops.filter(({ value }) => value !== undefined);
  const [first] = puts;
  if (first?.value === undefined || !puts.every(({ key }) => key[0] === LOG_RANGE.from[0])) return undefined;
  return [{ key: first.key, value: first.value.subarray(0, Math.floor(first.value.length * fraction)) }];
}
