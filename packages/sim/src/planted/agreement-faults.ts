/** Planted faults between a member and its peers: acknowledgements, proposals, commits and confirmations that are not true. */
import { decodeTxn, encodeTxn, type LogRecord, type PeerAction, type PeerEvent } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';
import type { PlantedFault } from './plant.ts';

type PeerMessageEvent = Extract<PeerEvent, { kind: 'peerMessage' }>;
type Send = Extract<PeerAction, { kind: 'send' }>;

/** The answer that a learner would give, put into the leader's queue as if it had come. */
function forged({ sid, link }: Send, message: PeerMessageEvent['message']): PeerEvent {
  return { kind: 'peerMessage', sid, link, message };
}

/** Every proposal counts as acknowledged by its learner when it is sent. */
export const commitWithoutQuorum: PlantedFault = {
  name: 'commit-without-quorum',
  breaks: 'a leader commits only what a quorum has on disk',
  plant: () => {
    /** What was forged for each link: real acks that say less would be noticed. */
    const acked = new Map<number, Zxid>();
    return {
      action: (action, site) => {
        const last =
          action.kind === 'send' && action.message.kind === 'propose' ? action.message.records.at(-1) : undefined;
        if (action.kind === 'send' && last !== undefined && site.status().phase === 'broadcast') {
          acked.set(action.link, last.zxid);
          site.inject(forged(action, { kind: 'ack', zxid: last.zxid }));
        }
        return [action];
      },
      event: (event) => {
        if (event.kind !== 'peerMessage' || event.message.kind !== 'ack') return [event];
        return event.message.zxid < (acked.get(event.link) ?? 0n) ? [] : [event];
      },
    };
  },
};

/** A follower logs, now and then, an empty txn in the place of the one that was proposed. */
export const followerSkipsProposal: PlantedFault = {
  name: 'follower-skips-proposal',
  breaks: 'a follower logs and applies every proposal',
  plant: () => ({
    event: (event, site) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'propose') return [event];
      const records = event.message.records.map((record) => (site.random.chance(0.05) ? emptied(record) : record));
      return [{ ...event, message: { ...event.message, records } }];
    },
  }),
};

function emptied({ zxid, payload }: LogRecord): LogRecord {
  const txn = decodeTxn(payload);
  return {
    zxid,
    payload: encodeTxn({ ...txn, body: { kind: 'error', code: 'NO_NODE', path: undefined, message: '' } }),
  };
}

/** A follower takes every proposal for committed. */
export const commitOnProposal: PlantedFault = {
  name: 'commit-on-proposal',
  breaks: 'a learner applies only what its leader has declared committed',
  plant: () => ({
    event: (event, site) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'propose') return [event];
      const last = event.message.records.at(-1);
      if (last === undefined || site.status().phase !== 'broadcast') return [event];
      return [{ ...event, message: { ...event.message, committed: last.zxid } }];
    },
  }),
};

/** A leader takes every ping for answered: it never learns that it was deposed before its time is up. */
export const confirmWithoutQuorum: PlantedFault = {
  name: 'confirm-without-quorum',
  breaks: 'a sync or linearizable read is answered only after a quorum has confirmed the leader',
  plant: () => ({
    action: (action, site) => {
      if (action.kind === 'send' && action.message.kind === 'ping') {
        site.inject(forged(action, { kind: 'pong', seq: action.message.seq }));
      }
      return [action];
    },
  }),
};
