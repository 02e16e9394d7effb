/**
 * The longest time for which the event loop of a member is held while its tree is large: at recovery, under writes with their
 * checkpoints and garbage collections, while it sends its tree to a new member, and in that member. Not a test: it asserts
 * nothing but that leader and session stay, and is compared by a person. Run by scripts/pauses, which builds first.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from '@quorate/client';
import { pathOf, writeLargeState } from './large-state.mjs';

const { values: flags } = parseArgs({
  options: {
    znodes: { type: 'string', default: '1000000' },
    parents: { type: 'string', default: '1000' },
    size: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    // Small enough for several in that time, whatever the machine manages; the default of a member is 50000.
    'checkpoint-txns': { type: 'string', default: '2000' },
    'base-port': { type: 'string', default: '26400' },
  },
});
const count = Number(flags.znodes);
const parents = Number(flags.parents);
const bytes = Number(flags.size);
const seconds = Number(flags.seconds);
/** Longest time for a member to start, ms. */
const START_MS = 180_000;
const basePort = Number(flags['base-port']);
const clusterId = 'pauses';
const bin = fileURLToPath(new URL('../../packages/cli/bin/quorate.mjs', import.meta.url));
const probe = new URL('./pauses-probe.mjs', import.meta.url).href;

const dir = mkdtempSync(join(tmpdir(), 'quorate-pauses-'));
const members = [1, 2, 3].map((sid) => ({
  sid,
  directory: join(dir, String(sid)),
  address: `127.0.0.1:${basePort + sid}`,
  process: undefined,
}));
const rows = [];
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => end(1));

try {
  console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${count} znodes of ${bytes} B`);
  await writeLargeState(members.slice(0, 2), { clusterId, count, parents, bytes });
  await Promise.all([start(members[0]), start(members[1])]);
  const leader = await leaderOf(members.slice(0, 2));
  const other = members.find(({ sid }) => sid !== leader && sid < 3);
  const lead = members[leader - 1];
  await note('recovery, leader', lead);
  await note('recovery, follower', other);
  const client = await connect([other.address]);
  const before = await placeOf(lead);
  await reset([lead, other]);
  await load(seconds);
  await note(`set 8 × 50 for ${seconds} s with checkpoints, leader`, lead);
  await note('the same, follower', other);
  await reset([lead, other]);
  const learner = members[2];
  await start(learner);
  await note('snapshot to a new member, leader', lead);
  await note('the same, the new member', learner);
  await client.sync();
  const after = await placeOf(lead);
  console.table(rows);
  console.log(`leader ${before.leader}, epoch ${before.epoch} → leader ${after.leader}, epoch ${after.epoch}`);
  console.log(`session ${client.session.id} lived`);
  await client.close();
  end(0);
} catch (error) {
  console.error(error);
  end(1);
}

/** Ends the members and this, and leaves nothing behind. */
function end(code) {
  for (const { process: child } of members) child?.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
  process.exit(code);
}

/** Starts a member with the probe in it; resolves when it serves. */
async function start(member) {
  const ensemble = members.map(({ sid, address }) => `${sid}=127.0.0.1:${basePort + 10 + sid};${address}`).join(',');
  const args = ['--sid', String(member.sid), '--data-dir', member.directory, '--cluster-id', clusterId];
  const ports = [
    '--grpc-port',
    String(basePort + member.sid),
    '--zookeeper-port',
    '0',
    '--admin-port',
    String(basePort + 20 + member.sid),
    '--bind',
    '127.0.0.1',
  ];
  const checkpoints = ['--checkpoint-txns', flags['checkpoint-txns']];
  member.process = spawn(
    process.execPath,
    ['--import', probe, bin, 'serve', ...args, ...ports, ...checkpoints, '--ensemble', ensemble, '--log-level', 'warn'],
    { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
  );
  let isLive = false;
  for (const endMs = performance.now() + START_MS; performance.now() < endMs; await delay(50)) {
    // Undefined: it does not listen yet.
    const place = await placeOf(member).catch(() => undefined);
    // What node takes to load the program is not looked at.
    if (place !== undefined && !isLive) await reset([member]);
    isLive ||= place !== undefined;
    if (place?.serving && place.hasQuorum) return;
    if (member.process.exitCode !== null) throw new Error(`Member ${member.sid} ended`);
  }
  throw new Error(`Member ${member.sid} does not serve after ${START_MS} ms`);
}

/** What the member says of itself; rejects when it does not answer. */
async function placeOf({ sid }) {
  const response = await fetch(`http://127.0.0.1:${basePort + 20 + sid}/status`, {
    signal: AbortSignal.timeout(5_000),
  });
  return await response.json();
}

async function leaderOf(some) {
  return (await placeOf(some[0])).leader;
}

async function reset(some) {
  for (const { process: child } of some) child.send('reset');
  await delay(100);
}

async function note(what, member) {
  // `serve` has words of its own for whoever has started it.
  const answer = new Promise((resolve) => {
    member.process.on('message', (message) => message.longest !== undefined && resolve(message));
  });
  member.process.send('read');
  const { longest, wall, over20, gcLongest, busy, seconds: took, worst } = await answer;
  rows.push({
    what,
    'held ms': longest,
    '> 20 ms': over20,
    'gc ms (wall)': gcLongest,
    'loop ms (wall)': wall,
    s: took,
  });
  console.log(`${what}: busy ${busy} ms; longest ${JSON.stringify(worst)}`);
}

/** Sets of random znodes over 8 connections to all members that run. */
async function load(forSeconds) {
  const addresses = members.filter(({ process: child }) => child !== undefined).map(({ address }) => address);
  const clients = await Promise.all(Array.from({ length: 8 }, (_, i) => connect([addresses[i % addresses.length]])));
  const endMs = performance.now() + forSeconds * 1000;
  const data = 'y'.repeat(bytes);
  let writes = 0;
  const one = async (client) => {
    for (; performance.now() < endMs; writes++) {
      await client.set(pathOf(Math.floor(Math.random() * count), parents), data);
    }
  };
  await Promise.all(clients.flatMap((client) => Array.from({ length: 50 }, () => one(client))));
  console.log(`${Math.round(writes / forSeconds)} writes/s`);
  await Promise.all(clients.map((client) => client.close()));
}
