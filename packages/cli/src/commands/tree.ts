/** `quorate tree [PATH]`: a znode and all below it, each child indented under its parent. */
import { dataCommand } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import { hex } from '../invocation/render.ts';

interface TreeFlags {
  readonly path: string;
  readonly depth: string | undefined;
  readonly linearizable: boolean;
}

export const treeCommand = dataCommand<TreeFlags>({
  command: 'tree [path]',
  describe: 'List a znode and all below it, as they are at one moment',
  builder: (argv) =>
    argv
      .positional('path', { type: 'string', default: '/', describe: 'Path of the znode' })
      .option('depth', { type: 'string', requiresArg: true, describe: 'How far below it; 0: it alone [default: all]' })
      .option('linearizable', { type: 'boolean', default: false, describe: 'Confirm with the leader first' }),
  isRead: true,
  prepare: ({ path, depth, linearizable }) => {
    const levels = toDepth(depth);
    return async (reader, budget) => {
      const consistency = linearizable ? 'linearizable' : 'session';
      const listing = reader.walk(path, { ...budget(), consistency, pageSize: 4_096, depth: levels });
      const paths: string[] = [];
      for await (const znode of listing) paths.push(znode.path);
      return {
        json: () => ({ path, zxid: listing.zxid === undefined ? undefined : hex(listing.zxid), znodes: paths }),
        text: () => paths.map((one) => `${line(path, one)}\n`).join(''),
      };
    };
  },
});

function toDepth(depth: string | undefined): number | undefined {
  if (depth === undefined) return undefined;
  if (!/^\d{1,9}$/.test(depth)) throw new UsageError(`--depth ${depth} is not a whole number`);
  return Number(depth);
}

/** The name, indented by how far it is below the top; the top by its path. */
function line(top: string, path: string): string {
  if (path === top) return path;
  const below = path.slice(top === '/' ? 1 : top.length + 1).split('/');
  return `${'  '.repeat(below.length)}${below.at(-1) ?? ''}`;
}
