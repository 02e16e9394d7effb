/**
 * What the peer codec's two halves share: the field numbers of `quorate.peer.v1`. The rules of the wire format itself are
 * in `@quorate/protocol/frames`. The proto file is the contract; codec.test.ts holds these numbers against it.
 */
import type { PeerMessage, ServerState, VoteRight } from '@quorate/core';

/** Field of each message in the oneof `PeerMessage.kind`. */
export const FIELD_OF_KIND: { readonly [K in PeerMessage['kind']]: number } = {
  propose: 1,
  ack: 2,
  commit: 3,
  forward: 4,
  ping: 5,
  pong: 6,
  touch: 7,
  syncRequest: 8,
  syncReply: 9,
  notification: 20,
  followerInfo: 21,
  leaderInfo: 22,
  ackEpoch: 23,
  truncate: 24,
  snapshot: 25,
  stateChunk: 26,
  stateEnd: 27,
  diff: 28,
  newLeader: 29,
  ackNewLeader: 30,
  upToDate: 31,
  voteClaim: 32,
  voteGrant: 33,
  voteTaken: 34,
  revalidate: 40,
  revalidated: 41,
  sessionMoved: 42,
  compareDigest: 50,
  digestAt: 51,
  digestAgreed: 52,
};

/** The kind of each field, for the reader. */
export const KIND_OF_FIELD: ReadonlyMap<number, PeerMessage['kind']> = new Map(
  Object.entries(FIELD_OF_KIND).map(([kind, field]) => [field, kind as PeerMessage['kind']]),
);

/** Numbers of `quorate.peer.v1.ServerState`; 0 is "not stated". */
export const SERVER_STATES: readonly (ServerState | undefined)[] = [
  undefined,
  'looking',
  'following',
  'leading',
  'observing',
];

/** Numbers of `quorate.peer.v1.VoteRight`; 0 is "not stated". */
export const VOTE_RIGHTS: readonly (VoteRight | undefined)[] = [undefined, 'unformed', 'held', 'recovering'];

/** Fields of LinkRequest and LinkResponse, which are the same. */
export const FRAME_HELLO = 1;
export const FRAME_MESSAGES = 2;
