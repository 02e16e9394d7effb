/**
 * Limits that client and server must agree on. Each has a unit, a value and what happens when it is passed.
 * Limits of one member alone are in `core/src/peer/limits.ts` and `server/src/config`.
 */

/** Largest request or reply of one call, bytes (ZooKeeper's jute.maxbuffer). Past it: INVALID_ARGUMENT, nothing proposed. */
export const REQUEST_BYTES_MAX = 1_048_575;

/** Most parts of one multi. Past it: INVALID_ARGUMENT, nothing proposed. */
export const MULTI_PARTS_MAX = 8_192;

/** Most bytes that one multiRead reads: a frame, without what is around the reply. Past it: INVALID_ARGUMENT. */
export const MULTI_READ_BYTES_MAX = 4 * 1024 * 1024 - 64 * 1024;

/** Znodes in a page of a listing: when the caller does not say, and at most. A wish for more is cut to this. */
export const LISTING_PAGE_DEFAULT = 1_000;
export const LISTING_PAGE_MAX = 4_096;

/**
 * Most bytes of data that the reads in one multi may return: what a write came to is kept until its client has it. Past it:
 * INVALID_ARGUMENT, nothing proposed.
 */
export const MULTI_DATA_BYTES_MAX = 256 * 1024;

/** Most znodes that one deleteSubtree deletes. Past it: the rest is left for the next one. */
export const SUBTREE_STEP_MAX = 1_000;

/** Most guards of one write. Past it: INVALID_ARGUMENT, nothing proposed. */
export const GUARDS_MAX = 16;

/** Largest frame on a session stream, bytes, announced in the server's hello. Past it the stream is closed. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;

/** Most calls or replies in one frame; a small frame can hold a great many empty ones. Past it the stream is closed. */
export const FRAME_ITEMS_MAX = 8_192;

/** Largest message on a peer link, bytes: one batch of proposals or one piece of a snapshot. Past it the link is closed. */
export const PEER_MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Longest path, bytes of UTF-8. ZooKeeper has only the frame limit; a path this long is a mistake. Past it: INVALID_ARGUMENT. */
export const PATH_BYTES_MAX = 65_535;

/** Longest TTL of a znode, ms: 2^40 − 1, about 34 years, as in ZooKeeper. Past it: INVALID_ARGUMENT. */
export const TTL_MAX_MS = 2 ** 40 - 1;

/** Length of a session's token, bytes (ZooKeeper's session password). */
export const SESSION_TOKEN_BYTES = 16;

/** Most numbered writes of a session whose results are not acknowledged. Past it: THROTTLED, and the write is not proposed. */
export const UNACKNOWLEDGED_MAX = 4_096;

/**
 * Bytes of results that a session's client leaves unacknowledged at most; it holds its writes back. A leader that finds twice as
 * much kept and in flight: THROTTLED.
 */
export const UNACKNOWLEDGED_BYTES_MAX = 2 * 1024 * 1024;

/** Default deadline of a call that names none, ms. */
export const CALL_TIMEOUT_DEFAULT_MS = 5_000;

/** Longest deadline that a call may ask for, ms. A longer one is cut to this. */
export const CALL_TIMEOUT_MAX_MS = 600_000;
