/**
 * `quorate status`: how each of the members in --servers stands, as it says itself. One that does not answer is part of
 * the result; the command fails only when none answers.
 */
import type { ClusterStatus } from '@quorate/client';
import type { CommandModule } from 'yargs';
import { type Budget, carryOut, type Result, withSharedFlags } from '../invocation/command.ts';
import { hex } from '../invocation/render.ts';
import type { Settings, SharedFlags } from '../invocation/settings.ts';

/** What one member said, or why it said nothing. */
type Asked =
  | { readonly server: string; readonly status: ClusterStatus }
  | { readonly server: string; readonly error: unknown };

export const statusCommand: CommandModule<object, SharedFlags> = {
  command: 'status',
  describe: 'Print how each member stands: role, epoch, zxids, counts',
  builder: (argv) => withSharedFlags(argv, []),
  handler: (flags) => carryOut(flags, ask),
};

async function ask(settings: Settings, budget: Budget): Promise<Result> {
  const { listServers, memberStatus } = await import('@quorate/client');
  const asked = await Promise.all(
    listServers(settings.servers).map(async (server): Promise<Asked> => {
      try {
        return { server, status: await memberStatus(server, budget()) };
      } catch (error) {
        return { server, error };
      }
    }),
  );
  const first = asked[0];
  if (first !== undefined && 'error' in first && asked.every((one) => 'error' in one)) throw first.error;
  return { json: () => ({ members: asked.map(jsonOf) }), text: () => asked.map(textOf).join('') };
}

function jsonOf(asked: Asked): object {
  const { server } = asked;
  if ('error' in asked) return { server, error: messageOf(asked.error) };
  const { zxid, committedZxid, loggedZxid, flushedZxid, learners, digest, leader, ...rest } = asked.status;
  return {
    server,
    ...rest,
    leader: leader ?? null,
    diskFailed: rest.diskFailed ?? null,
    lastDivergence: rest.lastDivergence ?? null,
    setAside: rest.setAside ?? null,
    zxid: hex(zxid),
    committedZxid: hex(committedZxid),
    loggedZxid: hex(loggedZxid),
    flushedZxid: hex(flushedZxid),
    digest: hex(digest),
    learners: learners.map(({ ackedZxid, ...learner }) => ({ ...learner, ackedZxid: hex(ackedZxid) })),
  };
}

/** What people read of one member. Exported for its test. */
export function textOf(asked: Asked): string {
  if ('error' in asked) return `${asked.server}  no answer: ${messageOf(asked.error)}\n`;
  const { server, status } = asked;
  const role = status.role === 'looking' ? `looking (${status.phase})` : status.role;
  const leader = status.leader === undefined ? 'no leader' : `leader ${status.leader}`;
  const serving = [status.serving ? 'serves reads' : 'does not serve', status.hasQuorum ? 'quorum' : 'no quorum'];
  const waiting = status.waiting === '' ? '' : `  ${status.waiting}\n`;
  const aside = status.setAside === undefined ? '' : `  its data was set aside: ${status.setAside}\n`;
  const disk = status.diskFailed === undefined ? '' : `  disk failed: ${status.diskFailed}`;
  const left = status.divergences === 0 ? '' : `  left service ${status.divergences} times: ${status.lastDivergence}`;
  return (
    `${server}  sid ${status.sid}  ${role}  ${leader}  epoch ${status.epoch}  zxid ${hex(status.zxid)}  ` +
    `${serving.join(', ')}  ${status.znodes} znodes  ${status.sessions} sessions  digest ${hex(status.digest)}${disk}${left}\n${waiting}${aside}`
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
