// The story that scripts/compose-test tells on a Docker Engine: three members, then five, on the compose files of deploy/.
// Write through one; kill one of three, two of five, the leader among them; go on writing; start them again and see them
// catch up; kill a majority and see writes refused while nothing is lost; stop them and see them end well.
// Talks to published ports on loopback and to the docker command, to nothing else. Every wait has an end.
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition, status } from '@grpc/grpc-js';
import { loadProtos } from '@quorate/protocol/grpc';

const DEPLOY = join(dirname(dirname(fileURLToPath(import.meta.url))), 'deploy');
const protos = loadProtos();
const { ZnodeService, ClusterService } = loadPackageDefinition(protos).quorate.v1;
const FAST_RECONNECT = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };
const results = { passed: 0, failed: 0 };

function check(name, ok, detail = '') {
  results[ok ? 'passed' : 'failed']++;
  process.stdout.write(
    `compose-test: ${ok ? 'ok     ' : 'FAILED '}${name}${ok || detail === '' ? '' : `: ${detail}`}\n`,
  );
}

/** Asks until the answer is one, at most `seconds`. Undefined when it never was. */
async function until(seconds, ask) {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    const answer = await ask();
    if (answer) return answer;
    await pause(200);
  }
  return undefined;
}

async function freePorts(count) {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise((resolve) => {
          const server = createServer().listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => server.address().port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

class Ensemble {
  constructor(size, ports) {
    this.size = size;
    this.file = join(DEPLOY, `compose.${size}.yaml`);
    this.env = { ...process.env };
    for (const [i, port] of ports.entries()) this.env[`QUORATE_PORT_${i + 1}`] = String(port);
    this.sids = ports.map((_, i) => i + 1);
    const at = (Service, i) => new Service(`127.0.0.1:${ports[i]}`, credentials.createInsecure(), FAST_RECONNECT);
    this.znodes = ports.map((_, i) => at(ZnodeService, i));
    this.cluster = ports.map((_, i) => at(ClusterService, i));
    /** Paths of the writes that were acknowledged. */
    this.acknowledged = new Set();
    this.written = 0;
  }

  compose(...args) {
    const all = ['-p', `quorate-test-${this.size}`, '-f', this.file, ...args];
    return execFileSync('docker-compose', all, { env: this.env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  docker(...args) {
    return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  container(sid) {
    this.containers ??= this.sids.map((one) => this.compose('ps', '-q', `quorate${one}`).trim());
    return this.containers[sid - 1];
  }

  /** A call with a deadline; resolves to { value } or { error }. */
  call(client, method, request, seconds = 5) {
    return new Promise((resolve) => {
      const deadline = Date.now() + seconds * 1000;
      client[method](request, { deadline }, (error, value) => resolve(error ? { error } : { value }));
    });
  }

  async status(sid) {
    return (await this.call(this.cluster[sid - 1], 'status', {}, 2)).value;
  }

  /** The leader's sid once all of `sids` serve, follow one leader, and show the same history and tree. */
  settled(sids, seconds = 60) {
    return until(seconds, async () => {
      const all = await Promise.all(sids.map((sid) => this.status(sid)));
      if (all.some((one) => !one?.serving || !one.hasQuorum)) return undefined;
      const same = (key) => new Set(all.map((one) => String(one[key]))).size === 1;
      return same('leaderSid') && same('zxid') && same('digest') ? all[0].leaderSid : undefined;
    });
  }

  /** Creates `count` znodes through one member. A refused or unknown one is not counted; another is tried, up to the end. */
  async write(sid, count, seconds) {
    const end = performance.now() + seconds * 1000;
    let done = 0;
    while (done < count && performance.now() < end) {
      const path = `/compose/n${this.written++}`;
      const { error } = await this.call(this.znodes[sid - 1], 'create', { path, data: Buffer.from(path) });
      if (error) await pause(50);
      else {
        this.acknowledged.add(path);
        done++;
      }
    }
    return done;
  }

  /** Acknowledged znodes that a member does not show. */
  async missing(sid) {
    const { value, error } = await this.call(this.znodes[sid - 1], 'getChildren', {
      path: '/compose',
      linearizable: true,
    });
    if (error) return [`(${error.details})`];
    const there = new Set(value.children.map((name) => `/compose/${name}`));
    return [...this.acknowledged].filter((path) => !there.has(path));
  }

  async checkNothingMissing(when) {
    for (const sid of this.sids) {
      const missing = await this.missing(sid);
      const first = missing.slice(0, 3).join(', ');
      check(
        `${this.size} members: member ${sid} has all ${this.acknowledged.size} acknowledged writes ${when}`,
        missing.length === 0,
        first,
      );
    }
  }
}

async function start(e) {
  e.compose('up', '-d', '--no-build');
  const leader = await e.settled(e.sids, 90);
  check(`${e.size} members: all come up under one leader`, leader !== undefined, e.compose('ps'));
  if (leader === undefined) throw new Error(e.compose('logs', '--tail', '20'));
  const health = (sid) => e.docker('inspect', '-f', '{{.State.Health.Status}}', e.container(sid));
  const healthy = await until(60, () => e.sids.every((sid) => health(sid) === 'healthy'));
  check(`${e.size} members: every container is healthy`, healthy === true);
  await e.call(e.znodes[0], 'create', { path: '/compose' });
  check(`${e.size} members: 50 writes through member 1`, (await e.write(1, 50, 30)) === 50);
  return leader;
}

/** Kills a minority with the leader in it, goes on, and starts it again. */
async function loseMinority(e, leader) {
  const others = e.sids.filter((sid) => sid !== leader);
  const victims = [leader, ...others.slice(0, (e.size - 3) / 2)];
  const writer = others.at(-1);
  e.docker('kill', ...victims.map((sid) => e.container(sid)));
  const done = await e.write(writer, 100, 60);
  check(
    `${e.size} members: with ${victims.length} killed, the leader among them, 100 writes through member ${writer}`,
    done === 100,
    `${done} done`,
  );
  e.docker('start', ...victims.map((sid) => e.container(sid)));
  const again = await e.settled(e.sids);
  check(`${e.size} members: the killed ones start again and catch up`, again !== undefined);
  await e.checkNothingMissing('after a minority was lost');
  return again;
}

/** Kills a majority: writes are refused with a clear error, and nothing is lost. */
async function loseMajority(e, leader) {
  const victims = [leader, ...e.sids.filter((sid) => sid !== leader)].slice(0, (e.size + 1) / 2);
  const survivor = e.sids.find((sid) => !victims.includes(sid));
  e.docker('kill', ...victims.map((sid) => e.container(sid)));
  const refused = '/compose/refused';
  const { error } = await e.call(e.znodes[survivor - 1], 'create', { path: refused }, 8);
  const said = error?.metadata?.get('quorate-error-bin')[0];
  const detail = said === undefined ? undefined : protos['quorate.v1.ErrorDetail'].deserialize(said);
  check(
    `${e.size} members: without a quorum a write is refused with UNAVAILABLE, and whether it was applied`,
    error?.code === status.UNAVAILABLE && ['OUTCOME_NOT_APPLIED', 'OUTCOME_UNKNOWN'].includes(detail?.outcome),
    String(error),
  );
  process.stdout.write(`compose-test:        it says: ${detail?.code}, ${detail?.outcome}, "${detail?.message}"\n`);
  const read = await e.call(e.znodes[survivor - 1], 'exists', { path: '/compose' });
  check(`${e.size} members: without a quorum reads go on`, Boolean(read.value?.stat), read.error?.details);
  e.docker('start', ...victims.map((sid) => e.container(sid)));
  check(`${e.size} members: with a quorum again all catch up`, (await e.settled(e.sids)) !== undefined);
  const { value } = await e.call(e.znodes[survivor - 1], 'exists', { path: refused, linearizable: true });
  check(
    `${e.size} members: the refused write is where it said`,
    value !== undefined && (detail?.outcome === 'OUTCOME_UNKNOWN' || value.stat === null),
  );
  await e.checkNothingMissing('after a majority was lost');
  check(`${e.size} members: writes go on`, (await e.write(survivor, 20, 30)) === 20);
}

async function stop(e) {
  for (const sid of e.sids) {
    const started = performance.now();
    e.docker('stop', '-t', '15', e.container(sid));
    const seconds = (performance.now() - started) / 1000;
    const code = e.docker('inspect', '-f', '{{.State.ExitCode}}', e.container(sid));
    check(
      `${e.size} members: member ${sid} stops with exit code 0 within 10 s`,
      code === '0' && seconds < 10,
      `code ${code}, ${seconds.toFixed(1)} s`,
    );
  }
}

async function scenario(size) {
  const e = new Ensemble(size, await freePorts(size));
  try {
    const leader = await start(e);
    const next = await loseMinority(e, leader);
    if (next !== undefined) await loseMajority(e, next);
    await stop(e);
  } catch (error) {
    check(`${size} members: the scenario runs to its end`, false, String(error));
  } finally {
    for (const client of [...e.znodes, ...e.cluster]) client.close();
    e.compose('down', '-v', '--timeout', '1');
  }
}

for (const size of [3, 5]) await scenario(size);
process.stdout.write(`compose-test: ${results.passed} passed, ${results.failed} failed\n`);
process.exit(results.failed === 0 && results.passed > 0 ? 0 : 1);
