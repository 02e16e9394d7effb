/**
 * Numbers of one ensemble on this machine: writes and reads a second through the session stream and through unary calls,
 * latency p50 and p99, memory and CPU of the members. Not a test: it asserts nothing and is compared by a person.
 * Run by scripts/bench, which builds first. Loads are bounded in time and concurrency, on loopback only.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHistogram } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from '@quorate/client';
import { unaryClient } from './unary.mjs';

const { values: flags } = parseArgs({
  options: {
    members: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    'base-port': { type: 'string', default: '26000' },
    size: { type: 'string', default: '100' },
  },
});
const members = Number(flags.members);
const seconds = Number(flags.seconds);
const rounds = Number(flags.rounds);
const data = 'x'.repeat(Number(flags.size));
const bin = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const keys = 1000;

const dir = mkdtempSync(join(tmpdir(), 'quorate-bench-'));
const ensemble = spawn(
  process.execPath,
  [bin, 'ensemble', '--members', String(members), '--data', dir, '--base-port', flags['base-port']],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);

try {
  await ready(ensemble);
  const file = JSON.parse(readFileSync(join(dir, 'ensemble.json'), 'utf8'));
  const pids = file.members.map((member) => member.pid);
  const addresses = file.members.map((member) => `127.0.0.1:${member.ports.grpc}`);
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${members} members, ${flags.size} B values,`,
  );
  console.log(`${rounds} rounds of ${seconds} s a row, medians; the load runs on the same machine\n`);
  await prepare(addresses);
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    for (const load of loads(addresses)) rows.push({ ...(await measure(load, pids)), name: load.name });
  }
  console.table(summarize(rows));
  console.log(`RSS a member, MB: ${pids.map((pid) => Math.round(rssKb(pid) / 1024)).join(', ')}`);
} finally {
  ensemble.kill('SIGINT');
  await new Promise((resolve) => ensemble.once('exit', resolve));
  rmSync(dir, { recursive: true, force: true });
}

/** Every load: how many connections, how many calls in flight on each, and one call. */
function loads(addresses) {
  const at = (i) => addresses[i % addresses.length];
  const session = async (i) => {
    const client = await connect([at(i)]);
    return {
      set: (key) => client.set(`/bench/k${key}`, data),
      create: () => client.create('/bench/seq/n-', data, { sequential: true }),
      get: (key) => client.get(`/bench/k${key}`),
      linearizable: (key) => client.get(`/bench/k${key}`, { consistency: 'linearizable' }),
      close: () => client.close(),
    };
  };
  const unary = async (i) => unaryClient(at(i), data);
  return [
    { name: 'session set, 1 × 1', open: session, connections: 1, depth: 1, op: 'set' },
    { name: 'session set, 8 × 1', open: session, connections: 8, depth: 1, op: 'set' },
    { name: 'session set, 8 × 100', open: session, connections: 8, depth: 100, op: 'set' },
    { name: 'session create sequential, 8 × 100', open: session, connections: 8, depth: 100, op: 'create' },
    { name: 'session get, 1 × 1', open: session, connections: 1, depth: 1, op: 'get' },
    { name: 'session get, 8 × 100', open: session, connections: 8, depth: 100, op: 'get' },
    { name: 'session get linearizable, 8 × 100', open: session, connections: 8, depth: 100, op: 'linearizable' },
    { name: 'unary set, 1 × 1', open: unary, connections: 1, depth: 1, op: 'set' },
    { name: 'unary set, 3 × 32', open: unary, connections: 3, depth: 32, op: 'set' },
    { name: 'unary get, 1 × 1', open: unary, connections: 1, depth: 1, op: 'get' },
    { name: 'unary get, 3 × 32', open: unary, connections: 3, depth: 32, op: 'get' },
  ];
}

async function prepare(addresses) {
  const client = await connect(addresses);
  await client.create('/bench');
  await client.create('/bench/seq');
  await Promise.all(Array.from({ length: keys }, (_, i) => client.create(`/bench/k${i}`, data)));
  await client.close();
}

async function measure(load, pids) {
  const clients = await Promise.all(Array.from({ length: load.connections }, (_, i) => load.open(i)));
  const latency = createHistogram();
  const end = performance.now() + seconds * 1000;
  let done = 0;
  let failed = 0;
  const before = pids.map(cpuMs);
  const started = performance.now();
  await Promise.all(
    clients.flatMap((client, c) =>
      Array.from({ length: load.depth }, async (_, d) => {
        for (let i = c * 7919 + d * 31; performance.now() < end; i++) {
          const at = performance.now();
          try {
            await client[load.op](i % keys);
            done++;
            latency.record(Math.max(1, Math.round((performance.now() - at) * 1000)));
          } catch {
            failed++;
          }
        }
      }),
    ),
  );
  const elapsed = (performance.now() - started) / 1000;
  const cpu = pids.reduce((sum, pid, i) => sum + cpuMs(pid) - before[i], 0);
  await Promise.all(clients.map((client) => client.close()));
  return {
    perSecond: done / elapsed,
    p50: latency.percentile(50) / 1000,
    p99: latency.percentile(99) / 1000,
    cpuUs: (cpu * 1000) / Math.max(1, done),
    failed,
  };
}

function summarize(rows) {
  const names = [...new Set(rows.map((row) => row.name))];
  const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  return Object.fromEntries(
    names.map((name) => {
      const mine = rows.filter((row) => row.name === name);
      const of = (key) => median(mine.map((row) => row[key]));
      return [
        name,
        {
          'ops/s': Math.round(of('perSecond')),
          'p50 ms': Number(of('p50').toFixed(2)),
          'p99 ms': Number(of('p99').toFixed(2)),
          'server CPU µs/op': Number(of('cpuUs').toFixed(1)),
          failed: mine.reduce((sum, row) => sum + row.failed, 0),
        },
      ];
    }),
  );
}

function cpuMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function rssKb(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

function ready(child) {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (/\bready\b/i.test(output)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`quorate ensemble ended with ${code}:\n${output}`)));
  });
}
