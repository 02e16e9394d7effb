/** The face of `sim`: run a seed, with or without a planted fault, and read what it came to. */
export { type CampaignHost, type CampaignOptions, parseArguments, runCampaign, USAGE } from './campaign.ts';
export { type Coverage, COVERED, noCoverage } from './coverage.ts';
export { describeObservation } from './describe.ts';
export { describeKnobs, drawKnobs, type Knobs } from './knobs.ts';
export { type Observation, Violation } from './observation.ts';
export { plantedFault, PLANTED_FAULTS } from './planted/catalogue.ts';
export type { PlantedFault } from './planted/plant.ts';
export { type Outcome, simulate, type SimulationOptions } from './simulate.ts';
