/**
 * The face `@quorate/protocol/jute`: ZooKeeper's wire. Bytes in, the operations of `op.ts` out, and answers back to bytes. Pure:
 * sockets are the server's. Source: reference §1 to §3.
 */
export * from './connect.ts';
export * from './headers.ts';
export * from './op-codes.ts';
export * from './read-request.ts';
export * from './requests.ts';
export * from './write-reply.ts';
