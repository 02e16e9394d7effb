/** `quorate move-leader`: has the leader hand over to another member, without a write failing. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { type Budget, carryOut, type Result, withSharedFlags } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import type { Settings, SharedFlags } from '../invocation/settings.ts';

type MoveLeaderFlags = SharedFlags & { readonly to: string | undefined };

export const moveLeaderCommand: CommandModule<object, MoveLeaderFlags> = {
  command: 'move-leader',
  describe: 'Have the leader hand over to another voter; writes wait for a moment, none fails',
  builder: (argv) =>
    withSharedFlags(argv, []).option('to', {
      type: 'string',
      requiresArg: true,
      describe: 'Sid of the member that is to lead [default: the one that is furthest]',
    }),
  handler: (flags: ArgumentsCamelCase<MoveLeaderFlags>) =>
    carryOut(flags, (settings, budget) => move(settings, budget, sidOf(flags.to))),
};

async function move(settings: Settings, budget: Budget, to: number | undefined): Promise<Result> {
  const { moveLeader } = await import('@quorate/client');
  const moved = await moveLeader(settings.servers, { ...budget(), to });
  return { json: () => moved, text: () => `Member ${moved.to} leads, after member ${moved.from}\n` };
}

function sidOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const sid = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (sid < 1 || sid > 254) throw new UsageError(`--to is ${JSON.stringify(text)}, which is not a sid from 1 to 254`);
  return sid;
}
