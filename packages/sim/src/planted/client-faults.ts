/** Planted faults between a member and its clients: order, number and truth of answers, and who is alive. */
import type { PeerAction, PeerEvent } from '@quorate/core';
import type { SessionId } from '@quorate/protocol';
import type { PlantedFault } from './plant.ts';

type CallEvent = Extract<PeerEvent, { kind: 'call' }>;
type AnswerAction = Extract<PeerAction, { kind: 'answer' }>;

/** Two calls of one stream that come right after each other are taken in the wrong order. */
export const sessionFifoBroken: PlantedFault = {
  name: 'session-fifo-broken',
  breaks: 'the calls of a session are carried out and answered in the order in which they came',
  plant: () => {
    let held: CallEvent | undefined;
    return {
      event: (event) => {
        const before = held;
        held = undefined;
        if (before !== undefined) {
          const isSwapped = event.kind === 'call' && event.call.attachment === before.call.attachment;
          return isSwapped ? [event, before] : [before, event];
        }
        if (event.kind !== 'call' || event.call.attachment === 0) return [event];
        held = event;
        return [];
      },
    };
  },
};

/** Some answers are given twice. */
export const answeredTwice: PlantedFault = {
  name: 'answered-twice',
  breaks: 'a call is answered once',
  plant: () => ({
    action: (action, site) => (action.kind === 'answer' && site.random.chance(0.02) ? [action, action] : [action]),
  }),
};

/** Some answers are never given. */
export const answerLost: PlantedFault = {
  name: 'answer-lost',
  breaks: 'a call is answered',
  plant: () => ({
    action: (action, site) => (action.kind === 'answer' && site.random.chance(0.01) ? [] : [action]),
  }),
};

/** A failure is answered as it was, but the write that it says did not happen has happened. */
export const failureInvented: PlantedFault = {
  name: 'failure-invented',
  breaks: 'what is answered as surely not done was not done',
  plant: () => ({
    action: (action, site) => {
      if (action.kind !== 'answer' || action.answer.result.kind !== 'create' || !site.random.chance(0.05))
        return [action];
      const result = { kind: 'error', code: 'UNAVAILABLE', path: undefined, message: 'invented' } as const;
      return [{ ...action, answer: { ...action.answer, result } }];
    },
  }),
};

/** A read is now and then answered with what the one before it was answered. */
export const staleRead: PlantedFault = {
  name: 'stale-read',
  breaks: 'a session never sees an older state than before',
  plant: () => {
    let before: AnswerAction | undefined;
    return {
      action: (action, site) => {
        if (action.kind !== 'answer' || action.answer.result.kind !== 'getData') return [action];
        const stale = before;
        before = action;
        return stale !== undefined && site.random.chance(0.3) ? [{ ...action, answer: stale.answer }] : [action];
      },
    };
  },
};

/** Nothing is told to the leader of who was heard from. */
export const touchLost: PlantedFault = {
  name: 'touch-lost',
  breaks: 'a session whose client is heard lives on',
  plant: () => ({
    action: (action) => (action.kind === 'send' && action.message.kind === 'touch' ? [] : [action]),
  }),
};

/** A leader does not listen when it is told who was heard from. */
export const touchIgnored: PlantedFault = {
  name: 'touch-ignored',
  breaks: 'a leader gives a session its whole timeout from each time it is told of it',
  plant: () => ({
    event: (event) => (event.kind === 'peerMessage' && event.message.kind === 'touch' ? [] : [event]),
  }),
};

/** A member goes on telling the leader of every session that it ever heard from. */
export const deadTouched: PlantedFault = {
  name: 'dead-touched',
  breaks: 'a session whose client is silent ends',
  plant: () => {
    const ever = new Set<SessionId>();
    return {
      action: (action, site) => {
        if (action.kind !== 'send') return [action];
        if (action.message.kind === 'touch') for (const session of action.message.sessions) ever.add(session);
        if (action.message.kind !== 'pong' || site.status().phase !== 'broadcast') return [action];
        return [action, { ...action, message: { kind: 'touch', sessions: [...ever] } }];
      },
    };
  },
};

/** Linearizable reads are answered like any other. */
export const linearizableIgnored: PlantedFault = {
  name: 'linearizable-ignored',
  breaks: 'a linearizable read is answered only after the leader was asked',
  plant: () => ({
    event: (event) => (event.kind === 'call' ? [{ ...event, call: { ...event.call, linearizable: false } }] : [event]),
  }),
};
