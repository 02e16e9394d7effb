/** The public face of `server`: one member, run in this process. */
export * from './config/index.ts';
