/** A disk in memory for the conformance suite. */
import { setImmediate } from 'node:timers/promises';
import { SimDisk } from '../memory/sim-disk.ts';
import type { SimStore } from '../memory/sim-store.ts';
import { openMemoryStore } from '../memory-store.ts';
import type { StorageHarness } from './bench-rig.ts';

export function memoryHarness(disk = new SimDisk()): StorageHarness {
  const pumps = new WeakMap<object, SimStore>();
  return {
    open: async (options) => {
      await setImmediate();
      const store = openMemoryStore(disk, options);
      pumps.set(store, store);
      return store;
    },
    progress: async (store) => {
      pumps.get(store)?.pump();
      await setImmediate();
    },
    kill: async () => {
      disk.kill();
      await setImmediate();
    },
    dispose: () => Promise.resolve(),
  };
}
