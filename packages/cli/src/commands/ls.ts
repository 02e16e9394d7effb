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
      const children: string[] = [];
      // In pages: a znode may have more children than one answer carries.
      for await (const { name } of reader.list(path, { ...budget(), consistency, pageSize: 4_096 }))
        children.push(name);
      return { json: () => ({ path, children }), text: () => children.map((name) => `${name}\n`).join('') };
    },
});
