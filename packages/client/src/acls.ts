/** ACLs between the letters that people write and the bits of the protocol. */
import { OPEN_ACL, PERMS, type Acl as ProtocolAcl } from '@quorate/protocol';
import type { Acl, AclEntry } from './api.ts';

/** In the order in which ZooKeeper's tools write them. */
const LETTERS = [
  ['c', PERMS.CREATE],
  ['d', PERMS.DELETE],
  ['r', PERMS.READ],
  ['w', PERMS.WRITE],
  ['a', PERMS.ADMIN],
] as const;

/** Undefined for the open list. Throws TypeError. */
export function toProtocolAcl(acl: Acl | undefined): ProtocolAcl | undefined {
  switch (acl) {
    case undefined:
    case 'open':
      return undefined;
    case 'read':
      return [{ perms: PERMS.READ, scheme: 'world', id: 'anyone' }];
    case 'creator':
      return [{ perms: PERMS.ALL, scheme: 'auth', id: '' }];
    default:
      if (!Array.isArray(acl) || acl.length === 0) {
        throw new TypeError("acl must be 'open', 'read', 'creator' or a list of { scheme, id, perms }");
      }
      return acl.map(toEntry);
  }
}

/** The same, with the open list said. */
export function toWholeAcl(acl: Acl): ProtocolAcl {
  return toProtocolAcl(acl) ?? OPEN_ACL;
}

export function fromProtocolAcl(acl: ProtocolAcl): readonly AclEntry[] {
  return acl.map(({ perms, scheme, id }) => {
    const letters = LETTERS.filter(([, bit]) => (perms & bit) !== 0).map(([letter]) => letter);
    return { scheme, id, perms: letters.join('') };
  });
}

function toEntry(entry: unknown): ProtocolAcl[number] {
  const { scheme, id, perms } = (entry ?? {}) as { readonly [key in keyof AclEntry]?: unknown };
  if (typeof scheme !== 'string' || typeof id !== 'string' || typeof perms !== 'string') {
    throw new TypeError('an entry of an acl must be { scheme, id, perms }, all of them strings');
  }
  let bits = 0;
  for (const letter of perms) {
    const bit = LETTERS.find(([one]) => one === letter)?.[1];
    if (bit === undefined) throw new TypeError(`perms must be letters of cdrwa, not ${JSON.stringify(perms)}`);
    bits |= bit;
  }
  return { perms: bits, scheme, id };
}
