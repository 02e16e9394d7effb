/**
 * The face `@quorate/protocol/frames`: the codec of the session stream, free of Node and of proto-loader, so that a
 * client need not load either. `wire.ts` is part of it for the codec of the peer links.
 */
export * from './attach-request.ts';
export * from './attach-response.ts';
export * from './error-detail.ts';
export * from './frame.ts';
export * from './watch-codec.ts';
export { writeWatchCommand, writeWatchEnded, writeWatchNews } from './watch-frames.ts';
export { writeNotification } from './watch-op-codec.ts';
export * from './wire.ts';
