/** The command line in this process, against a member over real sockets: what it prints, where, and its exit code. */
import { connect } from '@quorate/client';
import { TinyEnsemble } from '@quorate/client/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protect, unprotect } from './invocation/arguments.ts';
import { main } from './main.ts';

let ensemble: TinyEnsemble;
let servers: string;

beforeAll(async () => {
  ensemble = await TinyEnsemble.start();
  servers = ensemble.servers.join(',');
});

afterAll(() => ensemble[Symbol.asyncDispose]());

interface Ended {
  readonly code: number | string | undefined;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Takes what is written to a stream until it is given back. */
function capture(stream: NodeJS.WriteStream): () => Buffer {
  const write = stream.write.bind(stream);
  const chunks: Buffer[] = [];
  stream.write = ((chunk: string | Uint8Array, done?: unknown) => {
    chunks.push(Buffer.from(chunk));
    if (typeof done === 'function') (done as () => void)();
    return true;
  }) as typeof stream.write;
  return () => {
    stream.write = write;
    return Buffer.concat(chunks);
  };
}

/** Runs a command as the process would. */
async function run(...args: readonly string[]): Promise<Ended> {
  const before = { ...process.env };
  Object.assign(process.env, { QUORATE_SERVERS: servers, QUORATE_TIMEOUT: '20s' });
  const giveBack = [capture(process.stdout), capture(process.stderr)] as const;
  try {
    await main(args);
    return { code: process.exitCode ?? 0, stdout: giveBack[0](), stderr: giveBack[1]().toString() };
  } finally {
    giveBack[0]();
    giveBack[1]();
    process.exitCode = undefined;
    process.env = before;
  }
}

/** Runs a command that must succeed; returns what it printed. */
async function good(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout.toString();
}

const json = async (...args: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await good(...args, '-o', 'json')) as Record<string, unknown>;

describe('C149: data commands', () => {
  it('create, get, set, list and delete', async () => {
    expect(await good('create', '/a', 'one')).toBe('/a\n');
    expect(await good('get', '/a')).toBe('one\n');
    expect(await good('set', '/a', 'two', '--version', '0')).toMatch(/^czxid = 0x[0-9a-f]+\n/);
    expect(await good('get', '/a', '-s')).toMatch(/^two\nczxid = .*\n(.*\n)*version = 1\n/);
    expect(await good('create', '/a/x/y', '-p')).toBe('/a/x/y\n');
    expect(await good('create', '/a/n-', '-s')).toBe('/a/n-0000000001\n');
    expect(await good('ls', '/a')).toBe('n-0000000001\nx\n');
    expect(await good('tree', '/a')).toBe('/a\n  n-0000000001\n  x\n    y\n');
    expect(await good('tree', '/a', '--depth', '0')).toBe('/a\n');
    expect(await json('tree', '/a', '--depth', '1')).toMatchObject({
      path: '/a',
      zxid: expect.stringMatching(/^0x[0-9a-f]+$/) as string,
      znodes: ['/a', '/a/n-0000000001', '/a/x'],
    });
    expect(await good('stat', '/a', '--linearizable')).toContain('numChildren = 2\n');
    expect(await good('delete', '/a/n-0000000001')).toBe('');
    expect(await good('delete', '/a/n-0000000001', '--if-exists')).toBe('');
    expect(await good('set', '/up', '1', '--create')).toContain('version = 0\n');
    expect(await good('sync')).toMatch(/^0x[0-9a-f]+\n$/);
  });

  it('tell null, empty and text apart', async () => {
    await good('create', '/null');
    await good('create', '/empty', '');
    expect(await json('get', '/null')).toMatchObject({ path: '/null', data: null });
    expect(await json('get', '/empty')).toMatchObject({ data: '' });
    expect([await good('get', '/null'), await good('get', '/empty')]).toEqual(['', '\n']);
  });

  it.each(['007', '1e3', '0x10', '-5', 'true', ' a  b ', '"', "'", 'ä€', 'a\nb', 'null'])(
    'take %j as data as it is',
    async (data) => {
      await good('set', '/as-is', data, '--create');
      expect(await json('get', '/as-is')).toMatchObject({ data });
    },
  );

  it('take names and data that look like flags after --', async () => {
    await good('set', '/flag', '--create', '--', '--version');
    expect(await json('get', '/flag')).toMatchObject({ data: '--version' });
    await good('create', '--', '/it\'s "a" näme 1', '-x');
    expect(await json('get', '/it\'s "a" näme 1')).toMatchObject({ path: '/it\'s "a" näme 1', data: '-x' });
  });

  it('print exact bytes raw, and refuse to print them as text', async () => {
    await using client = await connect(servers);
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
    await client.create('/bytes', bytes);
    expect(new Uint8Array((await run('get', '/bytes', '-o', 'raw')).stdout)).toEqual(bytes);
    expect(await json('get', '/bytes')).toMatchObject({ dataBase64: Buffer.from(bytes).toString('base64') });
    const asText = await run('get', '/bytes');
    expect({ ...asText, stdout: asText.stdout.length }).toMatchObject({ code: 2, stdout: 0 });
    expect(asText.stderr).toMatch(/^quorate: The data of \/bytes is not UTF-8 text[^\n]*\n$/);
  });

  it('take the shared flags before the command, too', async () => {
    await good('create', '/before', '1');
    expect(JSON.parse(await good('--servers', servers, '-o', 'json', 'get', '/before'))).toMatchObject({ data: '1' });
  });

  it('work below a chroot', async () => {
    const below = ['--servers', `${servers}/below`];
    await good('create', '/x', '1', '-p', ...below);
    expect(await good('ls', '/', ...below)).toBe('x\n');
    expect(await good('get', '/below/x')).toBe('1\n');
  });
});

describe('C149: a command that fails', () => {
  const cases: readonly [readonly string[], number, RegExp][] = [
    [['get', '/none'], 3, /NO_NODE/],
    [['stat', '/none'], 3, /NO_NODE/],
    [['create', '/none/x'], 3, /NO_NODE/],
    [['create', '/fail'], 4, /NODE_EXISTS/],
    [['set', '/fail', 'x', '--version', '9'], 4, /BAD_VERSION/],
    [['delete', '/fail'], 4, /NOT_EMPTY/],
    [['get', 'relative'], 2, /not a path/],
    [['get', '/a', '--servers', 'a b'], 2, /servers/],
    [
      ['get', '/a', '--servers', '127.0.0.1:1', '--timeout', '200ms'],
      5,
      /Cannot open a session at 127.0.0.1:1 within 200 ms/,
    ],
    [['status', '--servers', '127.0.0.1:1', '--timeout', '200ms'], 5, /Cannot ask 127.0.0.1:1/],
    [['get'], 2, /argument/],
    [['get', '/a', '/b'], 2, /./],
    [['get', '/a', '--nope'], 2, /nope/],
    [['get', '/a', '-o', 'xml'], 2, /xml/],
    [['ls', '-o', 'raw'], 2, /raw/],
    [['tree', '/', '--depth', 'deep'], 2, /depth/],
    [['tree', '/none'], 3, /NO_NODE/],
    [['get', '/a', '--timeout', '5'], 2, /--timeout is "5"/],
    [['set', '/a', '@/none'], 2, /\/none/],
    [['set', '/a', 'x', '--version', 'x'], 2, /--version/],
    [['set', '/a', 'x', '--version', '1', '--create'], 2, /exclude/],
    [['create', '/e', '-e'], 2, /ephemeral/],
    [['sessions', 'show'], 2, /needs a session/],
    [['quota', 'set', '/a'], 2, /needs a limit/],
    [['quota', 'get', '/a', '--count', '3'], 2, /takes no limit/],
    [['quota', 'set', '/a', '--count', '-3'], 2, /--count/],
    [['sessions', 'close', '/e'], 2, /not the id of a session/],
    [['sessions', 'list', '0x1'], 2, /takes no session/],
    [['create', '/e', '-c', '-s'], 2, /exclude each other/],
    [['create', '/e', '-c', '--ttl', '5s'], 2, /exclude each other/],
    [['create', '/e', '--ttl', '5 years'], 2, /--ttl is "5 years"/],
    [['frob'], 2, /frob/],
    [['-'], 2, /^quorate: [ -~]*\n$/],
    [[], 2, /--help/],
  ];

  it.each(cases)(
    'as %j exits with %i: one line on standard error, nothing on standard output',
    async (args, code, line) => {
      await run('create', '/fail/child', '-p');
      const ended = await run(...args);
      expect({ code: ended.code, stdout: ended.stdout.toString() }).toEqual({ code, stdout: '' });
      expect(ended.stderr).toMatch(/^quorate: [^\n]+\n$/);
      expect(ended.stderr).toMatch(line);
    },
  );

  it('exits with 7 when its time is over', async () => {
    ensemble.judge = (op) => (op.kind === 'getData' ? new Promise(() => {}) : 'answer');
    const ended = await run('get', '/', '--timeout', '1s');
    ensemble.judge = () => 'answer';
    expect(ended.code).toBe(7);
    expect(ended.stderr).toMatch(/^quorate: [^\n]+\(TIMEOUT\)\n$/);
  });

  it('says so when its write may have taken effect', async () => {
    ensemble.judge = (op) => (op.kind === 'setData' ? 'breakAfter' : 'answer');
    const ended = await run('set', '/a', 'x', '--timeout', '1s');
    ensemble.judge = () => 'answer';
    expect(ended.code).toBe(7);
    expect(ended.stderr).toMatch(/\(TIMEOUT; it may have taken effect\)\n$/);
  });
});

describe('C013: JSON', () => {
  it('shows session ids and zxids as exact hex strings', async () => {
    await using client = await connect(servers);
    await client.create('/held', '', { mode: 'ephemeral' });
    const { stat } = await json('stat', '/held');
    const hex = (value: bigint) => `0x${value.toString(16)}`;
    const { czxid, mzxid, ctimeMs } = (await client.get('/held')).stat;
    expect(czxid).toBeGreaterThan(2n ** 53n);
    expect(stat).toMatchObject({
      ephemeralOwner: hex(client.session.id),
      czxid: hex(czxid),
      mzxid: hex(mzxid),
      ctime: new Date(ctimeMs).toISOString(),
    });
    const before = await client.sync();
    // The session of the command is one txn.
    expect((await json('sync'))['zxid']).toBe(hex(before + 1n));
  });
});

describe('marked arguments', () => {
  it('come out as they went in', () => {
    expect(protect(['set', '/a', '-'])).toEqual(['set', '/a', '\0-']);
    expect(protect(['a', '--', '-x', '--', '-'])).toEqual(['a', '\0-x', '\0--', '\0-']);
    const flags = { one: '\0-', many: ['\0--', 'x', 3], other: true };
    unprotect(flags);
    expect(flags).toEqual({ one: '-', many: ['--', 'x', 3], other: true });
  });
});
