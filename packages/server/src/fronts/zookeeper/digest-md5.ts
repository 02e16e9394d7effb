/**
 * The server's side of SASL DIGEST-MD5 with `auth` only, as ZooKeeper's clients speak it. Passwords come from the configuration, are
 * compared as digests and never logged. Source: RFC 2831, reference §3.4.21.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const REALM = 'zk-sasl-md5';

/** Longest response that is looked at, bytes; RFC 2831 allows 4096. */
const RESPONSE_BYTES_MAX = 4_096;

/** What came of a token: another one for the client, and who he is once he has shown it. */
export type SaslStep =
  | { readonly kind: 'challenge'; readonly token: Uint8Array }
  | { readonly kind: 'proved'; readonly token: Uint8Array; readonly user: string }
  | { readonly kind: 'failed' };

export class DigestMd5 {
  readonly #passwords: ReadonlyMap<string, string>;
  #nonce: string | undefined;

  /** `passwords` by user. */
  constructor(passwords: ReadonlyMap<string, string>) {
    this.#passwords = passwords;
  }

  take(token: Uint8Array): SaslStep {
    if (this.#nonce === undefined || token.length === 0) return this.#challenge();
    const nonce = this.#nonce;
    // Once only: whoever fails begins anew, and a response that was overheard opens nothing.
    this.#nonce = undefined;
    return this.#check(nonce, token);
  }

  #challenge(): SaslStep {
    this.#nonce = randomBytes(24).toString('base64');
    const text = `realm="${REALM}",nonce="${this.#nonce}",qop="auth",charset=utf-8,algorithm=md5-sess`;
    return { kind: 'challenge', token: Buffer.from(text) };
  }

  #check(nonce: string, token: Uint8Array): SaslStep {
    if (token.length > RESPONSE_BYTES_MAX) return { kind: 'failed' };
    const said = directivesOf(Buffer.from(token).toString('utf8'));
    const [user, cnonce, nc, uri, response] = ['username', 'cnonce', 'nc', 'digest-uri', 'response'].map((name) =>
      said.get(name),
    );
    const isWhole = user !== undefined && cnonce !== undefined && uri !== undefined && response !== undefined;
    if (!isWhole || nc !== '00000001' || said.get('nonce') !== nonce) return { kind: 'failed' };
    if ((said.get('qop') ?? 'auth') !== 'auth' || !uri.startsWith('zookeeper/')) return { kind: 'failed' };
    const password = this.#passwords.get(user);
    const realm = said.get('realm') ?? '';
    const authzid = said.get('authzid');
    const secret = md5(`${user}:${realm}:${password ?? ''}`);
    const a1 = Buffer.concat([secret, Buffer.from(`:${nonce}:${cnonce}${authzid === undefined ? '' : `:${authzid}`}`)]);
    const digest = (method: string): string =>
      hex(md5(`${hex(md5(a1))}:${nonce}:${nc}:${cnonce}:auth:${hex(md5(`${method}:${uri}`))}`));
    if (password === undefined || !isSame(digest('AUTHENTICATE'), response)) return { kind: 'failed' };
    return { kind: 'proved', token: Buffer.from(`rspauth=${digest('')}`), user: authzid ?? user };
  }
}

/** `name=value` or `name="value"`, with commas between. */
function directivesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(/([a-zA-Z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^,\s]*))/g)) {
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1');
    // What is said twice is not to be believed.
    found.set(name, found.has(name) ? '' : value);
  }
  return found;
}

function md5(text: string | Buffer): Buffer {
  return createHash('md5').update(text).digest();
}

function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

function isSame(expected: string, got: string): boolean {
  const [one, two] = [Buffer.from(expected), Buffer.from(got.toLowerCase())];
  return one.length === two.length && timingSafeEqual(one, two);
}
