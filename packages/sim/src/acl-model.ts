/** Access control lists as the slow tree understands them. Reference §6; addresses are v4 here. */
import type { Acl, AclEntry, Identity } from '@quorate/protocol';

/** True when one of the identities holds one of the rights in `perms`. */
export function isAllowed(acl: Acl | undefined, perms: number, identities: readonly Identity[]): boolean {
  if (acl === undefined) return true;
  for (const { scheme } of identities) if (scheme === 'super') return true;
  for (const entry of acl) if ((entry.perms & perms) !== 0 && isFor(entry, identities)) return true;
  return false;
}

function isFor({ scheme, id }: AclEntry, identities: readonly Identity[]): boolean {
  if (scheme === 'world') return true;
  return identities.some((own) => own.scheme === scheme && (scheme === 'ip' ? isWithin(own.id, id) : own.id === id));
}

/** `address` begins with the bits of the range. */
function isWithin(address: string, range: string): boolean {
  const [base = '', length = '32'] = range.split('/');
  return bitsOf(address).startsWith(bitsOf(base).slice(0, Number(length)));
}

function bitsOf(address: string): string {
  return address
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('');
}

/** The list as it is kept; undefined when it is none that can be kept. Only schemes that the workload uses. */
export function keptAcl(acl: Acl, identities: readonly Identity[]): Acl | undefined {
  const kept: AclEntry[] = [];
  const seen = new Set<string>();
  for (const entry of acl) {
    const text = `${entry.perms} ${entry.scheme} ${entry.id}`;
    if (seen.has(text)) continue;
    seen.add(text);
    if (entry.scheme === 'auth') {
      const proved = identities.filter(({ scheme }) => scheme === 'digest' || scheme === 'x509');
      if (proved.length === 0) return undefined;
      for (const { scheme, id } of proved) kept.push({ perms: entry.perms, scheme, id });
    } else if (entry.scheme === 'digest' && !entry.id.includes(':')) return undefined;
    else kept.push(entry);
  }
  return kept.length === 0 ? undefined : kept;
}

/** What those see of it that may not change it. */
export function masked(acl: Acl): Acl {
  return acl.map((entry) => (entry.scheme === 'digest' ? { ...entry, id: `${entry.id.split(':')[0]}:x` } : entry));
}
