/**
 * One run of chaos: an ensemble in its own network, clients at work, faults drawn from the seed, then rest and the verdict.
 * Everything it saw stays in its folder when a rule was broken.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Random } from '@quorate/sim';
import { until } from '../e2e/ensemble-process.ts';
import { Departures } from './departures.ts';
import { DISK_FAULTS } from './disk-faults.ts';
import { Ensemble, FLAGS, impatience } from './ensemble.ts';
import type { Fault } from './fault.ts';
import { readFinalState } from './final-state.ts';
import { History } from './history.ts';
import { type LockLog, lockStep } from './locks.ts';
import { Nemesis } from './nemesis.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { RecordingClient, UnaryRecording } from './recording-client.ts';
import { availability, countCalls, judge } from './verdict.ts';
import {
  ephemeralStep,
  Loops,
  PARENTS,
  queueStep,
  Registers,
  registerStep,
  type SideChannelRound,
  sideChannelStep,
} from './workload.ts';

export const ALL_FAULTS: readonly Fault[] = [...NETWORK_FAULTS, ...PROCESS_FAULTS, ...DISK_FAULTS];

export interface EpisodeOptions {
  readonly seed: number;
  readonly members: number;
  readonly seconds: number;
  /** Where logs and history go; removed when all was well. */
  readonly folder: string;
  readonly faults?: readonly Fault[];
  readonly print: (line: string) => void;
}

export interface EpisodeResult {
  readonly faults: Readonly<Record<string, number>>;
  readonly calls: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly sideChannelRounds: number;
  readonly tenures: number;
  readonly departedSessions: number;
  readonly leaders: number;
  readonly availability: ReturnType<typeof availability>;
  /** One line each, with the name of the check in front. */
  readonly violations: readonly string[];
}

const SESSION_CLIENTS = 12;
const LOCKS = ['a', 'b'] as const;

/** What the clients of a run leave behind. */
interface Traces {
  readonly history: History;
  readonly locks: LockLog;
  readonly rounds: SideChannelRound[];
}

export async function runEpisode(options: EpisodeOptions): Promise<EpisodeResult> {
  const { seed, members, seconds, folder, faults = ALL_FAULTS } = options;
  // What an earlier run of the seed left would be taken for the data of these members.
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const startedAt = performance.now();
  const lines: string[] = [];
  const print = (line: string): void => {
    const stamped = `${((performance.now() - startedAt) / 1_000).toFixed(2).padStart(7)} ${line}`;
    lines.push(`${new Date().toISOString()} ${stamped}`);
    options.print(stamped);
  };
  const random = new Random(seed, 'chaos');
  const traces: Traces = { history: new History(), locks: { tenures: [], writes: [] }, rounds: [] };
  print(`seed ${seed}, ${members} members, ${seconds} s of faults`);
  await using ensemble = await Ensemble.start(members, folder, (sid) => [
    ...FLAGS,
    ...impatience(random.fork(`member ${sid}`)),
  ]);
  const crew = await Crew.start(ensemble, random.fork('clients'), traces);
  const failures: string[] = [];
  const healed = async (): Promise<void> => {
    await ensemble.whole();
    await crew.serves();
  };
  const nemesis = new Nemesis({ ensemble, random: random.fork('faults'), faults, print, healed });
  try {
    await nemesis.run(performance.now() + seconds * 1_000);
  } catch (error) {
    failures.push(`not whole again after faults: ${String(error)}`);
    print(String(error));
  }
  await crew.rest();
  const final = await readFinalState(ensemble, traces.history, crew.sessions, crew.paths).catch((error: unknown) => {
    return { states: [], liveSessions: new Set<bigint>(), faults: [`cannot read the members: ${String(error)}`] };
  });
  await crew.close();
  failures.push(...ensemble.unexpected, ...ensemble.members.flatMap(({ log }) => complaints(log)));
  const { calls } = traces.history;
  const verdict = judge({ ...traces, calls, sightings: ensemble.sightings, final, failures });
  const violations = Object.entries(verdict).flatMap(([name, found]) => found.map((one) => `${name}: ${one}`));
  writeFileSync(join(folder, 'faults.log'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'violations.txt'), violations.map((line) => `${line}\n`).join(''));
  traces.history.save(join(folder, 'history.jsonl'));
  if (violations.length === 0) rmSync(folder, { recursive: true, force: true });
  return {
    faults: Object.fromEntries(nemesis.counts),
    calls: countCalls(calls),
    sideChannelRounds: traces.rounds.length,
    tenures: traces.locks.tenures.length,
    departedSessions: crew.departedSessions,
    leaders: ensemble.sightings.length,
    availability: availability(calls),
    violations,
  };
}

/** Lines by which a member says that it is broken. */
function complaints(log: string): string[] {
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"') || line.includes('cannot go on'))
    .slice(0, 5)
    .map((line) => `${log}: ${line.slice(0, 1_000)}`);
}

/** All clients of a run with what they do. */
class Crew {
  readonly sessions: readonly RecordingClient[];
  readonly #unary: readonly UnaryRecording[];
  readonly #registers: Registers;
  readonly #loops: readonly Loops[];
  readonly #departures: Departures;
  readonly #sidePaths: readonly string[];

  private constructor(
    sessions: readonly RecordingClient[],
    unary: readonly UnaryRecording[],
    registers: Registers,
    loops: readonly Loops[],
    departures: Departures,
    sidePaths: readonly string[],
  ) {
    this.sessions = sessions;
    this.#unary = unary;
    this.#registers = registers;
    this.#loops = loops;
    this.#departures = departures;
    this.#sidePaths = sidePaths;
  }

  static async start(ensemble: Ensemble, random: Random, traces: Traces): Promise<Crew> {
    const { addresses } = ensemble;
    const open = (name: string, at: readonly string[]) => RecordingClient.connect(name, at, traces.history);
    const maker = await open('maker', addresses);
    for (const path of [...PARENTS, ...LOCKS.map((lock) => `/f/${lock}`)]) await maker.raw.create(path);
    const registers = new Registers(maker);
    await registers.renew();
    // Every third client knows one member only: cut off with it, it goes on asking there.
    const sessions = await Promise.all(
      Array.from({ length: SESSION_CLIENTS }, (_, i) =>
        open(`c${i}`, i % 3 === 0 ? [addresses[(i / 3) % addresses.length]!] : addresses),
      ),
    );
    const unary = [0, 1].map((i) => new UnaryRecording(`u${i}`, addresses, traces.history));
    const readers = await Promise.all([0, 1].map((i) => open(`reader${i}`, [addresses[i % addresses.length]!])));
    const brisk = new Loops(random.fork('pauses'), 40);
    const calm = new Loops(random.fork('long pauses'), 150);
    for (const client of [...sessions, ...unary]) {
      brisk.add(registerStep(client, registers, random.fork(client.name)));
    }
    for (const client of sessions) {
      calm.add(queueStep(client));
      calm.add(ephemeralStep(client, random.fork(`${client.name} ephemerals`)));
    }
    for (const [i, client] of sessions.slice(0, 6).entries()) {
      calm.add(lockStep(client, LOCKS[i % LOCKS.length]!, traces.locks, brisk));
    }
    const pairs = readers.map((reader, i) => ({ reader, writer: sessions[i + 4]!, path: `/s/${i}` }));
    for (const { reader, writer, path } of pairs) {
      brisk.add(sideChannelStep(writer, reader, path, traces.rounds, random.fork(`side channel ${path}`)));
    }
    calm.add(() => registers.renew());
    const departures = new Departures(addresses, random.fork('departures'));
    const sidePaths = pairs.map(({ path }) => path);
    return new Crew([maker, ...sessions, ...readers], unary, registers, [brisk, calm], departures, sidePaths);
  }

  /** Every znode whose versions are followed. */
  get paths(): readonly string[] {
    return [...this.#registers.paths, ...this.#sidePaths];
  }

  get departedSessions(): number {
    return this.#departures.sessions;
  }

  /** Waits until a write is acknowledged: the ensemble serves again. */
  async serves(): Promise<void> {
    const [maker] = this.sessions;
    await until(
      'a write after all was healed',
      async () => (await maker!.create('/q/n-', `probe ${performance.now()}`, { sequential: true })) !== undefined,
    );
  }

  /** All loops end; sessions stay open. */
  async rest(): Promise<void> {
    await this.#departures.stop();
    await Promise.all(this.#loops.map((loops) => loops.stop()));
  }

  async close(): Promise<void> {
    await Promise.all([...this.sessions, ...this.#unary].map((client) => client.close()));
  }
}
