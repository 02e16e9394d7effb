/** Planted faults in how an epoch begins: who is behind, who is counted, from when on the old history counts as committed. */
import type { PeerAction, PeerEvent, PeerMessage } from '@quorate/core';
import { type Sid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { Plant, PlantedFault, PlantSite } from './plant.ts';

/** A member that is behind says in the election that it is not, and as a leader does not notice who is ahead of it. */
export const laggardLeads: PlantedFault = {
  name: 'laggard-leads',
  breaks: 'nobody leads who is behind a member of its quorum',
  plant: () => {
    let boast: number | undefined;
    return {
      action: (action, site) => {
        boast ??= site.random.between(0, 3);
        if (action.kind !== 'send' || action.message.kind !== 'notification') return [action];
        return [{ ...action, message: boasted(action.message, site.sid, boast) }];
      },
      event: (event, site) => {
        if (event.kind !== 'peerMessage') return [event];
        const { message } = event;
        if (message.kind === 'ackEpoch') return [{ ...event, message: { ...message, currentEpoch: 0 } }];
        if (message.kind !== 'notification') return [event];
        return [{ ...event, message: boasted(message, site.sid, -(boast ?? 0)) }];
      },
    };
  },
};

/** The same notification, with votes for `sid` that claim so many epochs more. */
function boasted<T extends Extract<PeerMessage, { kind: 'notification' }>>(message: T, sid: Sid, by: number): T {
  const { vote, state } = message;
  if (vote.leader !== sid || state !== 'looking') return message;
  return { ...message, vote: { ...vote, peerEpoch: Math.max(0, vote.peerEpoch + by) } };
}

/**
 * What one learner says at this step counts for every other that was asked the same. What those say later is dropped, for a
 * leader takes it once.
 */
function countedForAll(asked: PeerMessage['kind'], answer: PeerMessage['kind']): Plant {
  /** Who was asked and has not answered. */
  const waiting = new Map<Sid, number>();
  const forged = new Set<number>();
  return {
    action: (action: PeerAction) => {
      if (action.kind === 'send' && action.message.kind === asked) waiting.set(action.sid, action.link);
      return [action];
    },
    event: (event: PeerEvent) => {
      if (event.kind === 'linkDown' && waiting.get(event.sid) === event.link) waiting.delete(event.sid);
      if (event.kind !== 'peerMessage' || event.message.kind !== answer) return [event];
      if (forged.has(event.link)) return [];
      waiting.delete(event.sid);
      const others = [...waiting].map(([sid, link]): PeerEvent => ({ ...event, sid, link }));
      for (const link of waiting.values()) forged.add(link);
      waiting.clear();
      return [event, ...others];
    },
  };
}

/** One promise is enough. */
export const promiseCountsTwice: PlantedFault = {
  name: 'promise-counts-twice',
  breaks: 'a quorum has promised an epoch before it begins',
  plant: () => countedForAll('leaderInfo', 'ackEpoch'),
};

/** One learner that has adopted the epoch with its history is enough. */
export const adoptionCountsTwice: PlantedFault = {
  name: 'adoption-counts-twice',
  breaks: 'a quorum has the history of an epoch on disk before anything is committed in it',
  plant: () => countedForAll('newLeader', 'ackNewLeader'),
};

/** A learner takes all that the epoch begins with for committed as soon as it has it, as in Paxos one would by counting disks. */
export const oldEpochCommitted: PlantedFault = {
  name: 'old-epoch-committed',
  breaks: 'what is left of earlier epochs is committed by a quorum that adopts the new one',
  plant: () => {
    let last: Zxid = ZERO_ZXID;
    let isEarly = false;
    return {
      action: (action, site) => {
        if (action.kind !== 'send' || action.message.kind !== 'ackNewLeader') return [action];
        isEarly = true;
        const { sid, link } = action;
        site.inject({ kind: 'peerMessage', sid, link, message: { kind: 'upToDate', committed: last } });
        return [action];
      },
      event: (event) => {
        if (event.kind !== 'peerMessage') return [event];
        const { message } = event;
        if (message.kind === 'newLeader') last = message.lastZxid;
        if (message.kind !== 'upToDate' || !isEarly) return [event];
        if (message.committed === last) {
          last = -1n as Zxid;
          return [event];
        }
        isEarly = false;
        return [{ ...event, message: { kind: 'commit', zxid: message.committed } }];
      },
    };
  },
};

/** A voter that lost its disk takes its vote as soon as it has claimed it. */
export const voteUngranted: PlantedFault = {
  name: 'vote-ungranted',
  breaks: 'a voter that lost its disk has its vote back when a quorum without it has confirmed its leader',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'send' || action.message.kind !== 'voteClaim') return [action];
      const { sid, link } = action;
      const message = { kind: 'voteGrant', zxid: site.status().committed } as const;
      site.inject({ kind: 'peerMessage', sid, link, message });
      return [];
    },
    event: (event: PeerEvent) => [event],
  }),
};

/** A recovering voter writes down that it holds the right. */
export const rightAtOnce: PlantedFault = {
  name: 'right-at-once',
  breaks: 'a voter whose disk is new or was lost does not have the right on disk before it is granted',
  plant: () => ({
    action: (action: PeerAction, site: PlantSite) => {
      if (action.kind !== 'persist' || action.command.kind !== 'saveEpochs') return [action];
      if (site.status().voteRight === 'held') return [action];
      return [{ ...action, command: { ...action.command, voteRight: 'held' } }];
    },
  }),
};
