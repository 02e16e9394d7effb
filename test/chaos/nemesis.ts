/**
 * Draws faults from a seed, one after the other and sometimes two at once, and heals everything now and then to see that
 * the ensemble serves again. Every fault is logged with its time. What cannot be drawn from a seed is who leads and how
 * long the machine takes: the same seed gives the same plan, not the same run.
 */
import type { Random } from '@quorate/sim';
import type { Ensemble } from './ensemble.ts';
import type { Begun, Fault } from './fault.ts';

export interface NemesisOptions {
  readonly ensemble: Ensemble;
  readonly random: Random;
  readonly faults: readonly Fault[];
  readonly print: (line: string) => void;
  /** Shown that all is healed; throws when the ensemble does not serve. */
  readonly healed: () => Promise<void>;
}

/** Rounds of faults between two heals. */
const ROUNDS = 5;

export class Nemesis {
  readonly counts = new Map<string, number>();
  readonly #options: NemesisOptions;
  /** Every kind comes once before any comes again. */
  #bag: Fault[] = [];

  constructor(options: NemesisOptions) {
    this.#options = options;
  }

  /** Goes on until `untilMs` on the clock of performance.now, then heals. */
  async run(untilMs: number): Promise<void> {
    const { random } = this.#options;
    for (let round = 1; performance.now() < untilMs; round++) {
      await this.#round(random.fork(`round ${round}`), untilMs);
      if (round % ROUNDS === 0) await this.#heal();
    }
    await this.#heal();
  }

  async #round(random: Random, untilMs: number): Promise<void> {
    const first = this.#draw(random);
    const lastsMs = random.skewed(400, 6_000);
    if (first.isAlone === true) {
      await this.#heal();
      const begun = await this.#begin(first, random, lastsMs);
      await begun.end();
      return;
    }
    const begun = [await this.#begin(first, random, lastsMs)];
    await rest(Math.min(lastsMs, untilMs - performance.now()));
    if (random.chance(0.35)) {
      const second = this.#draw(random, (fault) => fault.isAlone !== true);
      begun.push(await this.#begin(second, random, lastsMs));
      await rest(Math.min(lastsMs, untilMs - performance.now()));
    }
    for (const one of random.shuffle(begun)) await one.end();
    await rest(random.skewed(50, 2_000));
  }

  #draw(random: Random, fits: (fault: Fault) => boolean = () => true): Fault {
    let at = this.#bag.findIndex(fits);
    if (at < 0) {
      this.#bag.push(...random.shuffle(this.#options.faults));
      at = this.#bag.findIndex(fits);
    }
    const [fault] = this.#bag.splice(at, 1);
    if (fault === undefined) throw new RangeError('There are no faults to draw from');
    return fault;
  }

  async #begin(fault: Fault, random: Random, lastsMs: number): Promise<Begun> {
    const { ensemble, print } = this.#options;
    this.counts.set(fault.kind, (this.counts.get(fault.kind) ?? 0) + 1);
    const begun = await fault.begin(ensemble, random);
    print(`${fault.kind}: ${begun.about} (for ${lastsMs} ms; leader ${ensemble.leader ?? 'none'})`);
    const end = async (): Promise<void> => {
      await begun.end();
      print(`end of ${fault.kind}: ${begun.about}`);
    };
    return { about: begun.about, end };
  }

  async #heal(): Promise<void> {
    await this.#options.ensemble.heal();
    await this.#options.healed();
    this.#options.print('healed');
  }
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
