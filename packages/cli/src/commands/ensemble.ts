/** `quorate ensemble` as the command line knows it. What it does is loaded when it is called: other commands need none of it. */
import type { Argv, CommandModule } from 'yargs';

/** Flags as yargs hands them over. */
export interface EnsembleFlags {
  members: string | undefined;
  observers: string | undefined;
  data: string;
  'base-port': string | undefined;
  restart: boolean;
  only: string | undefined;
}

export const ensembleCommand: CommandModule<object, EnsembleFlags> = {
  command: 'ensemble',
  describe: 'Run a local ensemble: members as child processes on loopback',
  builder: buildEnsemble,
  handler: async (flags) => (await import('./ensemble-main.ts')).ensemble(flags),
};

function buildEnsemble(yargs: Argv): Argv<EnsembleFlags> {
  return yargs
    .strict(false)
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
