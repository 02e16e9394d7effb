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
  linearizableIgnored,
  sessionFifoBroken,
  staleRead,
  touchLost,
} from './client-faults.ts';
import {
  ackBeforeFlush,
  checkpointAhead,
  checkpointTorn,
  diskLies,
  epochBeforeHistory,
  failureIgnored,
  promiseForgotten,
  purgeTooMuch,
  snapshotTorn,
  truncateIgnored,
  truncateTooLittle,
} from './disk-faults.ts';
import { ackCountsTwice, epochInMemory, rightClaimed, rightIgnored, syncFromMemory } from './membership-faults.ts';
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
  ackCountsTwice,
  rightClaimed,
  rightIgnored,
  epochInMemory,
  syncFromMemory,
  failureIgnored,
  checkpointTorn,
  snapshotTorn,
  purgeTooMuch,
  truncateIgnored,
  linearizableIgnored,
];

/** The fault of that name, or undefined. */
export function plantedFault(name: string): PlantedFault | undefined {
  return PLANTED_FAULTS.find((fault) => fault.name === name);
}
