/**
 * What a parent with very many children costs: a create and a delete under it against a small one, before and while it is listed;
 * how long listing it takes; and how long the member's event loop is held meanwhile. A member alone, so that what is
 * measured is its own. Not a test: a person compares.
 * Usage, after a build: node test/bench/listing.mjs [--children 1000000] [--size 10] [--writes 4000]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from '@quorate/client';
import { writeLargeState } from './large-state.mjs';

const { values: flags } = parseArgs({
  options: {
    children: { type: 'string', default: '1000000' },
    size: { type: 'string', default: '10' },
    writes: { type: 'string', default: '4000' },
    'base-port': { type: 'string', default: '26800' },
  },
});
const [children, size, writes, port] = [flags.children, flags.size, flags.writes, flags['base-port']].map(Number);
const clusterId = 'listing';
const bin = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const probe = new URL('./pauses-probe.mjs', import.meta.url).href;
const directory = mkdtempSync(join(tmpdir(), 'quorate-listing-'));
const LARGE = '/p0';
const PATIENCE = { timeoutMs: 120_000 };
const rows = [];
let child;

function end(code) {
  child?.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
  process.exit(code);
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(1));

async function start() {
  const where = ['--sid', '1', '--data-dir', directory, '--cluster-id', clusterId, '--bind', '127.0.0.1'];
  const ports = ['--zookeeper-port', '0', '--grpc-port', String(port), '--admin-port', String(port + 1)];
  const args = ['--import', probe, bin, 'serve', ...where, ...ports, '--log-level', 'warn'];
  child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port + 1}/readyz`).catch(() => undefined);
    if (ready?.ok) return;
    if (child.exitCode !== null) throw new Error(`The member ended with ${child.exitCode}`);
    await delay(50);
  }
}

/** Does it, and notes how long it took and how long the loop was held. */
async function measure(what, work) {
  child.send('reset');
  await delay(50);
  const begun = performance.now();
  const found = await work();
  const tookMs = performance.now() - begun;
  // `serve` has words of its own for whoever has started it.
  const answer = new Promise((resolve) => {
    child.on('message', (message) => message.longest !== undefined && resolve(message));
  });
  child.send('read');
  const { longest, over20, busy } = await answer;
  rows.push({ what, s: (tookMs / 1000).toFixed(2), found, 'held ms': longest, '> 20 ms': over20, 'busy ms': busy });
}

/** Creates and deletes, 100 in flight: µs of the main thread are what the busy time says. */
async function change(client, parent) {
  const each = async (at) => {
    for (let i = at; i < writes; i += 100) {
      await client.create(`${parent}/w${i}`, 'x', PATIENCE);
      await client.delete(`${parent}/w${i}`, PATIENCE);
    }
  };
  await Promise.all(Array.from({ length: 100 }, (_, at) => each(at)));
  return 2 * writes;
}

async function countOf(listing) {
  let count = 0;
  for await (const _ of listing) count++;
  return count;
}

/** Reads of one znode, one after another, while the other goes on: the longest of them. */
async function beside(client, work) {
  let isOver = false;
  let longestMs = 0;
  const pings = (async () => {
    while (!isOver) {
      const begun = performance.now();
      await client.get('/small', PATIENCE);
      longestMs = Math.max(longestMs, performance.now() - begun);
    }
  })();
  const found = await work();
  isOver = true;
  await pings;
  return `${found}, longest get ${longestMs.toFixed(0)} ms`;
}

try {
  const load = loadavg()
    .map((n) => n.toFixed(1))
    .join();
  console.log(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, load ${load}, ${children} children`);
  await writeLargeState([{ sid: 1, directory }], { clusterId, count: children, parents: 1, bytes: size });
  await start();
  const client = await connect(`127.0.0.1:${port}`, PATIENCE);
  const other = await connect(`127.0.0.1:${port}`, PATIENCE);
  await client.create('/small', 'x', PATIENCE);
  await change(client, '/small');
  await measure(`${writes} creates and deletes, small parent`, () => change(client, '/small'));
  await measure('the same, large parent', () => change(client, LARGE));
  const whole = () =>
    client.children(LARGE, PATIENCE).then(
      ({ length }) => length,
      () => 'refused',
    );
  await measure('children() of the large parent', whole);
  const names = () => countOf(client.list(LARGE, { pageSize: 4_096, ...PATIENCE }));
  await measure('list, names, the first time', () => beside(other, names));
  await measure('list, names, again', () => beside(other, names));
  const data = () => countOf(client.list(LARGE, { data: true, pageSize: 4_096, ...PATIENCE }));
  await measure('list, with stat and data', () => beside(other, data));
  await measure('walk /', () => beside(other, () => countOf(client.walk('/', { pageSize: 4_096, ...PATIENCE }))));
  await measure('creates and deletes, large parent, in order now', () => change(client, LARGE));
  const iterator = client.list(LARGE, { pageSize: 1, ...PATIENCE })[Symbol.asyncIterator]();
  await iterator.next();
  await measure('the same while a listing of it goes on', () => change(client, LARGE));
  console.table(rows);
  end(0);
} catch (error) {
  console.error(error);
  end(1);
}
