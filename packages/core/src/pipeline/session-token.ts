/** Comparing a session's secret. Source: ZooKeeper's session password, reference §1.4. */

/** True when they are equal. Takes the same time wherever they differ. */
export function isSameToken(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
}
