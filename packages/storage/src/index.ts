/** The face of `storage`: a member's disk. */
export type * from './contract.ts';
export * from './storage-error.ts';
