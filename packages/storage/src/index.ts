/** The face of `storage`: a member's disk. */
export type * from './contract.ts';
export { lastSetAside, type SetAsideOptions, setAside } from './level/set-aside.ts';
export { type LevelStoreOptions, openLevelStore } from './level-store.ts';
export * from './storage-error.ts';
