/** The face for the simulator and for tests: the memory twin, and the suite that every store passes. */
export type { LaneName } from './io.ts';
export { SimDisk, type Survival, type Tear } from './memory/sim-disk.ts';
export type { SimStore } from './memory/sim-store.ts';
export { tornAppend } from './memory/torn-append.ts';
export { type MemoryStoreOptions, openMemoryStore } from './memory-store.ts';
export { StorageError } from './storage-error.ts';
export { type AppendLoad, appendLoad } from './testing/append-load.ts';
export type { StorageHarness } from './testing/bench-rig.ts';
export { type ConformanceCase, STORAGE_CONFORMANCE } from './testing/conformance.ts';
export { type DamageTable, type DamageTableOptions, damageTable, tableText } from './testing/damage-table.ts';
export { isSame, KILL_SCRIPT, type KillMoment, openFolder } from './testing/kill-script.ts';
