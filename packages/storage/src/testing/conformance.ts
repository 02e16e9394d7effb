/**
 * The suite that every store passes: LevelDB and the memory twin. It knows no test framework: each case is a name and a
 * function that rejects.
 */
import type { StorageHarness } from './bench-rig.ts';
import { INSTALL_CASES } from './install-cases.ts';
import { LOG_CASES } from './log-cases.ts';
import { STATE_CASES } from './state-cases.ts';

export interface ConformanceCase {
  /** A sentence. */
  readonly name: string;
  /** Rejects when the store does not do what the sentence says. The harness has a fresh disk. */
  run(harness: StorageHarness): Promise<void>;
}

/** All cases. Give each a harness of its own, and dispose of it afterwards. */
export const STORAGE_CONFORMANCE: readonly ConformanceCase[] = [...LOG_CASES, ...STATE_CASES, ...INSTALL_CASES];
