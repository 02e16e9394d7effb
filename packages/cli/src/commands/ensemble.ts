/** `quorate ensemble`: members as child processes on this machine, for trying things out and for tests. */
import type { Argv, CommandModule } from 'yargs';
import { EnsembleError, type Plan, planEnsemble, readPlan } from './ensemble-plan.ts';
import { checkPortsFree } from './ensemble-ports.ts';
import { EnsembleRun } from './ensemble-run.ts';

/** Flags as yargs hands them over. */
interface EnsembleFlags {
  members: string | undefined;
  observers: string | undefined;
  data: string;
  'base-port': string | undefined;
  restart: boolean;
  only: string | undefined;
}

const EXIT_FAILED = 1;
const SIGNALS = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 } as const;

export const ensembleCommand: CommandModule<object, EnsembleFlags> = {
  command: 'ensemble',
  describe: 'Run a local ensemble: members as child processes on loopback',
  builder: buildEnsemble,
  handler: ensemble,
};

function buildEnsemble(yargs: Argv): Argv<EnsembleFlags> {
  return yargs
    .usage('$0 ensemble [--members N] [--observers M] [--data DIR] [--base-port P]')
    .option('members', { type: 'string', requiresArg: true, describe: 'Voting members [default: as before, else 3]' })
    .option('observers', { type: 'string', requiresArg: true, describe: 'Observers [default: as before, else 0]' })
    .option('data', {
      type: 'string',
      requiresArg: true,
      default: './data',
      describe: 'Folder for data, logs, ensemble.json',
    })
    .option('base-port', {
      type: 'string',
      requiresArg: true,
      describe:
        'Member i uses P+i-1 (ZooKeeper), P+100+i-1 (gRPC), P+200+i-1 (peers), P+300+i-1 (admin) [default: as before, else 2181]',
    })
    .option('restart', { type: 'boolean', default: false, describe: 'Start a member again that ended by itself' })
    .option('only', {
      type: 'string',
      requiresArg: true,
      describe: 'Start only this member of the ensemble in DIR, again',
    });
}

async function ensemble(flags: EnsembleFlags): Promise<void> {
  try {
    process.exitCode = await run(flags);
  } catch (error) {
    if (!(error instanceof EnsembleError)) throw error;
    process.stderr.write(`quorate ensemble: ${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  }
}

async function run(flags: EnsembleFlags): Promise<number> {
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
