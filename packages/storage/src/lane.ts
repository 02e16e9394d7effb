/** Runs plans on an engine, one at a time: yields go to the engine, results come back. A failure ends the lane for good. */
import { assert } from '@quorate/protocol';
import type { Engine, Io, LaneName, Plan } from './io.ts';

export class Lane {
  readonly #engine: Engine;
  readonly #name: LaneName;
  readonly #failed: (thrown: unknown) => void;
  #busy = false;
  #dead = false;

  /** `failed` is called once, with what a plan or the engine threw. */
  constructor(engine: Engine, name: LaneName, failed: (thrown: unknown) => void) {
    this.#engine = engine;
    this.#name = name;
    this.#failed = failed;
  }

  /** False when a plan can be run. */
  get busy(): boolean {
    return this.#busy || this.#dead;
  }

  /** Runs a plan to its end, then calls `done`. The lane must not be busy; in `done` it is free again. */
  run<T>(plan: Plan<T>, done: (value: T) => void): void {
    assert(!this.busy, () => `Lane ${this.#name} is busy`);
    this.#busy = true;
    this.#advance(plan, () => plan.next(), done);
  }

  /** Nothing more is run, and no more results are taken. */
  stop(): void {
    this.#dead = true;
  }

  #advance<T>(plan: Plan<T>, resume: () => IteratorResult<Io, T>, done: (value: T) => void): void {
    if (this.#dead) return;
    let step: IteratorResult<Io, T>;
    try {
      step = resume();
    } catch (thrown) {
      this.#fail(thrown);
      return;
    }
    if (step.done === true) {
      this.#busy = false;
      done(step.value);
      return;
    }
    this.#engine.start(
      this.#name,
      step.value,
      (result) => this.#advance(plan, () => plan.next(result), done),
      (thrown) => this.#fail(thrown),
    );
  }

  #fail(thrown: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#failed(thrown);
  }
}
