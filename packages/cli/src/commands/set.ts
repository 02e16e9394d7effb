/** `quorate set PATH DATA`: replaces the data of a znode. */
import { dataCommand } from '../invocation/command.ts';
import { expectedVersion, withVersionFlag } from '../invocation/expected-version.ts';
import { UsageError } from '../invocation/failure.ts';
import { DATA_HELP, readData } from '../invocation/input.ts';
import { statFields, statText } from '../invocation/render.ts';

interface SetFlags {
  readonly path: string;
  readonly data: string;
  readonly version: string | undefined;
  readonly create: boolean;
}

export const setCommand = dataCommand<SetFlags>({
  command: 'set <path> <data>',
  describe: 'Replace the data of a znode',
  builder: (argv) =>
    withVersionFlag(argv)
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .positional('data', { type: 'string', demandOption: true, describe: DATA_HELP })
      .option('create', { type: 'boolean', default: false, describe: 'Create the znode when it does not exist' }),
  prepare: ({ path, data, version, create }) => {
    if (create && version !== undefined) throw new UsageError('--create and --version exclude each other');
    const expected = expectedVersion(version);
    const bytes = readData(data);
    return async (client, budget) => {
      const stat = await client.set(path, bytes, { ...budget(), version: expected, upsert: create });
      return { json: () => ({ path, stat: statFields(stat) }), text: () => statText(stat) };
    };
  },
});
