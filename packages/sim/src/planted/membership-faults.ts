/** Planted faults in who leads and who is counted: votes, promises, acknowledgements that stand for what they do not. */
import type { PeerAction, PeerEvent } from '@quorate/core';
import { type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { PlantedFault, PlantSite } from './plant.ts';

type PeerMessageEvent = Extract<PeerEvent, { kind: 'peerMessage' }>;

/** The acknowledgement of one learner counts for another one too. */
export const ackCountsTwice: PlantedFault = {
  name: 'ack-counts-twice',
  breaks: 'each voter is counted once, for what it has itself',
  plant: () => {
    const links = new Map<Sid, number>();
    /** The last acknowledgement of each link, forged or not: they must rise. */
    const acked = new Map<number, Zxid>();
    return {
      event: (event, site) => {
        if (event.kind !== 'peerMessage') return [event];
        if (event.message.kind === 'ackNewLeader') links.set(event.sid, event.link);
        if (event.message.kind !== 'ack' || !isLeading(site)) return [event];
        const { zxid } = event.message;
        return [...links]
          .map(([sid, link]): PeerMessageEvent => ({ ...event, sid, link }))
          .filter(({ link }) => {
            if (zxid <= (acked.get(link) ?? ZERO_ZXID)) return false;
            acked.set(link, zxid);
            return true;
          });
      },
    };
  },
};

function isLeading(site: PlantSite): boolean {
  const { role, phase } = site.status();
  return role === 'leading' && phase === 'broadcast';
}

/** A learner adopts the epoch before that is on its disk. */
export const epochInMemory: PlantedFault = {
  name: 'epoch-in-memory',
  breaks: 'a learner says that it has adopted an epoch when that is on its disk',
  plant: () => ({
    action: (action: PeerAction, site) => {
      if (action.kind === 'persist' && action.command.kind === 'saveEpochs' && site.status().role === 'following') {
        site.inject({ kind: 'persisted', ticket: action.ticket });
      }
      return [action];
    },
  }),
};

/** Every sync is answered by the member itself. */
export const syncFromMemory: PlantedFault = {
  name: 'sync-from-memory',
  breaks: 'a sync asks the leader how far the history goes',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'send' || action.message.kind !== 'syncRequest') return [action];
      const { seq } = action.message;
      const message = { kind: 'syncReply', seq, zxid: site.status().lastZxid } as const;
      site.inject({ kind: 'peerMessage', sid: action.sid, link: action.link, message });
      return [];
    },
  }),
};

/** A member says that it holds the right to vote, whatever its disk was. */
export const rightClaimed: PlantedFault = {
  name: 'right-claimed',
  breaks: 'a voter whose disk is new or was lost is not counted before it holds the right again',
  plant: () => ({
    action: (action) => {
      if (action.kind !== 'send') return [action];
      const { message } = action;
      if (message.kind !== 'followerInfo' && message.kind !== 'notification') return [action];
      return [{ ...action, message: { ...message, voteRight: 'held' } }];
    },
  }),
};

/** A leader counts every voter that follows it, whether it holds the right or not. */
export const rightIgnored: PlantedFault = {
  name: 'right-ignored',
  breaks: 'a leader counts only voters that hold the right',
  plant: () => ({
    event: (event) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'followerInfo') return [event];
      return [{ ...event, message: { ...event.message, voteRight: 'held' } }];
    },
  }),
};
