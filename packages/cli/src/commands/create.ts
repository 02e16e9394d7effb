/**
 * `quorate create PATH [DATA]`: makes a znode. Not an ephemeral one: it would go with the session of the command, which
 * ends with the command.
 */
import { dataCommand } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import { DATA_HELP, readData } from '../invocation/input.ts';
import { statFields } from '../invocation/render.ts';

interface CreateFlags {
  readonly path: string;
  readonly data: string | undefined;
  readonly sequential: boolean;
  readonly parents: boolean;
  readonly ephemeral: boolean;
}

export const createCommand = dataCommand<CreateFlags>({
  command: 'create <path> [data]',
  describe: 'Create a znode and print its path',
  builder: (argv) =>
    argv
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .positional('data', { type: 'string', describe: `${DATA_HELP}; without it the znode holds null` })
      .option('sequential', { alias: 's', type: 'boolean', default: false, describe: 'Append a ten-digit counter' })
      .option('parents', { alias: 'p', type: 'boolean', default: false, describe: 'Create missing ancestors' })
      .option('ephemeral', { alias: 'e', type: 'boolean', default: false, hidden: true }),
  prepare: ({ path, data, sequential, parents, ephemeral }) => {
    if (ephemeral) {
      throw new UsageError('An ephemeral znode would go with the session of this command; use a client that stays');
    }
    const bytes = data === undefined ? undefined : readData(data);
    return async (client, budget) => {
      const created = await client.create(path, bytes, { ...budget(), sequential, parents });
      return { json: () => ({ path: created.path, stat: statFields(created.stat) }), text: () => `${created.path}\n` };
    };
  },
});
