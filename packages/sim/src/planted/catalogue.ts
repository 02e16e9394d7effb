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
  touchIgnored,
  touchLost,
} from './client-faults.ts';
import {
  adminIgnored,
  containerAstray,
  guardIgnored,
  multiHalved,
  pageShort,
  partUnguarded,
  readUnguarded,
  stepUnbounded,
  ttlAstray,
} from './data-model-faults.ts';
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
import { HARMLESS_FAULTS } from './harmless.ts';
import {
  adoptionCountsTwice,
  laggardLeads,
  oldEpochCommitted,
  promiseCountsTwice,
  rightAtOnce,
  voteUngranted,
} from './history-faults.ts';
import { ackCountsTwice, epochInMemory, rightClaimed, rightIgnored, syncFromMemory } from './membership-faults.ts';
import { numberLost, resultForgotten } from './once-faults.ts';
import type { PlantedFault } from './plant.ts';
import {
  divergenceIgnored,
  snapshotMerged,
  tornTailAccepted,
  truncateTooMuch,
  watermarkAhead,
} from './recovery-faults.ts';
import {
  ephemeralKept,
  expiryEarly,
  forwardDoubled,
  liveSessionEnded,
  lossAsSuccess,
  seenIgnored,
  syncNotAwaited,
  wallClock,
} from './request-faults.ts';
import { notificationLate, notificationLost } from './watch-faults.ts';

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
  touchIgnored,
  laggardLeads,
  promiseCountsTwice,
  adoptionCountsTwice,
  oldEpochCommitted,
  voteUngranted,
  rightAtOnce,
  forwardDoubled,
  seenIgnored,
  syncNotAwaited,
  lossAsSuccess,
  ephemeralKept,
  liveSessionEnded,
  expiryEarly,
  wallClock,
  watermarkAhead,
  truncateTooMuch,
  snapshotMerged,
  tornTailAccepted,
  divergenceIgnored,
  numberLost,
  resultForgotten,
  multiHalved,
  guardIgnored,
  readUnguarded,
  partUnguarded,
  adminIgnored,
  containerAstray,
  ttlAstray,
  notificationLost,
  notificationLate,
  pageShort,
  stepUnbounded,
];

/** Those that take too many seeds for a unit test; test/sim/planted.long.e2e.test.ts has them. */
export const RARE_FAULTS: ReadonlySet<PlantedFault> = new Set([
  confirmWithoutQuorum,
  failureIgnored,
  snapshotTorn,
  laggardLeads,
  promiseCountsTwice,
  adoptionCountsTwice,
  rightAtOnce,
  syncNotAwaited,
  truncateTooMuch,
  tornTailAccepted,
  seenIgnored,
  wallClock,
  partUnguarded,
  containerAstray,
  answerLost,
  purgeTooMuch,
  snapshotMerged,
  stepUnbounded,
]);

/** The fault of that name, harmless or not, or undefined. */
export function plantedFault(name: string): PlantedFault | undefined {
  return [...PLANTED_FAULTS, ...HARMLESS_FAULTS].find((fault) => fault.name === name);
}
