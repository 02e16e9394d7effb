/** A temporary data folder for the conformance suite and for tests of damage. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLevelStore } from '../level-store.ts';
import type { StorageHarness } from './bench-rig.ts';

/** A harness on a data folder that does not exist yet. */
export interface LevelHarness extends StorageHarness {
  readonly directory: string;
}

/** A new folder, removed by `dispose`. */
export async function levelHarness(): Promise<LevelHarness> {
  const parent = await mkdtemp(join(tmpdir(), 'quorate-store-'));
  return {
    ...levelHarnessAt(join(parent, 'member')),
    dispose: () => rm(parent, { recursive: true, force: true }),
  };
}

/** A folder that somebody else removes. */
export function levelHarnessAt(directory: string): LevelHarness {
  return {
    directory,
    open: (options) => openLevelStore({ directory, ...options }),
    progress: (_store, change) => change,
    kill: (engine) => engine.close(),
    dispose: () => Promise.resolve(),
  };
}
