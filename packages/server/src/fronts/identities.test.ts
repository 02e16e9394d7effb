import { describe, expect, it } from 'vitest';
import { CredentialError, digestId, identitiesOf, withMore } from './identities.ts';

const digest = (text: string) => ({ scheme: 'digest', proof: new TextEncoder().encode(text) });

describe('what a connection is taken for', () => {
  it('has the hashes of ZooKeeper', () => {
    expect(digestId('super:admin')).toBe('super:xQJmxLMiHGwaqBvst5y6rkB6HQs=');
    expect(digestId('user:password')).toBe('user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY=');
    expect(digestId('alice:secret')).toBe('alice:aYXlLOpEooaV1cRAvUL1fp9Qt7E=');
  });

  it('is its address, v4 also in a v6 socket, and each thing that it proves, once', () => {
    for (const [peer, id] of [
      ['127.0.0.1:77', '127.0.0.1'],
      ['[::1]:77', '::1'],
      ['::ffff:10.0.0.7:77', '10.0.0.7'],
      ['[::ffff:10.0.0.7]:77', '10.0.0.7'],
    ] as const) {
      expect(identitiesOf(peer, [], undefined)).toEqual([{ scheme: 'ip', id }]);
    }
    const twice = [digest('alice:secret'), digest('alice:secret'), digest('user:password')];
    expect(identitiesOf('1.2.3.4:5', twice, undefined).map(({ scheme }) => scheme)).toEqual(['ip', 'digest', 'digest']);
  });

  it('is super too with the proof that the configuration names, and with no other', () => {
    const wanted = digestId('super:admin');
    const schemes = (text: string, of: string | undefined) =>
      identitiesOf('1.2.3.4:5', [digest(text)], of).map(({ scheme }) => scheme);
    expect(schemes('super:admin', wanted)).toEqual(['ip', 'digest', 'super']);
    expect(schemes('super:admim', wanted)).toEqual(['ip', 'digest']);
    expect(schemes('super:admin', undefined)).toEqual(['ip', 'digest']);
  });

  it('C171, C134: credentials that prove nothing are refused, and are not repeated in the reason', () => {
    const refused = (scheme: string, text: string) => () =>
      identitiesOf('1.2.3.4:5', [{ scheme, proof: new TextEncoder().encode(text) }], undefined);
    for (const scheme of ['kerberos', 'x509', 'ip', 'super', '']) {
      expect(refused(scheme, 'hush:hush')).toThrow(CredentialError);
      expect(refused(scheme, 'hush:hush')).not.toThrow('hush');
    }
    expect(refused('digest', 'hush')).toThrow(CredentialError);
    expect(refused('digest', ':hush')).not.toThrow('hush');
  });

  it('grows by what is shown later, each once, and has an end in number and in length', () => {
    const known = identitiesOf('1.2.3.4:5', [digest('alice:secret')], undefined);
    const more = withMore(known, identitiesOf('1.2.3.4:5', [digest('bob:secret')], undefined));
    expect(more.map(({ id }) => id.replace(/:.*/, ''))).toEqual(['1.2.3.4', 'alice', 'bob']);
    expect(withMore(more, known)).toEqual(more);
    const full = Array.from({ length: 31 }, (_, index) => digest(`user${index}:x`));
    const all = identitiesOf('1.2.3.4:5', full, undefined);
    expect(all.length).toBe(32);
    expect(() => withMore(all, [{ scheme: 'digest', id: 'one:more' }])).toThrow('at most 32');
    expect(() => identitiesOf('1.2.3.4:5', [digest(`${'u'.repeat(4_100)}:x`)], undefined)).toThrow(CredentialError);
  });
});
