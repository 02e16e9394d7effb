/** C084: odd options are refused at once and by name; every legal way to list members is read right. */
import { describe, expect, it } from 'vitest';
import { connect } from './connect.ts';
import { type ConnectOptions, checkConnectOptions, checkTimeout } from './options.ts';
import { formatServer, parseServers } from './servers.ts';

const shown = (servers: string | readonly string[]) => parseServers(servers).servers.map(formatServer);

describe('C084: a list of members', () => {
  it('is read with ports, without, with IPv6 literals, blanks and a trailing comma', () => {
    expect(shown('a:1,b:2')).toEqual(['a:1', 'b:2']);
    expect(shown('a')).toEqual(['a:2281']);
    expect(shown(' a:1 , [::1]:2181,')).toEqual(['a:1', '[::1]:2181']);
    expect(shown('[fe80::1%eth0]')).toEqual(['[fe80::1%eth0]:2281']);
    expect(shown(['zk-1.zk.svc:2281', '10.0.0.1:65535'])).toEqual(['zk-1.zk.svc:2281', '10.0.0.1:65535']);
  });

  it('may end with a chroot, with and without a slash at its end', () => {
    expect(checkConnectOptions('a:1,[::1]:2/app/x').chroot).toBe('/app/x');
    expect(checkConnectOptions('a:1/app/').chroot).toBe('/app');
    expect(checkConnectOptions('a:1/').chroot).toBe('');
    expect(checkConnectOptions(['a:1'], { chroot: '/app' }).chroot).toBe('/app');
    expect(checkConnectOptions('a:1').chroot).toBe('');
  });

  it.each([
    '',
    ' ',
    ',',
    '/app',
    'a b:1',
    '::1:2281',
    '[::1',
    'a:b',
    'a:0',
    'a:65536',
    'a:1:2',
    'http://a:1',
    'a:1/app//x',
  ])('is refused as %j, naming what is wrong', (servers) => {
    expect(() => connect(servers)).toThrow(/^(servers|chroot) /);
  });

  it('is refused when it is no string', () => {
    for (const servers of [undefined, null, 7, {}, [7], []]) {
      expect(() => connect(servers as unknown as string)).toThrow(TypeError);
    }
  });
});

describe('C084: options', () => {
  const odd: readonly unknown[] = [0, -1, Number.NaN, '10', 2 ** 31, 2 ** 53, 1.5, Number.POSITIVE_INFINITY, null];
  const cases = ['timeoutMs', 'sessionTimeoutMs'].flatMap((name) => odd.map((value) => [name, value] as const));

  it.each(cases)('%s %s is refused at once, by name', (name, value) => {
    expect(() => connect('a:1', { [name]: value } as ConnectOptions)).toThrow(new RegExp(`^${name} must be`));
  });

  it('of other kinds are refused at once, by name', () => {
    expect(() => connect('a:1', { retry: { baseMs: 0 } })).toThrow(/^retry.baseMs/);
    expect(() => connect('a:1', { retry: { baseMs: 10, maxMs: 5 } })).toThrow(/^retry.maxMs 5 is below/);
    expect(() => connect('a:1', { onSessionLost: 'x' as 'renew' })).toThrow(/^onSessionLost/);
    expect(() => connect('a:1', { signal: 1 as unknown as AbortSignal })).toThrow(/^signal/);
    expect(() => connect('a:1/a', { chroot: '/b' })).toThrow(/^chroot is given twice/);
    expect(() => connect('a:1', { chroot: 'b' })).toThrow(/^chroot "b" is not a path/);
    expect(() => connect('a:1', 7 as ConnectOptions)).toThrow(/^options/);
  });

  it('that are legal are taken as they are; the longest time never becomes a short one', () => {
    const options = checkConnectOptions('a:1', { sessionTimeoutMs: 2 ** 31 - 1, timeoutMs: 1 });
    expect(options).toMatchObject({ sessionTimeoutMs: 2 ** 31 - 1, connectTimeoutMs: 1, onSessionLost: 'renew' });
    expect(checkTimeout(2 ** 31 - 1)).toBe(600_000);
    expect(checkTimeout(undefined)).toBe(5_000);
  });
});
