/** Planted faults in what makes a numbered write happen once. */
import type { PlantedFault } from './plant.ts';

/** A write comes without its number, and is done again when it is asked for again. */
export const numberLost: PlantedFault = {
  name: 'number-lost',
  breaks: 'a write that is asked for again takes no effect again',
  plant: () => ({
    event: (event) => (event.kind === 'call' ? [{ ...event, call: { ...event.call, numbered: undefined } }] : [event]),
  }),
};

/** Everything before a write counts as acknowledged: what came of it is forgotten. */
export const resultForgotten: PlantedFault = {
  name: 'result-forgotten',
  breaks: 'what a write came to is kept until its client has acknowledged it',
  plant: () => ({
    event: (event) => {
      if (event.kind !== 'call' || event.call.numbered === undefined) return [event];
      const { request } = event.call.numbered;
      return [{ ...event, call: { ...event.call, numbered: { request, acknowledged: request - 1 } } }];
    },
  }),
};
