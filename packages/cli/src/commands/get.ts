/** `quorate get PATH`: the data of a znode. */
import { dataCommand } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import { dataFields, statFields, statText, textOf } from '../invocation/render.ts';

interface GetFlags {
  readonly path: string;
  readonly stat: boolean;
  readonly linearizable: boolean;
}

export const getCommand = dataCommand<GetFlags>({
  command: 'get <path>',
  describe: 'Print the data of a znode; -o raw prints exactly its bytes',
  outputs: ['raw'],
  builder: (argv) =>
    argv
      .positional('path', { type: 'string', demandOption: true, describe: 'Path of the znode' })
      .option('stat', { alias: 's', type: 'boolean', default: false, describe: 'Print its stat, too' })
      .option('linearizable', { type: 'boolean', default: false, describe: 'Confirm with the leader first' }),
  isRead: true,
  prepare:
    ({ path, stat, linearizable }) =>
    async (reader, budget) => {
      const consistency = linearizable ? 'linearizable' : 'session';
      const znode = await reader.get(path, { ...budget(), consistency });
      return {
        json: () => ({ path, ...dataFields(znode), stat: statFields(znode.stat) }),
        text: () => {
          const text = textOf(znode);
          if (text === undefined) throw new UsageError(`The data of ${path} is not UTF-8 text: use -o raw or -o json`);
          const line = znode.isNull || text.endsWith('\n') ? text : `${text}\n`;
          return stat ? line + statText(znode.stat) : line;
        },
        raw: () => znode.data,
      };
    },
});
