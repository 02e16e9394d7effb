/** `quorate delete PATH`: deletes a znode that has no children, or with `-r` one with all that is below it. */
import { dataCommand } from '../invocation/command.ts';
import { expectedVersion, withVersionFlag } from '../invocation/expected-version.ts';
import { UsageError } from '../invocation/failure.ts';

interface DeleteFlags {
  readonly path: string;
  readonly version: string | undefined;
  readonly recursive: boolean;
  readonly 'if-exists': boolean;
}

/** How often it is said how far a long one is, ms. */
const PROGRESS_MS = 1_000;

export const deleteCommand = dataCommand<DeleteFlags>({
  command: 'delete <path>',
  describe: 'Delete a znode',
  builder: (argv) =>
    withVersionFlag(argv)
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .option('recursive', {
        alias: 'r',
        type: 'boolean',
        default: false,
        describe:
          'Delete all that is below it too, and print how many znodes it was; --timeout is for every 1000 of them',
      })
      .option('if-exists', { type: 'boolean', default: false, describe: 'That it does not exist is no failure' }),
  prepare: (flags) => {
    const { path, recursive } = flags;
    const version = expectedVersion(flags.version);
    const ifExists = flags['if-exists'];
    if (recursive && version !== undefined) throw new UsageError('--recursive and --version exclude each other');
    return async (client, budget) => {
      if (!recursive) {
        await client.delete(path, { ...budget(), version, ifExists });
        return { json: () => ({ path }), text: () => '' };
      }
      const deleted = await client.deleteSubtree(path, { ...budget(), ifExists, onProgress: progressOf(path) });
      return { json: () => ({ path, deleted }), text: () => `${deleted}\n` };
    };
  },
});

/** Says on standard error how far it is, now and then. */
function progressOf(path: string): (deleted: number) => void {
  let saidMs = performance.now();
  return (deleted) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < PROGRESS_MS) return;
    saidMs = nowMs;
    process.stderr.write(`quorate: ${deleted} znodes of ${path} are deleted\n`);
  };
}
