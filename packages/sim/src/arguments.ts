/** The command line of a campaign: what can be asked for, and its meaning as options. */
import { CHECKER_NAMES } from './checkers/all.ts';
import { PLANTED_FAULTS, plantedFault } from './planted/catalogue.ts';
import type { PlantedFault } from './planted/plant.ts';

export interface CampaignOptions {
  readonly from: number;
  /** How many seeds; Infinity when the time decides. */
  readonly seeds: number;
  /** How long to go on; undefined: until the seeds are done. */
  readonly minutes: number | undefined;
  /** Processes, or threads, that run seeds beside each other. */
  readonly jobs: number;
  readonly fault: PlantedFault | undefined;
  /** Names of the only checkers to ask; undefined: all. */
  readonly checkers: readonly string[] | undefined;
  /** Prints everything that happens. */
  readonly verbose: boolean;
  /** Goes on after a violation, and reports all at the end. */
  readonly keepGoing: boolean;
  /** How long the shrinking of one failing seed may take, s; 0: no shrinking. */
  readonly shrinkSeconds: number;
  /** A script to run instead of seeds. */
  readonly replay: string | undefined;
  /** Measures how many seeds each planted fault needs, instead of running seeds. */
  readonly measureFaults: boolean;
}

export const USAGE = `Usage: npm run sim -- [--seeds N | --minutes N] [--from S] [--jobs N] [--fault NAME] [--checkers A,B] [--keep-going] [--verbose]
       npm run sim -- --replay FILE [--verbose]
       npm run sim -- --measure-faults [--fault NAME] [--jobs N]
  --seeds N          how many seeds to run, default 100
  --minutes N        run seeds for so long instead, and go on after violations
  --from S           the first seed; default 1, with --minutes drawn from the clock
  --jobs N           run so many seeds beside each other, default 1
  --fault NAME       plant a fault: ${PLANTED_FAULTS.map(({ name }) => name).join(', ')}
  --checkers A,B     ask only these: ${CHECKER_NAMES.join(', ')}
  --keep-going       do not stop at the first violation
  --shrink-seconds N how long the shrinking of a failing seed may take, default 60; 0: none
  --verbose          print everything that happens, in virtual time
  --replay FILE      run the script of a failing seed that was shrunk
  --measure-faults   how many seeds each planted fault needs until it is caught: the median of ten starts
Exit code 1 when a rule was broken, 2 when the arguments are wrong.`;

type Draft = { -readonly [K in keyof CampaignOptions]: CampaignOptions[K] };

const NUMBERS: Readonly<Record<string, (options: Draft, value: number) => void>> = {
  '--seeds': (options, value) => {
    options.seeds = value;
  },
  '--from': (options, value) => {
    options.from = value;
  },
  '--jobs': (options, value) => {
    options.jobs = Math.max(1, value);
  },
  '--minutes': (options, value) => {
    options.minutes = value;
    options.seeds = Infinity;
    options.keepGoing = true;
  },
  '--shrink-seconds': (options, value) => {
    options.shrinkSeconds = value;
  },
};

const SWITCHES: Readonly<Record<string, (options: Draft) => void>> = {
  '--verbose': (options) => {
    options.verbose = true;
  },
  '--keep-going': (options) => {
    options.keepGoing = true;
  },
  '--measure-faults': (options) => {
    options.measureFaults = true;
  },
};

/** Reads the command line. Returns what is wrong with it as text. `clock`: a number from which a start can be drawn. */
export function parseArguments(words: readonly string[], clock = 1): CampaignOptions | string {
  const options: Draft = {
    from: words.includes('--minutes') ? clock : 1,
    seeds: 100,
    minutes: undefined,
    jobs: 1,
    fault: undefined,
    checkers: undefined,
    verbose: false,
    keepGoing: false,
    shrinkSeconds: 60,
    replay: undefined,
    measureFaults: false,
  };
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const setSwitch = SWITCHES[word];
    if (setSwitch !== undefined) {
      setSwitch(options);
      continue;
    }
    at += 1;
    const wrong = takeValue(options, word, words[at]);
    if (wrong !== undefined) return wrong;
  }
  return options;
}

/** Takes one argument with its value. Returns what is wrong with it. */
function takeValue(options: Draft, word: string, value: string | undefined): string | undefined {
  const setNumber = NUMBERS[word];
  if (setNumber !== undefined) {
    const number = Number(value ?? Number.NaN);
    if (!Number.isSafeInteger(number) || number < 0) return `Bad value for ${word}: ${value ?? 'none'}`;
    setNumber(options, number);
    return undefined;
  }
  if (word === '--fault') {
    options.fault = plantedFault(value ?? '');
    return options.fault === undefined ? `There is no planted fault named "${value ?? ''}"` : undefined;
  }
  if (word === '--checkers') {
    options.checkers = (value ?? '').split(',');
    const unknown = options.checkers.find((name) => !CHECKER_NAMES.includes(name));
    return unknown === undefined ? undefined : `There is no checker named "${unknown}"`;
  }
  if (word !== '--replay') return `Unknown argument: ${word}`;
  if (value === undefined) return 'Bad value for --replay: none';
  options.replay = value;
  return undefined;
}
