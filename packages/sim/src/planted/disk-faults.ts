/** Planted faults between a member and its disk: what is claimed to be durable, in which order it becomes so, what is cut. */
import type { PeerAction } from '@quorate/core';
import { ZERO_ZXID } from '@quorate/protocol';
import type { PlantedFault, PlantSite } from './plant.ts';

type Persist = Extract<PeerAction, { kind: 'persist' }>;

/** Appends are reported as durable when they are handed over. */
export const ackBeforeFlush: PlantedFault = {
  name: 'ack-before-flush',
  breaks: 'a member acknowledges only what its disk has synced',
  plant: () => ({
    action: (action, site) => {
      if (action.kind === 'persist' && action.command.kind === 'append') {
        site.inject({ kind: 'persisted', ticket: action.ticket });
      }
      return [action];
    },
  }),
};

/** The disk reports syncs that it has not made. */
export const diskLies: PlantedFault = {
  name: 'disk-lies',
  breaks: 'what was reported as durable survives a loss of power',
  hasLyingDisk: true,
  plant: () => ({}),
};

/** A learner's history is held back until its epochs are saved, and written after them. */
export const epochBeforeHistory: PlantedFault = {
  name: 'epoch-before-history',
  breaks: 'currentEpoch becomes durable after the history that the epoch starts from',
  plant: () => {
    let held: Persist[] = [];
    return {
      action: (action, site) => {
        if (action.kind !== 'persist') return [action];
        if (isSynchronizing(site) && action.command.kind === 'append') {
          held.push(action);
          return [];
        }
        const before = held;
        held = [];
        return action.command.kind === 'saveEpochs' ? reorder([action, ...before]) : [...before, action];
      },
      // Nothing is held back for ever: a turn's end outside of a synchronization lets it go.
      event: (event, site) => {
        if (held.length > 0 && !isSynchronizing(site))
          for (const { ticket } of held) site.inject({ kind: 'persisted', ticket });
        return [event];
      },
    };
  },
};

function isSynchronizing(site: PlantSite): boolean {
  const { role, phase } = site.status();
  return (role === 'following' || role === 'observing') && phase === 'synchronization';
}

/** The same work in this order, under the same tickets: they must rise. */
function reorder(actions: readonly Persist[]): readonly Persist[] {
  const tickets = actions.map(({ ticket }) => ticket).sort((a, b) => a - b);
  return actions.map(({ command }, index) => ({ kind: 'persist', ticket: tickets[index] ?? 0, command }));
}

/** A truncate leaves the first txn that it should remove. */
export const truncateTooLittle: PlantedFault = {
  name: 'truncate-too-little',
  breaks: "a learner's log is cut to exactly what it shares with the leader's",
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'persist' || action.command.kind !== 'truncate') return [action];
      const after = site.nextLogged(action.command.after) ?? action.command.after;
      return [{ ...action, command: { kind: 'truncate', after } }];
    },
  }),
};

/** A promise to follow a new epoch is not written down. */
export const promiseForgotten: PlantedFault = {
  name: 'promise-forgotten',
  breaks: 'acceptedEpoch is durable before a member promises an epoch',
  plant: () => ({
    action: (action) => {
      if (action.kind !== 'persist' || action.command.kind !== 'saveEpochs') return [action];
      const { currentEpoch } = action.command;
      return [{ ...action, command: { ...action.command, acceptedEpoch: currentEpoch } }];
    },
  }),
};

/** A checkpoint is labelled with the txn after the one that it shows. */
export const checkpointAhead: PlantedFault = {
  name: 'checkpoint-ahead',
  breaks: 'a checkpoint is exact at its zxid',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'checkpointCommit') return [action];
      return [{ kind: 'checkpointCommit', zxid: site.nextLogged(action.zxid) ?? action.zxid }];
    },
  }),
};

/** A write that failed is taken for done. */
export const failureIgnored: PlantedFault = {
  name: 'failure-ignored',
  breaks: 'what a failed disk was given is never acknowledged',
  plant: () => {
    let last = 0;
    return {
      action: (action) => {
        if (action.kind === 'persist') last = action.ticket;
        return [action];
      },
      event: (event) => (event.kind === 'storageFailed' ? [{ kind: 'persisted', ticket: last }] : [event]),
    };
  },
};

/** A record is missing from some part of a checkpoint. */
export const checkpointTorn: PlantedFault = {
  name: 'checkpoint-torn',
  breaks: 'a checkpoint holds every record that has changed',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'checkpointPut' || !site.random.chance(0.2)) return [action];
      return [{ ...action, records: action.records.slice(0, -1) }];
    },
  }),
};

/** A record is missing from a snapshot. */
export const snapshotTorn: PlantedFault = {
  name: 'snapshot-torn',
  breaks: 'a snapshot brings the whole state',
  plant: () => ({
    event: (event) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'stateChunk') return [event];
      const records = event.message.records.filter(({ key }) => !keyOf(key).startsWith('s'));
      return [{ ...event, message: { kind: 'stateChunk', records } }];
    },
  }),
};

/** The log is dropped up to the txn after the checkpoint. */
export const purgeTooMuch: PlantedFault = {
  name: 'purge-too-much',
  breaks: 'the log keeps everything after the checkpoint',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'persist' || action.command.kind !== 'purgeLog') return [action];
      const through = site.nextLogged(action.command.through) ?? action.command.through;
      return [{ ...action, command: { kind: 'purgeLog', through } }];
    },
  }),
};

/** A truncate is not carried out. */
export const truncateIgnored: PlantedFault = {
  name: 'truncate-ignored',
  breaks: 'what the leader does not have is removed from the log',
  plant: () => ({
    action: (action) => {
      if (action.kind !== 'persist' || action.command.kind !== 'truncate') return [action];
      return [{ ...action, command: { kind: 'append', records: [], committed: ZERO_ZXID } }];
    },
  }),
};

function keyOf(key: Uint8Array): string {
  return String.fromCharCode(...key);
}
