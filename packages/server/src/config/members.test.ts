/** The grammar of the ensemble list. */
import { describe, expect, it } from 'vitest';
import { parseHostPort } from './address.ts';
import { formatMembers, parseMembers } from './members.ts';

describe('the ensemble list', () => {
  it('reads voters, observers and client addresses, with commas, blanks or line ends between', () => {
    const text = '1=zk1:2381;zk1:2281, 2=[::1]:2382\n3=10.0.0.3:2383:observer;c3.example.org:99';
    expect(parseMembers(text)).toEqual([
      { sid: 1, peer: { host: 'zk1', port: 2381 }, observer: false, client: { host: 'zk1', port: 2281 } },
      { sid: 2, peer: { host: '::1', port: 2382 }, observer: false, client: undefined },
      { sid: 3, peer: { host: '10.0.0.3', port: 2383 }, observer: true, client: { host: 'c3.example.org', port: 99 } },
    ]);
  });

  it('reads the same from a YAML list of texts or of mappings', () => {
    const text = '1=zk1:2381;zk1:2281,2=zk2:2382:observer';
    const fromObjects = parseMembers([
      { sid: 1, peer: 'zk1:2381', client: 'zk1:2281' },
      { sid: 2, peer: 'zk2:2382', observer: true },
    ]);
    expect(parseMembers(text.split(','))).toEqual(parseMembers(text));
    expect(fromObjects).toEqual(parseMembers(text));
  });

  it('writes what it reads', () => {
    const text = '1=zk1:2381;zk1:2281,2=[::1]:2382:observer';
    const members = parseMembers(text);
    if ('fault' in members) throw new Error(members.fault);
    expect(formatMembers(members)).toBe(text);
  });

  it.each([
    ['1=zk1', '"zk1" of sid 1 is not host:port'],
    ['1=zk1:0', 'is not host:port'],
    ['1=zk1:65536', 'is not host:port'],
    ['1=1.2.3:80', 'is not host:port'],
    ['1=zk1:2381:obs', 'is not host:port'],
    ['1=::1:2381', 'is not host:port'],
    ['zk1:2381', '"zk1:2381" is not a member'],
    ['1=a:1;b:2;c:3', 'is not a member'],
    ['0=zk1:2381', 'sid 0 is not in 1..254'],
    ['255=zk1:2381', 'sid 255 is not in 1..254'],
    ['1=a:1,1=b:1', 'sid 1 occurs twice'],
    ['1=a:1,2=a:1', 'have the same address a:1'],
    ['1=a:1:observer', 'it has observers only'],
    [Array.from({ length: 33 }, (_, i) => `${i + 1}=a${i}:1`).join(','), 'it has 33 members'],
  ])('refuses %s', (text, why) => {
    const result = parseMembers(text);
    expect('fault' in result && result.fault).toContain(why);
  });

  it('suggests the field that an unknown one may have meant', () => {
    expect(parseMembers([{ sid: 1, peer: 'a:1', observers: true }])).toEqual({
      fault: 'a member has the unknown field "observers" (did you mean "observer"?)',
    });
  });
});

describe('host:port', () => {
  it('takes names with underscores, which container networks have', () => {
    expect(parseHostPort('my_service-1:80')).toEqual({ host: 'my_service-1', port: 80 });
  });

  it.each(['', ':80', 'a b:80', 'a:80:', '-a:80', '[zk]:80', 'a:', '999.1.1.1:80'])('refuses %j', (text) => {
    expect(parseHostPort(text)).toBeUndefined();
  });
});
