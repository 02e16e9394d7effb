/** `quorate ensemble`: members as child processes on this machine, for trying things out and for tests. */
import { resolve } from 'node:path';
import type { EnsembleFlags } from './ensemble.ts';
import { EnsembleError, type Plan, planEnsemble, readPlan } from './ensemble-plan.ts';
import { checkNotRunning, checkPortsFree } from './ensemble-ports.ts';
import { EnsembleRun } from './ensemble-run.ts';
import { argumentFault } from './unknown-flags.ts';

const EXIT_FAILED = 1;
const SIGNALS = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 } as const;

/** Runs the ensemble until a signal. */
export async function ensemble(flags: EnsembleFlags): Promise<void> {
  try {
    process.exitCode = await run(flags);
  } catch (error) {
    if (!(error instanceof EnsembleError)) throw error;
    process.stderr.write(`quorate ensemble: ${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  }
}

/** As `ensemble.ts` declares them. */
const KNOWN_FLAGS = ['members', 'observers', 'data', 'base-port', 'restart', 'only'];

async function run(flags: EnsembleFlags): Promise<number> {
  const fault = argumentFault({ ...flags }, KNOWN_FLAGS);
  if (fault !== undefined) throw new EnsembleError(fault);
  // Before the plan, which writes cluster.json: what runs there must not be told other ports.
  await checkNotRunning(resolve(flags.data), numberOf('only', flags.only));
  const plan = flags.only === undefined ? newPlan(flags) : readPlan(flags.data);
  const members = flags.only === undefined ? plan.members : [onlyMember(plan, flags.only)];
  await checkPortsFree(members);
  const running = new EnsembleRun({
    plan,
    members,
    restart: flags.restart,
    print: (line) => process.stdout.write(`${line}\n`),
  });
  let signals = 0;
  for (const [signal, number] of Object.entries(SIGNALS)) {
    process.on(signal, () => {
      signals++;
      if (signals === 1) void running.stop();
      else {
        running.kill();
        process.exit(128 + number);
      }
    });
  }
  return running.start();
}

function newPlan({ members, observers, data, 'base-port': basePort }: EnsembleFlags): Plan {
  return planEnsemble({
    data,
    members: numberOf('members', members),
    observers: numberOf('observers', observers),
    basePort: numberOf('base-port', basePort),
  });
}

function onlyMember(plan: Plan, only: string): Plan['members'][number] {
  const member = plan.members.find(({ sid }) => sid === numberOf('only', only));
  if (member !== undefined) return member;
  throw new EnsembleError(`Bad --only ${only}: ${plan.directory} holds the members 1 to ${plan.members.length}`);
}

function numberOf(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d{1,6}$/.test(value)) throw new EnsembleError(`Bad --${flag} ${value}: must be a whole number`);
  return Number(value);
}
