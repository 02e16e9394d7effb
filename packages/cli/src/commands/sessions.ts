/** `quorate sessions`: the sessions of everybody, for operators: list them, look at one, end one. Asks the leader. */
import type { SessionDetails } from '@quorate/client';
import type { CommandModule } from 'yargs';
import { type Budget, carryOut, type Result, withSharedFlags } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';
import { hex } from '../invocation/render.ts';
import type { Settings, SharedFlags } from '../invocation/settings.ts';

interface SessionsFlags extends SharedFlags {
  readonly action: string;
  readonly session: string | undefined;
}

export const sessionsCommand: CommandModule<object, SessionsFlags> = {
  command: 'sessions [action] [session]',
  describe: 'List the sessions; show one, or the owner of an ephemeral; close one, whoever has it',
  builder: (argv) =>
    withSharedFlags(argv, [])
      .positional('action', { choices: ['list', 'show', 'close'], default: 'list', describe: 'What to do' })
      .positional('session', { type: 'string', describe: 'Id such as 0x100002f0a3b0001; for show also a path' }),
  handler: (flags) => carryOut(flags, async (settings, budget) => workOf(flags)(settings, budget)),
};

/** Checks the arguments before anybody is asked. Throws UsageError. */
function workOf({ action, session }: SessionsFlags): (settings: Settings, budget: Budget) => Promise<Result> {
  if (action === 'list') {
    if (session !== undefined) throw new UsageError('sessions list takes no session');
    return list;
  }
  if (session === undefined) throw new UsageError(`sessions ${action} needs a session`);
  if (action === 'close') {
    const id = idOf(session);
    return (settings, budget) => close(settings, budget, id);
  }
  const which = session.startsWith('/') ? session : idOf(session);
  return (settings, budget) => show(settings, budget, which);
}

async function list(settings: Settings, budget: Budget): Promise<Result> {
  const { listSessions } = await import('@quorate/client');
  const sessions: SessionDetails[] = [];
  for await (const session of listSessions(settings.servers, budget())) sessions.push(session);
  return { json: () => ({ sessions: sessions.map(jsonOf) }), text: () => sessions.map(lineOf).join('') };
}

async function show(settings: Settings, budget: Budget, which: bigint | string): Promise<Result> {
  const { describeSession } = await import('@quorate/client');
  const session = await orNone(describeSession(settings.servers, which, budget()));
  const { paths } = session;
  const unseen = session.ephemerals - paths.length;
  const rest = unseen > 0 ? `  and ${unseen} more\n` : '';
  return {
    json: () => ({ ...jsonOf(session), paths }),
    text: () => `${lineOf(session)}${paths.map((path) => `  ${path}\n`).join('')}${rest}`,
  };
}

async function close(settings: Settings, budget: Budget, id: bigint): Promise<Result> {
  const { endSession } = await import('@quorate/client');
  const zxid = await orNone(endSession(settings.servers, id, budget()));
  return { json: () => ({ id: hex(id), zxid: hex(zxid) }), text: () => `Session ${hex(id)} is closed\n` };
}

/** That the session asked about is none says nothing of the ensemble: it is missing, like a znode. */
async function orNone<T>(answer: Promise<T>): Promise<T> {
  const { CoordinationError, isCode } = await import('@quorate/client');
  return answer.catch((error: unknown) => {
    if (!isCode(error, 'SESSION_EXPIRED')) throw error;
    throw new CoordinationError('NO_NODE', (error as Error).message, { cause: error });
  });
}

function jsonOf({ id, timeoutMs, ephemerals, member, expiresInMs }: SessionDetails): object {
  return { id: hex(id), timeoutMs, ephemerals, member: member ?? null, expiresInMs: expiresInMs ?? null };
}

function lineOf({ id, timeoutMs, ephemerals, member, expiresInMs }: SessionDetails): string {
  const where = member === undefined ? 'member not known' : `member ${member}`;
  const end = expiresInMs === undefined ? '' : `  ends within ${expiresInMs} ms of silence`;
  return `${hex(id)}  timeout ${timeoutMs} ms  ${where}  ${ephemerals} ephemerals${end}\n`;
}

function idOf(text: string): bigint {
  const id = /^(0x[0-9a-f]{1,16}|\d{1,20})$/i.test(text) ? BigInt(text) : 0n;
  if (id >= 1n && id < 2n ** 64n) return id;
  throw new UsageError(`${JSON.stringify(text)} is not the id of a session, such as 0x100002f0a3b0001`);
}
