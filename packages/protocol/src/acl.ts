/** Access control lists and what a connection may show for itself. Source: ZooKeeper `ACL`, `Id`, `ZooDefs.Perms`, reference §6. */

/** The rights, as bits. CREATE and DELETE are about children; ADMIN is about the list itself. */
export const PERMS = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const;

export interface AclEntry {
  /** Bits of PERMS, 32-bit; unknown ones are kept. */
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

/** Never empty. The order is kept, and has no meaning. */
export type Acl = readonly AclEntry[];

/** What a znode has that names none: everybody may do everything. */
export const OPEN_ACL: Acl = [{ perms: PERMS.ALL, scheme: 'world', id: 'anyone' }];

/** Something that a connection has proved, or simply has, such as its address. `super` needs no id and passes everywhere. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** Most entries of a list, and most bytes of a scheme or an id. Past it: INVALID_ACL. */
export const ACL_ENTRIES_MAX = 256;
export const ACL_ID_BYTES_MAX = 4_096;

/** Most identities of one connection. Past it: AUTH_FAILED. */
export const IDENTITIES_MAX = 32;
