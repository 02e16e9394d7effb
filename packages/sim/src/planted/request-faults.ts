/** Planted faults in what becomes of requests and sessions between a member and its leader. */
import type { PeerAction } from '@quorate/core';
import { type SessionId, ZERO_ZXID } from '@quorate/protocol';
import type { PlantedFault } from './plant.ts';

type Forward = Extract<PeerAction, { kind: 'send' }>['message'] & { kind: 'forward' };

/** Where things stand in a write request on its way: core, pipeline/write-request.ts. */
const KINDS = { create: 0, closeSession: 4 };
const FLAGS_AT = 1;
const EPHEMERAL = 2;
const SESSION_AT = 14;
/** With the count of identities, which is 0. */
const HEADER_BYTES = 23;

/** What the last leader was sent goes to the next one again, whether it was answered or not. */
export const forwardDoubled: PlantedFault = {
  name: 'forward-doubled',
  breaks: 'a write that was answered is not given to the next leader again',
  plant: () => {
    let before: { readonly link: number; readonly requests: Forward['requests'] } | undefined;
    return {
      action: (action) => {
        if (action.kind !== 'send' || action.message.kind !== 'forward') return [action];
        const { link, message } = action;
        const again = before !== undefined && before.link !== link ? before.requests : [];
        before = { link, requests: message.requests };
        return [{ ...action, message: { ...message, requests: [...again, ...message.requests] } }];
      },
    };
  },
};

/** A session goes on at a member that is behind what its client has seen. */
export const seenIgnored: PlantedFault = {
  name: 'seen-ignored',
  breaks: 'a session goes on only where all is applied that its client has seen',
  plant: () => ({
    event: (event) => (event.kind === 'attachSession' ? [{ ...event, lastZxidSeen: ZERO_ZXID }] : [event]),
  }),
};

/** A sync is answered when the leader has answered, wherever this member stands. */
export const syncNotAwaited: PlantedFault = {
  name: 'sync-not-awaited',
  breaks: 'a sync is answered when all that the leader named is applied',
  plant: () => ({
    event: (event) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'syncReply') return [event];
      return [{ ...event, message: { ...event.message, zxid: ZERO_ZXID } }];
    },
  }),
};

/** A delete of which nothing is known counts as done. */
export const lossAsSuccess: PlantedFault = {
  name: 'loss-as-success',
  breaks: 'a write is acknowledged when it stands in the history',
  plant: () => {
    const deletes = new Set<number>();
    return {
      event: (event) => {
        if (event.kind === 'call' && event.call.op.kind === 'delete') deletes.add(event.call.callId);
        return [event];
      },
      action: (action, site) => {
        if (action.kind !== 'answer' || !deletes.delete(action.callId)) return [action];
        const { result } = action.answer;
        if (result.kind !== 'error' || (result.code !== 'OUTCOME_UNKNOWN' && result.code !== 'UNAVAILABLE'))
          return [action];
        return [{ ...action, answer: { zxid: site.status().lastZxid, result: { kind: 'delete' } } }];
      },
    };
  },
};

/** What is created as an ephemeral stays. */
export const ephemeralKept: PlantedFault = {
  name: 'ephemeral-kept',
  breaks: 'an ephemeral ends with its session',
  plant: () => ({
    action: (action) => {
      if (action.kind !== 'send' || action.message.kind !== 'forward') return [action];
      return [{ ...action, message: { ...action.message, requests: action.message.requests.map(persistent) } }];
    },
  }),
};

function persistent(request: Uint8Array): Uint8Array {
  if (request[0] !== KINDS.create) return request;
  const changed = Uint8Array.from(request);
  changed[FLAGS_AT] = (changed[FLAGS_AT] ?? 0) & ~EPHEMERAL;
  return changed;
}

/** A leader ends a session of which it has just heard. */
export const liveSessionEnded: PlantedFault = {
  name: 'live-session-ended',
  breaks: 'a session ends at the wish of its client, or because that is silent',
  plant: () => {
    let seq = 0;
    return {
      event: (event, site) => {
        if (event.kind !== 'peerMessage' || event.message.kind !== 'touch' || !site.random.chance(0.05)) return [event];
        const session = event.message.sessions[0];
        if (session === undefined) return [event];
        seq += 1;
        const message = { kind: 'forward', requests: [closing(session, seq)] } as const;
        return [event, { ...event, message }];
      },
    };
  },
};

function closing(session: SessionId, seq: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = KINDS.closeSession;
  // An incarnation that no member has, so that nothing of its own is taken for a repetition.
  view.setUint32(4, 0xffff_fff0);
  view.setUint32(10, seq);
  view.setBigUint64(SESSION_AT, session);
  return bytes;
}

/** The clock of a leader gains: its ticks show three times the time that has passed in this epoch. */
export const expiryEarly: PlantedFault = {
  name: 'expiry-early',
  breaks: 'a session is not ended before its time is up',
  plant: () => {
    let sinceMs: number | undefined;
    return {
      now: (now, event, site) => {
        const { role, phase } = site.status();
        if (role !== 'leading' || phase !== 'broadcast') sinceMs = undefined;
        else sinceMs ??= now.monotonicMs;
        if (sinceMs === undefined || event.kind !== 'tick') return now;
        return { ...now, monotonicMs: now.monotonicMs + 3 * (now.monotonicMs - sinceMs) };
      },
    };
  },
};

/** Time is what the wall clock says, which may be set. */
export const wallClock: PlantedFault = {
  name: 'wall-clock',
  breaks: 'timeouts go by the monotonic clock',
  plant: () => {
    let aheadMs: number | undefined;
    let lastMs = 0;
    return {
      now: (now) => {
        aheadMs ??= now.wallMs - now.monotonicMs;
        lastMs = Math.max(lastMs, now.wallMs - aheadMs);
        return { ...now, monotonicMs: lastMs };
      },
    };
  },
};
