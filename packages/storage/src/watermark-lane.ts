/**
 * Puts the watermark between what was written and its report, beside the lanes: while one note is under way the next write
 * runs already, and what is written meanwhile shares the next note.
 */
import type { DiskState } from './disk-state.ts';
import type { Lane } from './lane.ts';
import { noteWatermark, watermarkHolds } from './watermark.ts';

export class WatermarkLane {
  readonly #lane: Lane;
  readonly #disk: DiskState;
  /** The lane has become idle. */
  readonly #stopped: () => void;
  #waiting: (() => void)[] = [];
  /** Reports are being made: those that come meanwhile wait behind them. */
  #isReporting = false;

  constructor(lane: Lane, disk: DiskState, stopped: () => void) {
    this.#lane = lane;
    this.#disk = disk;
    this.#stopped = stopped;
  }

  /** Nothing waits, nothing runs. */
  get idle(): boolean {
    return this.#waiting.length === 0 && !this.#lane.busy;
  }

  /** Calls `report`, in the order of the calls, when the file says what is durable now, or later. */
  note(report: () => void): void {
    this.#waiting.push(report);
    this.#next();
  }

  /** Nothing more is noted or reported. */
  stop(): void {
    this.#lane.stop();
    this.#waiting = [];
  }

  #next(): void {
    if (this.#lane.busy || this.#isReporting || this.#waiting.length === 0) return;
    const reports = this.#waiting;
    this.#waiting = [];
    if (watermarkHolds(this.#disk)) this.#report(reports);
    else this.#lane.run(noteWatermark(this.#disk), () => this.#report(reports));
  }

  /** The next note is started before the reports of the last one, so that it does not wait for the core. */
  #report(reports: readonly (() => void)[]): void {
    if (this.#waiting.length > 0 && !watermarkHolds(this.#disk)) this.#next();
    this.#isReporting = true;
    for (const report of reports) report();
    this.#isReporting = false;
    this.#next();
    if (this.idle) this.#stopped();
  }
}
