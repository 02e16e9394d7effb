/** The example of RFC 2831 is of another service; these are worked out by the same rules, apart from the code under test. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DigestMd5 } from './digest-md5.ts';

const USERS = new Map([['jaasuser', 'jaas_password']]);

const md5 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

function nonceOf(sasl: DigestMd5): string {
  const step = sasl.take(new Uint8Array(0));
  if (step.kind !== 'challenge') throw new Error('No challenge');
  const text = Buffer.from(step.token).toString();
  expect(text).toContain('realm="zk-sasl-md5"');
  expect(text).toContain('algorithm=md5-sess');
  return /nonce="([^"]+)"/.exec(text)?.[1] ?? '';
}

interface Said {
  readonly user?: string;
  readonly password?: string;
  readonly nc?: string;
  readonly nonce?: string;
  readonly uri?: string;
}

/** What a client says, and what it wants to hear. */
function response(nonce: string, said: Said = {}): { readonly token: Buffer; readonly expected: string } {
  const { user = 'jaasuser', password = 'jaas_password', nc = '00000001', uri = 'zookeeper/zk-sasl-md5' } = said;
  const named = said.nonce ?? nonce;
  const a1 = md5(md5(`${user}:zk-sasl-md5:${password}`), `:${named}:cnonce`).toString('hex');
  const of = (method: string): string =>
    md5(`${a1}:${named}:${nc}:cnonce:auth:${md5(`${method}:${uri}`).toString('hex')}`).toString('hex');
  const text = [
    `username="${user}"`,
    'realm="zk-sasl-md5"',
    `nonce="${named}"`,
    'cnonce="cnonce"',
    `nc=${nc}`,
    'qop=auth',
    `digest-uri="${uri}"`,
    `response=${of('AUTHENTICATE')}`,
    'charset=utf-8',
  ];
  return { token: Buffer.from(text.join(',')), expected: `rspauth=${of('')}` };
}

describe('DIGEST-MD5', () => {
  it('proves a user who knows the password, and shows that the member knows it too', () => {
    const sasl = new DigestMd5(USERS);
    const { token, expected } = response(nonceOf(sasl));
    const step = sasl.take(token);
    expect(step).toMatchObject({ kind: 'proved', user: 'jaasuser' });
    expect(step.kind === 'proved' && Buffer.from(step.token).toString()).toBe(expected);
  });

  it.each([
    ['another password', { password: 'other' }],
    ['a user that there is not', { user: 'nobody' }],
    ['a user that there is not, with an empty password', { user: 'nobody', password: '' }],
    ['a nonce of his own', { nonce: 'mine' }],
    ['another count', { nc: '00000002' }],
    ['another service', { uri: 'imap/zk-sasl-md5' }],
  ])('does not prove one with %s', (_what, said: Said) => {
    const sasl = new DigestMd5(USERS);
    expect(sasl.take(response(nonceOf(sasl), said).token)).toEqual({ kind: 'failed' });
  });

  it('takes a response once: one that was overheard opens nothing', () => {
    const sasl = new DigestMd5(USERS);
    const { token } = response(nonceOf(sasl));
    sasl.take(token);
    expect(sasl.take(token).kind).toBe('challenge');
    const other = new DigestMd5(USERS);
    nonceOf(other);
    expect(other.take(token)).toEqual({ kind: 'failed' });
  });

  it.each(['', 'nonsense', 'username="a"', `username="${'a'.repeat(5_000)}"`, 'username=,nonce=,,,='])(
    'fails on what is no response: %j',
    (text) => {
      const sasl = new DigestMd5(USERS);
      nonceOf(sasl);
      const kind = sasl.take(Buffer.from(text)).kind;
      expect(kind).toBe(text === '' ? 'challenge' : 'failed');
    },
  );

  it('does not believe what is said twice', () => {
    const sasl = new DigestMd5(USERS);
    const { token } = response(nonceOf(sasl));
    expect(sasl.take(Buffer.concat([token, Buffer.from(',username="super"')]))).toEqual({ kind: 'failed' });
  });
});
