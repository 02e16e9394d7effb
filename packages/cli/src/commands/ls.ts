/** `quorate ls [PATH]`: the names of a znode's children, one a line. */
import { dataCommand } from '../invocation/command.ts';

interface LsFlags {
  readonly path: string;
  readonly linearizable: boolean;
}

export const lsCommand = dataCommand<LsFlags>({
  command: 'ls [path]',
  describe: 'List the children of a znode',
  builder: (argv) =>
    argv
      .positional('path', { type: 'string', default: '/', describe: 'Path of the znode' })
      .option('linearizable', { type: 'boolean', default: false, describe: 'Confirm with the leader first' }),
  isRead: true,
  prepare:
    ({ path, linearizable }) =>
    async (reader, budget) => {
      const consistency = linearizable ? 'linearizable' : 'session';
      const children = await reader.children(path, { ...budget(), consistency });
      return { json: () => ({ path, children }), text: () => children.map((name) => `${name}\n`).join('') };
    },
});
