/** The face of `core`: one member as a machine, and the shapes of its events and actions. */
export * from './peer/actions.ts';
export * from './peer/config.ts';
export * from './peer/events.ts';
export * from './peer/messages.ts';
export * from './peer/quorum-peer.ts';
export * from './peer/recovery.ts';
export * from './peer/session-inspector.ts';
export * from './peer/status.ts';
export * from './peer/watch-inspector.ts';
export * from './tree/txn.ts';
export { decodeTxn, encodeTxn } from './tree/txn-codec.ts';
export type { VoteRight } from './zab/config.ts';
export * from './zab/host.ts';
export * from './zab/messages.ts';
