/** The members of one run together: started, watched, healed. What a leader is, it knows from their own words. */
import { join } from 'node:path';
import type { Random } from '@quorate/sim';
import { until } from '../e2e/ensemble-process.ts';
import { MemberProcess, type MemberView } from './member-process.ts';
import { Network } from './network.ts';

/** Short, so that a run sees many elections; what is proven does not hang on them. */
export const FLAGS: readonly string[] = [
  ...['--tick-ms', '200', '--init-timeout-ms', '4000', '--heartbeat-ms', '100'],
  ...['--session-timeout-min-ms', '1000', '--stale-read-max-ms', '3000', '--stop-grace-ms', '3000'],
  // Checkpoints and snapshots come often, too.
  ...['--checkpoint-txns', '2000', '--history-bytes-max', '300000'],
];

/**
 * How long a member bears silence differs, by less than the factor of two that a returning member counts on: so a leader
 * that was cut off believes in itself for a while after another one has been elected.
 */
export function impatience(random: Random): readonly string[] {
  return ['--sync-timeout-ms', String(random.between(1_000, 1_900))];
}

/** A leader that was seen at work. */
export interface LeaderSighting {
  readonly epoch: number;
  readonly sid: number;
  readonly at: number;
}

export class Ensemble implements AsyncDisposable {
  readonly network: Network;
  readonly members: readonly MemberProcess[];
  /** The first sighting of each (epoch, leader). */
  readonly sightings: LeaderSighting[] = [];
  readonly #views = new Map<number, MemberView | undefined>();
  #isWatching = true;
  #watching: Promise<void> | undefined;

  private constructor(network: Network, members: readonly MemberProcess[]) {
    this.network = network;
    this.members = members;
  }

  /** `flags`: of each member, when they differ. */
  static async start(
    count: number,
    folder: string,
    flags: readonly string[] | ((sid: number) => readonly string[]) = FLAGS,
  ): Promise<Ensemble> {
    const flagsOf = typeof flags === 'function' ? flags : () => flags;
    const sids = Array.from({ length: count }, (_, i) => i + 1);
    const network = Network.create(sids);
    const ensemble = new Ensemble(
      network,
      sids.map(
        (sid) => new MemberProcess({ sid, sids, network, folder: join(folder, 'members'), flags: flagsOf(sid) }),
      ),
    );
    for (const member of ensemble.members) member.start();
    ensemble.#watching = Promise.all(ensemble.members.map((member) => ensemble.#watch(member))).then(() => undefined);
    try {
      await ensemble.whole();
    } catch (error) {
      await ensemble[Symbol.asyncDispose]();
      throw error;
    }
    return ensemble;
  }

  async #watch(member: MemberProcess): Promise<void> {
    while (this.#isWatching) {
      const view = member.isRunning && !member.isPaused ? await member.view() : undefined;
      this.#views.set(member.sid, view);
      if (view?.role === 'leading' && view.phase === 'broadcast') this.#sight(view);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  #sight({ epoch, sid }: MemberView): void {
    if (this.sightings.some((seen) => seen.epoch === epoch && seen.sid === sid)) return;
    this.sightings.push({ epoch, sid, at: performance.now() });
  }

  get sids(): number[] {
    return this.members.map(({ sid }) => sid);
  }

  get addresses(): string[] {
    return this.members.map(({ address }) => address);
  }

  /** Ends of processes that nobody asked for. */
  get unexpected(): string[] {
    return this.members.flatMap(({ unexpected }) => unexpected);
  }

  member(sid: number): MemberProcess {
    const member = this.members.find((one) => one.sid === sid);
    if (member === undefined) throw new Error(`No member ${sid}`);
    return member;
  }

  view(sid: number): MemberView | undefined {
    return this.#views.get(sid);
  }

  /** The sid of the member that leads with the highest epoch, as last seen. */
  get leader(): number | undefined {
    const leading = [...this.#views.values()].filter((view) => view?.role === 'leading' && view.phase === 'broadcast');
    return leading.toSorted((a, b) => (b?.epoch ?? 0) - (a?.epoch ?? 0))[0]?.sid;
  }

  /** Waits for a leader. */
  awaitLeader(withinMs = 30_000): Promise<number> {
    return until('a leader', () => this.leader, withinMs);
  }

  /** Waits until every member runs under one leader and serves. Returns the leader. */
  async whole(withinMs = 60_000): Promise<number> {
    // What was seen before may be of a process that is gone.
    this.#views.clear();
    return until(`all members whole; they are ${this.describe()}`, () => this.#whole(), withinMs).catch(
      (error: unknown) => {
        throw new Error(`${String(error)}; now ${this.describe()}`);
      },
    );
  }

  #whole(): number | undefined {
    const leader = this.leader;
    const isWhole = this.members.every(({ sid, isRunning, isPaused }) => {
      const view = this.#views.get(sid);
      const holds = view?.voteRight === undefined || view.voteRight === 'held';
      return isRunning && !isPaused && view?.serving === true && view.hasQuorum && view.leader === leader && holds;
    });
    return isWhole ? leader : undefined;
  }

  describe(): string {
    return this.sids
      .map((sid) => {
        const view = this.#views.get(sid);
        if (view === undefined) return `${sid}: silent`;
        return `${sid}: ${view.role} ${view.phase} e${view.epoch} zxid ${view.zxid} ${view.voteRight ?? ''}`;
      })
      .join('; ');
  }

  /** Every process runs, every packet flows, every clock is right, every disk works. */
  async heal(): Promise<void> {
    await this.network.heal();
    for (const member of this.members) {
      member.stepClock(0);
      member.mendDisk();
      if (member.isPaused) member.resume();
      member.start();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isWatching = false;
    await Promise.all(this.members.map((member) => member.discard()));
    await this.#watching;
    this.network.remove();
  }
}
