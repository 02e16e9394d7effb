/**
 * What a connection is taken for: its address, and what its credentials prove. Hashes are made here, so that the core sees ids
 * only and never a password. Source: ZooKeeper `DigestAuthenticationProvider`, reference §6.2.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { ACL_ID_BYTES_MAX, IDENTITIES_MAX, type Identity, utf8Length } from '@quorate/protocol';
import type { Credential } from '@quorate/protocol/frames';

/** A connection of `peer` (address:port, as sockets name it). Throws CredentialError. */
export function identitiesOf(
  peer: string,
  credentials: readonly Credential[],
  superDigest: string | undefined,
): readonly Identity[] {
  let identities: readonly Identity[] = [{ scheme: 'ip', id: addressOf(peer) }];
  for (const credential of credentials) identities = withMore(identities, proved(credential, superDigest));
  return identities;
}

/** All that a connection is taken for when it shows more. Throws CredentialError. */
export function withMore(known: readonly Identity[], shown: readonly Identity[]): readonly Identity[] {
  const isNew = ({ scheme, id }: Identity): boolean => !known.some((one) => one.scheme === scheme && one.id === id);
  const all = [...known, ...shown.filter(isNew)];
  if (all.length > IDENTITIES_MAX) throw new CredentialError(`A connection has at most ${IDENTITIES_MAX} identities`);
  return all;
}

/** Credentials that prove nothing. The message holds no secret. */
export class CredentialError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CredentialError';
  }
}

/** The id of scheme digest: the user, and the hash of user and password in Base64. */
export function digestId(userAndPassword: string): string {
  const colon = userAndPassword.indexOf(':');
  const user = colon < 0 ? userAndPassword : userAndPassword.slice(0, colon);
  return `${user}:${createHash('sha1').update(userAndPassword, 'utf8').digest('base64')}`;
}

function proved({ scheme, proof }: Credential, superDigest: string | undefined): readonly Identity[] {
  if (scheme !== 'digest')
    throw new CredentialError(`Credentials of scheme ${JSON.stringify(scheme)} are not taken here`);
  const text = new TextDecoder().decode(proof);
  if (text.indexOf(':') < 1) throw new CredentialError('Credentials of scheme digest are user:password');
  return digestIdentities(text, superDigest);
}

/**
 * What digest credentials prove: any text is somebody, and one may be the super user. Throws CredentialError for one that is longer than
 * anything in an ACL: it could match nothing, and would be kept as long as the connection.
 */
export function digestIdentities(userAndPassword: string, superDigest: string | undefined): readonly Identity[] {
  const id = digestId(userAndPassword);
  if (utf8Length(id) > ACL_ID_BYTES_MAX) {
    throw new CredentialError(`Credentials of scheme digest name a user of more than ${ACL_ID_BYTES_MAX} bytes`);
  }
  const own = { scheme: 'digest', id };
  return superDigest !== undefined && isSame(id, superDigest) ? [own, { scheme: 'super', id: '' }] : [own];
}

function isSame(a: string, b: string): boolean {
  const [one, two] = [Buffer.from(a), Buffer.from(b)];
  return one.length === two.length && timingSafeEqual(one, two);
}

/** `127.0.0.1:7`, `[::1]:7`; a v4 address in a v6 socket is the v4 address. */
function addressOf(peer: string): string {
  const address = peer.replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}
