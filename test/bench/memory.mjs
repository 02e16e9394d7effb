/**
 * What a member of one's own costs in memory: a znode, an idle session, a watch; and how long it takes to start with a large tree.
 * Znodes: RSS of a real process, everything included, against the same process without them. Sessions and watches are too small to be
 * told from what happens to be left of garbage: of them what is alive, in the heap of JavaScript and outside of it. Not a test: a
 * person compares.
 * Usage, after a build: node test/bench/memory.mjs [--znodes 1000000] [--sessions 20000] [--watches 10000]
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client, credentials } from '@grpc/grpc-js';
import { connect } from '@quorate/client';
import { loadProtos, serviceOf } from '@quorate/protocol/grpc';
import { pathOf, writeLargeState } from './large-state.mjs';

const { values: flags } = parseArgs({
  options: {
    znodes: { type: 'string', default: '1000000' },
    size: { type: 'string', default: '100' },
    sessions: { type: 'string', default: '20000' },
    watches: { type: 'string', default: '10000' },
    'base-port': { type: 'string', default: '26700' },
  },
});
const [znodes, size, sessions, watches] = [flags.znodes, flags.size, flags.sessions, flags.watches].map(Number);
const basePort = Number(flags['base-port']);
const clusterId = 'memory';
const bin = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'quorate-memory-'));
/** Watches on one session stream. */
const PER_CLIENT = 1_000;
const SESSION_MS = 300_000;

/** Has the member collect its garbage each second, and say in a file what is alive then: for what is too small for RSS. */
const aliveFile = join(dir, 'alive');
const TELL = `import { renameSync, writeFileSync } from "node:fs";
const tell = () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(${JSON.stringify(`${aliveFile}.new`)}, String(heapUsed + external));
  renameSync(${JSON.stringify(`${aliveFile}.new`)}, ${JSON.stringify(aliveFile)});
};
setInterval(tell, 1000).unref();`;
const COLLECT = ['--expose-gc', '--import', `data:text/javascript,${encodeURIComponent(TELL)}`];

/** Starts a member on a folder; says how long it took until it served. */
async function start(directory, port, options = []) {
  const args = ['--sid', '1', '--data-dir', directory, '--cluster-id', clusterId, '--bind', '127.0.0.1'];
  const ports = ['--zookeeper-port', '0', '--grpc-port', String(port), '--admin-port', String(port + 1)];
  const more = ['--session-timeout-max-ms', String(SESSION_MS), '--log-level', 'warn'];
  const begun = performance.now();
  const child = spawn(process.execPath, [...options, bin, 'serve', ...args, ...ports, ...more], { stdio: 'inherit' });
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port + 1}/readyz`).catch(() => undefined);
    if (ready?.ok) return { child, port, ms: performance.now() - begun };
    if (child.exitCode !== null) throw new Error(`The member ended with ${child.exitCode}`);
    await delay(20);
  }
}

const rssOf = ({ child }) => 1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]);

/** Of the member that says so. */
const alive = () => Number(readFileSync(aliveFile, 'utf8'));

/** RSS, or what else is asked for, when it no longer falls by `step`: what was garbage is collected while nothing goes on. Bytes. */
async function settled(member, bytesOf = rssOf, step = 1e6) {
  let least = Number.POSITIVE_INFINITY;
  for (let same = 0; same < 5; ) {
    await delay(1_000);
    const bytes = bytesOf(member);
    same = bytes < least - step ? 0 : same + 1;
    least = Math.min(least, bytes);
  }
  return least;
}

const mb = (bytes) => `${(bytes / 1e6).toFixed(bytes < 1e8 ? 1 : 0)} MB`;
const each = (what, more, less, count) =>
  console.log(`${what}: ${mb(less)} -> ${mb(more)}, ${((more - less) / count).toFixed(0)} bytes each of ${count}`);

const running = [];
try {
  console.log(
    `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model}, load ${loadavg()
      .map((n) => n.toFixed(1))
      .join()}`,
  );
  mkdirSync(join(dir, 'empty'));
  const empty = await start(join(dir, 'empty'), basePort);
  running.push(empty);
  const base = await settled(empty);
  console.log(`an empty member: ${mb(base)} after a start of ${empty.ms.toFixed(0)} ms`);

  const large = join(dir, 'large');
  await writeLargeState([{ sid: 1, directory: large }], { clusterId, count: znodes, parents: 1000, bytes: size });
  const full = await start(large, basePort + 10);
  running.push(full);
  each(`znodes of ${size} B, start in ${(full.ms / 1000).toFixed(1)} s`, await settled(full), base, znodes);
  full.child.kill('SIGKILL');

  mkdirSync(join(dir, 'collecting'));
  const small = await start(join(dir, 'collecting'), basePort + 20, COLLECT);
  running.push(small);
  const address = `127.0.0.1:${small.port}`;
  const clients = [];
  for (let i = 0; i * PER_CLIENT < watches; i++) clients.push(await connect(address, { sessionTimeoutMs: SESSION_MS }));
  const before = await settled(small, alive, 1e4);
  const held = [];
  for (let i = 0; i < watches; i++) {
    const watch = clients[Math.floor(i / PER_CLIENT)].watch(pathOf(i, 1000), { initial: false });
    held.push(watch);
    if (held.length % PER_CLIENT === 0) await Promise.all(held.slice(-PER_CLIENT).map(({ ready }) => ready));
  }
  each('watches', await settled(small, alive, 1e4), before, watches);
  for (const client of clients) await client.close();

  await openSessions(address, sessions, small);
} finally {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

/** Sessions without a stream, as unary callers have them: what the ensemble itself keeps of one. */
async function openSessions(address, count, member) {
  const client = new Client(address, credentials.createInsecure());
  const { path, requestSerialize, responseDeserialize } = serviceOf(loadProtos(), 'quorate.v1.SessionService').Open;
  const request = { sessionTimeoutMs: SESSION_MS };
  const open = () =>
    new Promise((resolve, reject) => {
      const done = (error, response) => (error === null ? resolve(response) : reject(error));
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, done);
    });
  // What the calls themselves leave in the heap is there before.
  await Promise.all(Array.from({ length: 500 }, open));
  const before = await settled(member, alive, 1e4);
  const lane = async () => {
    for (let i = 0; i < count / 50; i++) await open();
  };
  await Promise.all(Array.from({ length: 50 }, lane));
  each('idle sessions', await settled(member, alive, 1e4), before, count);
}
