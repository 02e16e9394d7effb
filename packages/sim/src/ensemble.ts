/**
 * One ensemble with its clients and its nemesis, put together from the knobs of a seed. Nothing here decides anything:
 * it only says who is given what.
 */
import type { Sid } from '@quorate/protocol';
import type { Checker } from './checkers/checker.ts';
import { Judge } from './checkers/checker.ts';
import type { Client } from './clients/client.ts';
import { Front, Numbers } from './clients/front.ts';
import { StreamClient } from './clients/stream-client.ts';
import { UnaryClient } from './clients/unary-client.ts';
import { MemberClock } from './clock.ts';
import { DiskDrive } from './disk-drive.ts';
import { Nemesis } from './faults/nemesis.ts';
import type { Knobs } from './knobs.ts';
import { Member } from './member.ts';
import { Network } from './network.ts';
import type { Observation } from './observation.ts';
import type { PlantedFault } from './planted/plant.ts';
import { Random } from './random.ts';
import { Schedule } from './schedule.ts';
import type { Decisions } from './script.ts';
import { Watcher } from './watcher.ts';

export interface EnsembleOptions {
  readonly knobs: Knobs;
  readonly checkers: readonly Checker[];
  readonly decisions: Decisions;
  readonly fault: PlantedFault | undefined;
  /** Sees every observation, and a line for each fault and each trace; for a verbose run. */
  readonly watch: ((atUs: number, what: Observation | string) => void) | undefined;
}

/** Members that are not late come up within this time, µs. */
const EARLY_US = 100_000;

export class Ensemble {
  readonly knobs: Knobs;
  readonly schedule = new Schedule();
  readonly judge: Judge;
  readonly members = new Map<Sid, Member>();
  readonly fronts: Front[] = [];
  readonly clients: Client[] = [];
  readonly nemesis: Nemesis;
  readonly random: Random;
  /** Since when all has been well, µs; undefined while faults go on. Clients judge by it whether a loss can be excused. */
  healthySinceUs: number | undefined;
  readonly #watch: EnsembleOptions['watch'];
  readonly #drives = new Map<Sid, DiskDrive>();
  readonly #numbers = new Numbers();
  readonly #network: Network;

  constructor(options: EnsembleOptions) {
    const { knobs } = options;
    this.knobs = knobs;
    this.#watch = options.watch;
    this.random = new Random(knobs.seed, 'run');
    this.judge = new Judge(options.checkers);
    const sids = [...knobs.voters, ...knobs.observers];
    this.#network = new Network(this.schedule, this.random.fork('network'), { sids, knobs: knobs.network });
    for (const sid of sids) this.#addMember(sid, options.fault);
    this.nemesis = new Nemesis({
      schedule: this.schedule,
      random: this.random.fork('nemesis'),
      knobs: knobs.faults,
      takes: (name) => options.decisions.takes(`strike ${name}`),
      network: this.#network,
      voters: knobs.voters,
      members: this.members,
      drives: this.#drives,
      note: (what) => this.#watch?.(this.schedule.nowUs, what),
      struck: (fault, what) => this.observe({ kind: 'struck', fault, what }),
    });
    this.#addClients(options.decisions);
    const clocks = { driftMax: knobs.member.driftMax, reapIntervalMs: knobs.timing.reapIntervalMs };
    this.observe({ kind: 'ensemble', voters: knobs.voters, observers: knobs.observers, clocks });
  }

  readonly observe = (observation: Observation): void => {
    this.#watch?.(this.schedule.nowUs, observation);
    this.judge.observe(observation, this.schedule.nowUs);
  };

  /** Members come up one after the other, clients begin, faults begin. A member that is late comes up at the heal at last. */
  start(): void {
    const { random, knobs } = this;
    for (const member of this.members.values()) {
      const latestUs = random.chance(knobs.member.lateChance) ? knobs.faultsUs : EARLY_US;
      this.schedule.after(random.between(0, latestUs), () => {
        if (!member.isUp) member.start();
      });
    }
    for (const client of this.clients) client.start();
    this.nemesis.start();
  }

  #addMember(sid: Sid, fault: PlantedFault | undefined): void {
    const { schedule, knobs, observe } = this;
    const random = this.random.fork(`member ${sid}`);
    const drive = new DiskDrive({ sid, schedule, random: random.fork('disk'), knobs: knobs.disk, observe });
    drive.lies = fault?.hasLyingDisk === true;
    const front = new Front({
      sid,
      numbers: this.#numbers,
      random: random.fork('front'),
      observe,
      deliver: (event) => this.members.get(sid)?.deliver(event),
      isSlow: () => drive.isSlow,
      clockMs: () => this.members.get(sid)?.clockMs ?? 0,
    });
    const { wallSkewMaxMs, driftMax } = knobs.member;
    const clock = new MemberClock(schedule, {
      rate: 1 + (random.fraction() * 2 - 1) * driftMax,
      wallErrorMs: random.between(-wallSkewMaxMs, wallSkewMaxMs),
    });
    const member: Member = new Member(
      {
        sid,
        knobs: knobs.member,
        schedule,
        random,
        network: this.#network,
        drive,
        front,
        observe,
        clock,
        watcher: new Watcher(),
        nextLogged: (zxid) => this.judge.ledger.member(sid).issued.after(zxid),
      },
      { knobs, plant: fault?.plant, down: () => this.nemesis.down(member) },
    );
    this.#drives.set(sid, drive);
    this.fronts.push(front);
    this.members.set(sid, member);
  }

  #addClients(decisions: Decisions): void {
    const { knobs, schedule, fronts, observe } = this;
    const options = (name: string) => {
      const counts = new Map<string, number>();
      const random = this.random.fork(name);
      const { sessionTimeoutMinMs } = knobs.timing;
      const timeoutMs = random.between(sessionTimeoutMinMs, 2 * sessionTimeoutMinMs);
      return {
        name,
        schedule,
        random,
        fronts,
        knobs: knobs.clients,
        timeoutMs,
        observe,
        healthySinceUs: () => this.healthySinceUs,
        takes: (what: string) => {
          const count = (counts.get(what) ?? 0) + 1;
          counts.set(what, count);
          return decisions.takes(`call ${name} ${what} ${count}`);
        },
      };
    };
    const add = (name: string, client: () => Client): void => {
      if (decisions.takes(`client ${name}`)) this.clients.push(client());
    };
    const { streams, unary, sessionless } = knobs.clients;
    for (let i = 1; i <= streams; i += 1) add(`stream${i}`, () => new StreamClient(options(`stream${i}`)));
    for (let i = 1; i <= unary; i += 1) add(`unary${i}`, () => new UnaryClient(options(`unary${i}`), true));
    for (let i = 1; i <= sessionless; i += 1) add(`plain${i}`, () => new UnaryClient(options(`plain${i}`), false));
  }
}
