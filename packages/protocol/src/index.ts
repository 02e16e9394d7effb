/** The root face: domain words and encodings, free of Node. The gRPC mapping is at `@quorate/protocol/grpc`. */
export * from './acl.ts';
export * from './assert.ts';
export * from './bytes.ts';
export * from './errors.ts';
export * from './frames/answer.ts';
export * from './latin1.ts';
export * from './limits.ts';
export * from './listing.ts';
export * from './op.ts';
export * from './path.ts';
export * from './quota.ts';
export * from './session-id.ts';
export * from './stat.ts';
export * from './utf8.ts';
export * from './watch.ts';
export * from './watch-ops.ts';
export * from './zxid.ts';
