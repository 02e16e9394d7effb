/** The parts of data commands: settings, exit codes, input, and how values are shown. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoordinationError, type ErrorCode, type Stat, type Znode } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { expectedVersion } from './expected-version.ts';
import { exitCodeOf, Interrupted, UsageError } from './failure.ts';
import { DATA_BYTES_MAX, readData } from './input.ts';
import { dataFields, hex, isoTime, statFields, statText } from './render.ts';
import { parseDuration, SERVERS_DEFAULT, settle } from './settings.ts';

const flags = { servers: undefined, timeout: undefined, output: 'text' };

describe('settings', () => {
  it('are taken from the flag, else the environment, else the default', () => {
    expect(settle(flags, {})).toEqual({ servers: SERVERS_DEFAULT, timeoutMs: 5_000, output: 'text' });
    const environment = { QUORATE_SERVERS: 'a:1', QUORATE_TIMEOUT: '2s' };
    expect(settle(flags, environment)).toMatchObject({ servers: 'a:1', timeoutMs: 2_000 });
    const both = settle({ servers: 'b:2', timeout: '1m', output: 'json' }, environment);
    expect(both).toEqual({ servers: 'b:2', timeoutMs: 60_000, output: 'json' });
    expect(settle(flags, { QUORATE_SERVERS: '' }).servers).toBe(SERVERS_DEFAULT);
  });

  it('with a time that is none are refused, naming where it came from', () => {
    for (const text of ['5', '-1s', '0s', 's', '5 s', '1e3s', '30d', '600h', 'NaN', '']) {
      expect(() => parseDuration(text, '--timeout')).toThrow(UsageError);
    }
    expect(() => settle(flags, { QUORATE_TIMEOUT: 'soon' })).toThrow(/^QUORATE_TIMEOUT is "soon"/);
    expect([parseDuration('500ms', ''), parseDuration('1.5s', ''), parseDuration('1h', '')]).toEqual([
      500, 1_500, 3_600_000,
    ]);
  });
});

describe('C149: exit codes', () => {
  it('tell kinds of failure apart, and none of them is 0', () => {
    const codes: Readonly<Record<ErrorCode, number>> = {
      NO_NODE: 3,
      NODE_EXISTS: 4,
      BAD_VERSION: 4,
      NOT_EMPTY: 4,
      NO_CHILDREN_FOR_EPHEMERALS: 4,
      INVALID_ARGUMENT: 2,
      UNIMPLEMENTED: 1,
      SESSION_EXPIRED: 5,
      SESSION_MOVED: 5,
      UNAVAILABLE: 5,
      SERVER_BEHIND: 5,
      CONNECTION_LOST: 5,
      GUARD_FAILED: 4,
      INVALID_ACL: 2,
      AUTH_FAILED: 6,
      THROTTLED: 1,
      QUOTA_EXCEEDED: 4,
      NO_AUTH: 6,
      TIMEOUT: 7,
      ABORTED: 1,
      CLOSED: 1,
      INTERNAL: 1,
      OUT_OF_ORDER: 1,
      GAP: 1,
      NO_WATCHER: 1,
    };
    for (const [code, expected] of Object.entries(codes)) {
      expect(exitCodeOf(new CoordinationError(code as ErrorCode, 'm'))).toBe(expected);
    }
    expect(exitCodeOf(new UsageError('m'))).toBe(2);
    expect(exitCodeOf(new TypeError('m'))).toBe(2);
    expect(exitCodeOf(new Interrupted(130))).toBe(130);
    expect(exitCodeOf(new Error('m'))).toBe(1);
    expect(exitCodeOf('m')).toBe(1);
  });
});

describe('C149: data', () => {
  const folder = () => mkdtempSync(join(tmpdir(), 'quorate-cli-'));

  it('is text as it is, or the bytes of a file', () => {
    expect(new TextDecoder().decode(readData('é "x"'))).toBe('é "x"');
    expect(readData('').length).toBe(0);
    const directory = folder();
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
    writeFileSync(join(directory, 'all bytes'), bytes);
    expect(readData(`@${join(directory, 'all bytes')}`)).toEqual(bytes);
    writeFileSync(join(directory, 'empty'), '');
    expect(readData(`@${join(directory, 'empty')}`).length).toBe(0);
    rmSync(directory, { recursive: true });
  });

  it('of a file that is missing, a folder, or too large is refused with its name', () => {
    const directory = folder();
    expect(() => readData(`@${directory}/none`)).toThrow(/Cannot read .*none/);
    expect(() => readData(`@${directory}`)).toThrow(UsageError);
    writeFileSync(join(directory, 'most'), new Uint8Array(DATA_BYTES_MAX));
    expect(readData(`@${join(directory, 'most')}`).length).toBe(DATA_BYTES_MAX);
    writeFileSync(join(directory, 'giant'), new Uint8Array(10_000_000));
    expect(() => readData(`@${join(directory, 'giant')}`)).toThrow(/giant holds more than/);
    rmSync(directory, { recursive: true });
  });

  it('is a JSON string when it is UTF-8, else base64; null is null', () => {
    const znode = (data: Uint8Array, isNull = false): Znode => ({
      path: '/a',
      data,
      isNull,
      stat: {} as Stat,
      text: () => new TextDecoder('utf-8', { fatal: true }).decode(data),
      json: () => undefined as never,
    });
    expect(dataFields(znode(new TextEncoder().encode('é\n')))).toEqual({ data: 'é\n' });
    expect(dataFields(znode(new Uint8Array([0, 255])))).toEqual({ dataBase64: 'AP8=' });
    expect(dataFields(znode(new Uint8Array(0)))).toEqual({ data: '' });
    expect(dataFields(znode(new Uint8Array(0), true))).toEqual({ data: null });
  });
});

describe('C013: 64-bit values', () => {
  const stat: Stat = {
    czxid: 0x0030_0000_0000_0001n,
    mzxid: 9_007_199_254_740_993n,
    pzxid: 9_007_199_254_740_992n,
    ctimeMs: 1_700_000_000_000,
    mtimeMs: 9_007_199_254_740_991,
    version: -1,
    cversion: 0,
    aversion: 0,
    ephemeralOwner: 0xff00_0000_0000_0003n,
    dataLength: 0,
    numChildren: 0,
  };

  it('are shown exactly, unsigned and in hex', () => {
    expect(hex(-1n)).toBe('0xffffffffffffffff');
    expect(hex(0x7f00_0000_0000_0001n)).toBe('0x7f00000000000001');
    expect(statFields(stat)).toMatchObject({
      czxid: '0x30000000000001',
      mzxid: '0x20000000000001',
      pzxid: '0x20000000000000',
      ephemeralOwner: '0xff00000000000003',
      ctime: '2023-11-14T22:13:20.000Z',
      mtime: '9007199254740991',
      version: -1,
    });
    expect(statText(stat).split('\n')[1]).toBe('mzxid = 0x20000000000001');
    expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('an expected version', () => {
  it('is a 32-bit integer', () => {
    expect([
      expectedVersion(undefined),
      expectedVersion('0'),
      expectedVersion('-1'),
      expectedVersion('2147483647'),
    ]).toEqual([undefined, 0, -1, 2_147_483_647]);
    for (const text of ['', 'x', '1.5', '2147483648', '1e3', '0x1']) {
      expect(() => expectedVersion(text)).toThrow(UsageError);
    }
  });
});
