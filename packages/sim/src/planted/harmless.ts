/**
 * Planted faults that break no promise about data: something else holds, README.md says what. They are no proof of the checkers;
 * if a checker of safety ever finds one, the reason given there is wrong.
 */
import type { PeerAction, PeerEvent } from '@quorate/core';
import type { PlantedFault } from './plant.ts';

/** A member says that it has promised nothing since its last epoch, and its second promise of an epoch counts like the first. */
const promiseGivenTwice: PlantedFault = {
  name: 'promise-given-twice',
  breaks: 'an epoch is promised to one leader',
  plant: () => ({
    action: (action: PeerAction) => {
      if (action.kind !== 'send') return [action];
      const { message } = action;
      if (message.kind === 'followerInfo') return [{ ...action, message: { ...message, acceptedEpoch: 0 } }];
      if (message.kind === 'ackEpoch') return [{ ...action, message: { ...message, counted: true } }];
      return [action];
    },
  }),
};

/** A leader counts a promise that was given before. */
const promiseCountedAgain: PlantedFault = {
  name: 'promise-counted-again',
  breaks: 'a promise counts for the leader that it was given to',
  plant: () => ({
    event: (event: PeerEvent) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'ackEpoch') return [event];
      return [{ ...event, message: { ...event.message, counted: true } }];
    },
  }),
};

/** The leader grants sessions that have ended. */
const deadSessionGranted: PlantedFault = {
  name: 'dead-session-granted',
  breaks: 'a session that has ended is attached nowhere',
  plant: () => ({
    event: (event: PeerEvent) => {
      if (event.kind !== 'peerMessage' || event.message.kind !== 'revalidated') return [event];
      if (event.message.error === undefined) return [event];
      return [{ ...event, message: { ...event.message, error: undefined, timeoutMs: 1_000 } }];
    },
  }),
};

export const HARMLESS_FAULTS: readonly PlantedFault[] = [promiseCountedAgain, promiseGivenTwice, deadSessionGranted];
