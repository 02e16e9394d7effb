/** Planted faults in what connections are told of what they watch. */
import type { PeerAction } from '@quorate/core';
import type { PlantedFault } from './plant.ts';

/** Some of it is never told. */
export const notificationLost: PlantedFault = {
  name: 'notification-lost',
  breaks: 'a connection is told of everything that its watches see',
  plant: () => ({
    action: (action, site) => (action.kind === 'notify' && site.random.chance(0.1) ? [] : [action]),
  }),
};

/** What is told comes behind the answer that shows it. */
export const notificationLate: PlantedFault = {
  name: 'notification-late',
  breaks: 'a connection is told of a change before any answer that could show it',
  plant: () => {
    let held: PeerAction[] = [];
    return {
      action: (action) => {
        if (action.kind === 'notify') {
          held.push(action);
          return [];
        }
        if (action.kind !== 'answer' || held.length === 0) return [action];
        const late = held;
        held = [];
        return [action, ...late];
      },
    };
  },
};
