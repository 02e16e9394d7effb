/**
 * Who may do what: a list against the identities of the connection that a request came by, at the time it came. There is no
 * inheritance and no right of way: each znode's own list counts, and for create and delete its parent's. Source: reference §6.
 */
import {
  ACL_ENTRIES_MAX,
  ACL_ID_BYTES_MAX,
  type Acl,
  type AclEntry,
  type Identity,
  utf8Length,
} from '@quorate/protocol';
import { isInRange, isRange } from './ip-range.ts';
import { type Refusal, refusal } from './refusal.ts';

/** What a right is asked of. */
interface Guarded {
  /** Undefined: open to everybody. */
  readonly acl: Acl | undefined;
}

/** Schemes whose identities were proved, and not only observed: what `auth` stands for. */
const PROVED: ReadonlySet<string> = new Set(['digest', 'sasl', 'x509']);

/** True when the identities hold one of the rights in `perms`. */
export function mayAccess({ acl }: Guarded, perms: number, identities: readonly Identity[]): boolean {
  if (acl === undefined || identities.some(({ scheme }) => scheme === 'super')) return true;
  return acl.some((entry) => (entry.perms & perms) !== 0 && isMeant(entry, identities));
}

function isMeant({ scheme, id }: AclEntry, identities: readonly Identity[]): boolean {
  if (scheme === 'world') return id === 'anyone';
  if (scheme === 'ip') return identities.some((own) => own.scheme === 'ip' && isInRange(own.id, id));
  return identities.some((own) => own.scheme === scheme && own.id === id);
}

/**
 * The list as it is stored: without exact duplicates, and with everything that the connection has proved in the place of `auth`.
 * An INVALID_ACL for one that is empty, or has an entry that nobody can ever match.
 */
export function storedAcl(path: string, acl: Acl, identities: readonly Identity[]): Acl | Refusal {
  const invalid = (why: string): Refusal => refusal('INVALID_ACL', `The ACL of ${path} is not legal: ${why}`, path);
  const stored: AclEntry[] = [];
  for (const entry of withoutDuplicates(acl)) {
    if (entry.scheme !== 'auth') {
      const fault = entryFault(entry);
      if (fault !== undefined) return invalid(fault);
      stored.push(entry);
      continue;
    }
    const proved = identities.filter(({ scheme }) => PROVED.has(scheme));
    if (proved.length === 0) return invalid('auth stands for what the connection has proved, which is nothing');
    for (const { scheme, id } of proved) stored.push({ perms: entry.perms, scheme, id });
  }
  if (stored.length === 0) return invalid('it is empty');
  return stored.length <= ACL_ENTRIES_MAX ? stored : invalid(`it has more than ${ACL_ENTRIES_MAX} entries`);
}

/** `getACL` for those who may not change it: whose password is asked for can be seen, its hash not (case C115). */
export function maskedAcl(acl: Acl): Acl {
  return acl.map((entry) => {
    const colon = entry.id.indexOf(':');
    return entry.scheme === 'digest' && colon >= 0 ? { ...entry, id: `${entry.id.slice(0, colon)}:x` } : entry;
  });
}

function withoutDuplicates(acl: Acl): Acl {
  return acl.filter(({ perms, scheme, id }, at) => {
    return acl.findIndex((one) => one.perms === perms && one.scheme === scheme && one.id === id) === at;
  });
}

function entryFault({ scheme, id }: AclEntry): string | undefined {
  if (id.length > ACL_ID_BYTES_MAX || utf8Length(id) > ACL_ID_BYTES_MAX) {
    return `an id has more than ${ACL_ID_BYTES_MAX} bytes`;
  }
  switch (scheme) {
    case 'world':
      return id === 'anyone' ? undefined : `scheme world knows the id anyone only`;
    case 'digest':
      // Two parts, none of them empty; the hash is not shown.
      return /^[^:]+:[^:]+$/.test(id) ? undefined : 'an id of scheme digest is user:hash';
    case 'ip':
      return isRange(id) ? undefined : `${JSON.stringify(id)} is no address, and no address/bits`;
    case 'x509':
    case 'sasl':
      return id === '' ? `scheme ${scheme} needs an id` : undefined;
    default:
      return `scheme ${JSON.stringify(scheme)} is not known`;
  }
}
