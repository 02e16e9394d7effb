/** `quorate stat PATH`: the metadata of a znode. */
import { dataCommand } from '../invocation/command.ts';
import { statFields, statText } from '../invocation/render.ts';

interface StatFlags {
  readonly path: string;
  readonly linearizable: boolean;
}

export const statCommand = dataCommand<StatFlags>({
  command: 'stat <path>',
  describe: 'Print the metadata of a znode',
  builder: (argv) =>
    argv
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .option('linearizable', { type: 'boolean', default: false, describe: 'Confirm with the leader first' }),
  isRead: true,
  prepare:
    ({ path, linearizable }) =>
    async (reader, budget) => {
      const consistency = linearizable ? 'linearizable' : 'session';
      const stat = await reader.stat(path, { ...budget(), consistency });
      if (stat === undefined) {
        const { CoordinationError } = await import('@quorate/client');
        throw new CoordinationError('NO_NODE', `${path} does not exist`, { path });
      }
      return { json: () => ({ path, stat: statFields(stat) }), text: () => statText(stat) };
    },
});
