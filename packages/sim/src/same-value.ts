/** Equality of plain values, bytes and bigints among them. A field that is undefined is one that is absent. */

export function isSameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (a instanceof Uint8Array || b instanceof Uint8Array) return isSameBytes(a, b);
  const [left, right] = [a, b] as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  for (const key in left) if (!isSameValue(left[key], right[key])) return false;
  for (const key in right) if (right[key] !== undefined && left[key] === undefined) return false;
  return true;
}

function isSameBytes(a: object, b: object): boolean {
  if (!(a instanceof Uint8Array) || !(b instanceof Uint8Array) || a.length !== b.length) return false;
  return a.every((byte, index) => byte === b[index]);
}
