/**
 * The face `@quorate/protocol/grpc`: the protos as loaded, and their mapping to the words of the domain. Has Node
 * types and loads proto-loader; what needs neither is at `@quorate/protocol/frames`.
 */
export * from './attach.ts';
export * from './load.ts';
export * from './mapping.ts';
export { toWireStat } from './responses.ts';
export * from './status.ts';
export * from './wire-types.ts';
