/** The face of `sim`: run a seed, with or without a planted fault, and read what it came to. */
export { type CampaignOptions, parseArguments, USAGE } from './arguments.ts';
export { type CampaignHost, runCampaign } from './campaign.ts';
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
export { type Measured, measureFaults } from './measure-faults.ts';
export { type Observation, Violation } from './observation.ts';
export { PLANTED_FAULTS, plantedFault, RARE_FAULTS } from './planted/catalogue.ts';
export type { PlantedFault } from './planted/plant.ts';
export { Random } from './random.ts';
export { parseScript, printScript, type Script } from './script.ts';
export { runSeedTask, type SeedResult, type SeedTask } from './seed-run.ts';
export { type ShrinkOptions, type Shrunk, shrink } from './shrink.ts';
export { type Outcome, type SimulationOptions, simulate } from './simulate.ts';
