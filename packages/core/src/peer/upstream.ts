/** The two ways to the leader's desk: across this member, with nothing encoded, and over a link. */
import type { Sid } from '@quorate/protocol';
import type { Upstream } from '../pipeline/entry.ts';
import type { LeaderDesk } from '../pipeline/leader-desk.ts';
import { encodeWriteRequest } from '../pipeline/write-request.ts';
import type { Now } from './events.ts';
import type { RequestMessage } from './messages.ts';

/** Bytes of requests in one forward message; with one request more it is still far below the limit of a link. */
const FORWARD_BYTES = 1024 * 1024;

/** To the desk of this very member, `sid`. */
export function upstreamAcross(sid: Sid, desk: LeaderDesk, now: () => Now): Upstream {
  return {
    forward: (requests) => desk.order(sid, requests, now()),
    send: (message) => {
      if (message.kind === 'syncRequest') desk.sync(sid, message.seq);
      else if (message.kind === 'touch') desk.touch(message.sessions);
      else if (message.kind === 'revalidate') desk.revalidate(sid, message);
    },
  };
}

/** To another member's desk; `send` puts a message on the link over which it is followed. */
export function upstreamOver(send: (message: RequestMessage) => void): Upstream {
  return {
    send,
    forward: (requests) => {
      let part: Uint8Array[] = [];
      let bytes = 0;
      for (const request of requests) {
        const encoded = encodeWriteRequest(request);
        if (bytes > 0 && bytes + encoded.length > FORWARD_BYTES) {
          send({ kind: 'forward', requests: part });
          part = [];
          bytes = 0;
        }
        part.push(encoded);
        bytes += encoded.length;
      }
      if (part.length > 0) send({ kind: 'forward', requests: part });
    },
  };
}
