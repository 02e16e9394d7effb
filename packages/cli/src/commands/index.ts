/** All commands, in the order of the help. */
import type { Argv } from 'yargs';
import { createCommand } from './create.ts';
import { deleteCommand } from './delete.ts';
import { ensembleCommand } from './ensemble.ts';
import { getCommand } from './get.ts';
import { lsCommand } from './ls.ts';
import { moveLeaderCommand } from './move-leader.ts';
import { quotaCommand } from './quota.ts';
import { serveCommand } from './serve.ts';
import { sessionsCommand } from './sessions.ts';
import { setCommand } from './set.ts';
import { statCommand } from './stat.ts';
import { statusCommand } from './status.ts';
import { syncCommand } from './sync.ts';
import { treeCommand } from './tree.ts';

/** Makes every command known to `argv`. */
export function addCommands(argv: Argv): Argv {
  return argv
    .command(createCommand)
    .command(getCommand)
    .command(setCommand)
    .command(deleteCommand)
    .command(lsCommand)
    .command(treeCommand)
    .command(statCommand)
    .command(syncCommand)
    .command(statusCommand)
    .command(moveLeaderCommand)
    .command(quotaCommand)
    .command(sessionsCommand)
    .command(serveCommand)
    .command(ensembleCommand);
}
