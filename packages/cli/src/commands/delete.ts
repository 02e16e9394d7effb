/** `quorate delete PATH`: deletes a znode that has no children. */
import { dataCommand } from '../invocation/command.ts';
import { expectedVersion, withVersionFlag } from '../invocation/expected-version.ts';

interface DeleteFlags {
  readonly path: string;
  readonly version: string | undefined;
  readonly 'if-exists': boolean;
}

export const deleteCommand = dataCommand<DeleteFlags>({
  command: 'delete <path>',
  describe: 'Delete a znode that has no children',
  builder: (argv) =>
    withVersionFlag(argv)
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .option('if-exists', { type: 'boolean', default: false, describe: 'That it does not exist is no failure' }),
  prepare: (flags) => {
    const { path } = flags;
    const version = expectedVersion(flags.version);
    return async (client, budget) => {
      await client.delete(path, { ...budget(), version, ifExists: flags['if-exists'] });
      return { json: () => ({ path }), text: () => '' };
    };
  },
});
