/** The face of `sim`: run a seed, with or without a planted fault, and read what it came to. */
export { type CampaignHost, type CampaignOptions, parseArguments, runCampaign, USAGE } from './campaign.ts';
export { CHECKER_NAMES } from './checkers/all.ts';
export { COMMON, COVERED, type Coverage, noCoverage } from './coverage.ts';
export { describeObservation } from './describe.ts';
export { describeKnobs, drawKnobs, type Knobs } from './knobs.ts';
export {
  checkLinearizable,
  type LinearizabilityOptions,
  type LinearizabilityVerdict,
} from './linearizability/check.ts';
export type { History, HistoryCall, SeenResult, SeenStat } from './linearizability/history.ts';
export { type Observation, Violation } from './observation.ts';
export { PLANTED_FAULTS, plantedFault } from './planted/catalogue.ts';
export type { PlantedFault } from './planted/plant.ts';
export { Random } from './random.ts';
export { type Outcome, type SimulationOptions, simulate } from './simulate.ts';
