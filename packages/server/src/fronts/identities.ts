/**
 * What a connection is taken for: its address, and what its credentials prove. Hashes are made here, so that the core sees ids
 * only and never a password. Source: ZooKeeper `DigestAuthenticationProvider`, reference §6.2.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { IDENTITIES_MAX, type Identity } from '@quorate/protocol';
import type { Credential } from '@quorate/protocol/frames';

/** A connection of `peer` (address:port, as sockets name it). Throws CredentialError. */
export function identitiesOf(
  peer: string,
  credentials: readonly Credential[],
  superDigest: string | undefined,
): readonly Identity[] {
  const identities: Identity[] = [{ scheme: 'ip', id: addressOf(peer) }];
  for (const credential of credentials) {
    for (const identity of proved(credential, superDigest)) {
      if (!identities.some(({ scheme, id }) => scheme === identity.scheme && id === identity.id))
        identities.push(identity);
    }
  }
  if (identities.length > IDENTITIES_MAX) {
    throw new CredentialError(`A connection has at most ${IDENTITIES_MAX} identities`);
  }
  return identities;
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

/** What digest credentials prove: any text is somebody, and one may be the super user. */
export function digestIdentities(userAndPassword: string, superDigest: string | undefined): readonly Identity[] {
  const id = digestId(userAndPassword);
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
