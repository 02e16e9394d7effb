/** The face for the simulator and for tests: the memory twin and the suite that every store passes. */
export type { SimStore } from './memory/sim-store.ts';
