/** Every planted fault, by name. The README lists them with the seeds that each needs to be caught. */
import {
  commitOnProposal,
  commitWithoutQuorum,
  confirmWithoutQuorum,
  followerSkipsProposal,
} from './agreement-faults.ts';
import {
  answeredTwice,
  answerLost,
  deadTouched,
  failureInvented,
  sessionFifoBroken,
  staleRead,
  touchLost,
} from './client-faults.ts';
import {
  ackBeforeFlush,
  checkpointAhead,
  diskLies,
  epochBeforeHistory,
  promiseForgotten,
  truncateTooLittle,
} from './disk-faults.ts';
import type { PlantedFault } from './plant.ts';

export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ackBeforeFlush,
  commitWithoutQuorum,
  followerSkipsProposal,
  epochBeforeHistory,
  sessionFifoBroken,
  truncateTooLittle,
  commitOnProposal,
  confirmWithoutQuorum,
  diskLies,
  promiseForgotten,
  checkpointAhead,
  answeredTwice,
  answerLost,
  failureInvented,
  staleRead,
  touchLost,
  deadTouched,
];

/** The fault of that name, or undefined. */
export function plantedFault(name: string): PlantedFault | undefined {
  return PLANTED_FAULTS.find((fault) => fault.name === name);
}
