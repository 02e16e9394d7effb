/** Addresses and ranges of them in ACLs: v4 and v6, alone or with a number of leading bits. Families never match each other. */

interface Address {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** True for `address` or `address/bits`. */
export function isRange(text: string): boolean {
  return parseRange(text) !== undefined;
}

/** True when `address` is in `range`. A v4 address that comes in a v6 socket is a v4 address. */
export function isInRange(address: string, range: string): boolean {
  const own = parseAddress(address);
  const wanted = parseRange(range);
  if (own === undefined || wanted === undefined || own.bits !== wanted.address.bits) return false;
  const shift = BigInt(own.bits - wanted.leading);
  return own.value >> shift === wanted.address.value >> shift;
}

function parseRange(text: string): { readonly address: Address; readonly leading: number } | undefined {
  const [base = '', bits, ...rest] = text.split('/');
  const address = parseAddress(base);
  if (address === undefined || rest.length > 0) return undefined;
  if (bits === undefined) return { address, leading: address.bits };
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > address.bits) return undefined;
  return { address, leading: Number(bits) };
}

function parseAddress(text: string): Address | undefined {
  const v4 = parseV4(text);
  if (v4 !== undefined) return { bits: 32, value: BigInt(v4) };
  const mapped = /^::ffff:([\d.]+)$/i.exec(text)?.[1];
  const inside = mapped === undefined ? undefined : parseV4(mapped);
  if (inside !== undefined) return { bits: 32, value: BigInt(inside) };
  const value = parseV6(text);
  return value === undefined ? undefined : { bits: 128, value };
}

function parseV4(text: string): number | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

function parseV6(text: string): bigint | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const [front, back] = halves.map(groupsOf);
  if (front === undefined || (halves.length === 2 && back === undefined)) return undefined;
  const missing = 8 - front.length - (back?.length ?? 0);
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...front, ...Array<number>(missing).fill(0), ...(back ?? [])];
  return groups.reduce((sum, group) => (sum << 16n) | BigInt(group), 0n);
}

/** The groups of one half, the last of which may be written as a v4 address. */
function groupsOf(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [at, part] of parts.entries()) {
    const v4 = at === parts.length - 1 ? parseV4(part) : undefined;
    if (v4 !== undefined) groups.push(Math.floor(v4 / 65_536), v4 % 65_536);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}
