/** The model's ACLs, for a caller who has proved nothing: only what the world may do counts. Reference §6. */
import { type Acl, OPEN_ACL } from '@quorate/protocol';
import { type ModelOp, type ModelZnode, requirePath, requireVersion } from './reference.ts';
import { ModelRefusal } from './refused.ts';

export const RIGHTS = { read: 1, write: 2, create: 4, delete: 8, admin: 16 } as const;

/** Refuses with NO_AUTH that names `path`. */
export function requireRight({ acl }: ModelZnode, rights: number, path: string): void {
  const world = acl.filter(({ scheme, id }) => scheme === 'world' && id === 'anyone');
  if (!world.some(({ perms }) => (perms & rights) !== 0)) throw new ModelRefusal('NO_AUTH', path);
}

/** As it is stored. Here every scheme but world and ip is one that cannot be, or stands for what was not proved. */
export function storedModelAcl(acl: Acl | undefined, path: string): Acl {
  if (acl === undefined) return OPEN_ACL;
  const stored: Acl[number][] = [];
  for (const entry of acl) {
    const isKnown = (entry.scheme === 'world' && entry.id === 'anyone') || entry.scheme === 'ip';
    if (!isKnown) throw new ModelRefusal('INVALID_ACL', path);
    if (!stored.some((one) => JSON.stringify(one) === JSON.stringify(entry))) stored.push(entry);
  }
  if (stored.length === 0) throw new ModelRefusal('INVALID_ACL', path);
  return stored;
}

export const setAcl: ModelOp<'setAcl'> = (model, { path, acl, expectedVersion }, { zxid }) => {
  requirePath(path);
  const stored = storedModelAcl(acl, path);
  const znode = model.existing(path);
  requireRight(znode, RIGHTS.admin, path);
  requireVersion(path, { version: znode.aversion }, expectedVersion);
  znode.acl = stored;
  znode.aversion += 1;
  model.changes.push({ kind: 'aclChanged', path, zxid });
  return { kind: 'setAcl', stat: model.stat(path) };
};

export const getAcl: ModelOp<'getAcl'> = (model, { path }) => {
  requirePath(path);
  const znode = model.existing(path);
  requireRight(znode, RIGHTS.read | RIGHTS.admin, path);
  return { kind: 'getAcl', acl: znode.acl, stat: model.stat(path) };
};
