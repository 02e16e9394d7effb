/**
 * `quorate create PATH [DATA]`: makes a znode. Not an ephemeral one: it would go with the session of the command, which
 * ends with the command.
 */
import type { CreateMode } from '@quorate/client';
import { TTL_MAX_MS } from '@quorate/protocol';
import { dataCommand } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import { DATA_HELP, readData } from '../invocation/input.ts';
import { statFields } from '../invocation/render.ts';
import { parseDuration } from '../invocation/settings.ts';

interface CreateFlags {
  readonly path: string;
  readonly data: string | undefined;
  readonly sequential: boolean;
  readonly parents: boolean;
  readonly ephemeral: boolean;
  readonly container: boolean;
  readonly ttl: string | undefined;
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
      .option('container', {
        alias: 'c',
        type: 'boolean',
        default: false,
        describe: 'The ensemble deletes it some time after its last child has gone',
      })
      .option('ttl', {
        type: 'string',
        requiresArg: true,
        describe: 'The ensemble deletes it when it has no children and was not set for so long, such as 90s or 12h',
      })
      .option('ephemeral', { alias: 'e', type: 'boolean', default: false, hidden: true }),
  prepare: ({ path, data, sequential, parents, ephemeral, container, ttl }) => {
    if (ephemeral) {
      throw new UsageError('An ephemeral znode would go with the session of this command; use a client that stays');
    }
    const mode = modeOf(container, sequential, ttl);
    const bytes = data === undefined ? undefined : readData(data);
    return async (client, budget) => {
      const created = await client.create(path, bytes, { ...budget(), mode, sequential, parents });
      return { json: () => ({ path: created.path, stat: statFields(created.stat) }), text: () => `${created.path}\n` };
    };
  },
});

function modeOf(container: boolean, sequential: boolean, ttl: string | undefined): CreateMode {
  if (container && (sequential || ttl !== undefined)) {
    throw new UsageError(`--container and ${sequential ? '--sequential' : '--ttl'} exclude each other`);
  }
  if (ttl === undefined) return container ? 'container' : 'persistent';
  return { ttlMs: parseDuration(ttl, '--ttl', TTL_MAX_MS) };
}
