/** Bytes as a string of one character each, which V8 keeps in a byte each: the quickest way there without Node. */

/** Most bytes of one string. */
export const LATIN1_MAX = 512;

/** One list for each length that came, filled anew each time: at most half a megabyte in all. To read from an array of bytes takes V8 longer. */
const lists: (number[] | undefined)[] = [];

/** Bytes `start` up to `end` of `source`, LATIN1_MAX at most. */
export function readLatin1(source: Uint8Array, start: number, end: number): string {
  const length = end - start;
  const units = lists[length] ?? makeList(length);
  for (let i = 0; i < length; i++) units[i] = source[start + i] as number;
  return String.fromCharCode.apply(null, units);
}

function makeList(length: number): number[] {
  if (length > LATIN1_MAX) throw new RangeError(`Cannot make one string of ${length} bytes: at most ${LATIN1_MAX}`);
  while (lists.length <= length) lists.push(undefined);
  const list = Array.from({ length }, () => 0);
  lists[length] = list;
  return list;
}

/** True when they are ASCII. */
export function isAscii(source: Uint8Array, start: number, end: number): boolean {
  let all = 0;
  for (let i = start; i < end; i++) all |= source[i] as number;
  return all < 0x80;
}
