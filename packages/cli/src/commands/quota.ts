/** `quorate quota`: what subtrees may hold, and what they hold. */
import type { Client, Quota, QuotaLimits } from '@quorate/client';
import { type Budget, dataCommand, type Result } from '../invocation/command.ts';
import { UsageError } from '../invocation/failure.ts';

interface QuotaFlags {
  readonly action: string;
  readonly path: string | undefined;
  readonly count: string | undefined;
  readonly bytes: string | undefined;
  readonly 'hard-count': string | undefined;
  readonly 'hard-bytes': string | undefined;
}

type Work = (client: Client, budget: Budget) => Promise<Result>;

export const quotaCommand = dataCommand<QuotaFlags>({
  command: 'quota [action] [path]',
  describe: 'List the quotas; get, set or delete that of a subtree',
  builder: (argv) =>
    argv
      .positional('action', { choices: ['list', 'get', 'set', 'delete'], default: 'list', describe: 'What to do' })
      .positional('path', { type: 'string', describe: 'Top of the subtree, which counts too' })
      .option('count', { type: 'string', requiresArg: true, describe: 'Znodes past which members warn' })
      .option('bytes', { type: 'string', requiresArg: true, describe: 'Bytes of data past which members warn' })
      .option('hard-count', { type: 'string', requiresArg: true, describe: 'Znodes past which writes are refused' })
      .option('hard-bytes', { type: 'string', requiresArg: true, describe: 'Bytes past which writes are refused' }),
  prepare: (flags) => {
    const { action, path } = flags;
    const limits = limitsOf(flags);
    if (action !== 'set' && Object.keys(limits).length > 0) throw new UsageError(`quota ${action} takes no limit`);
    if (action === 'list') {
      if (path !== undefined) throw new UsageError('quota list takes no path');
      return list;
    }
    if (path === undefined) throw new UsageError(`quota ${action} needs a path`);
    if (action === 'get') return get(path);
    if (action === 'delete') return remove(path);
    if (Object.keys(limits).length === 0) throw new UsageError('quota set needs a limit');
    return set(path, limits);
  },
});

const list: Work = async (client, budget) => {
  const { listQuotas } = await import('@quorate/client');
  const quotas = await listQuotas(client, budget());
  return { json: () => ({ quotas }), text: () => quotas.map(lineOf).join('') };
};

function get(path: string): Work {
  return async (client, budget) => {
    const { CoordinationError, getQuota } = await import('@quorate/client');
    const quota = await getQuota(client, path, budget());
    if (quota === undefined) throw new CoordinationError('NO_NODE', `${path} has no quota`, { path });
    return { json: () => quota, text: () => lineOf(quota) };
  };
}

function set(path: string, limits: Partial<QuotaLimits>): Work {
  return async (client, budget) => {
    const { getQuota, setQuota } = await import('@quorate/client');
    await setQuota(client, path, limits, budget());
    const quota = await getQuota(client, path, budget());
    return { json: () => quota ?? null, text: () => (quota === undefined ? '' : lineOf(quota)) };
  };
}

function remove(path: string): Work {
  return async (client, budget) => {
    const { CoordinationError, deleteQuota } = await import('@quorate/client');
    if (!(await deleteQuota(client, path, budget()))) {
      throw new CoordinationError('NO_NODE', `${path} has no quota`, { path });
    }
    return { json: () => ({ path }), text: () => '' };
  };
}

function lineOf({ path, limits, usage }: Quota): string {
  const part = (used: number, soft: number, hard: number): string => {
    const of = [...(soft === -1 ? [] : [`warns past ${soft}`]), ...(hard === -1 ? [] : [`at most ${hard}`])];
    return `${used}${of.length === 0 ? '' : ` (${of.join(', ')})`}`;
  };
  const { count, bytes, countHard, bytesHard } = limits;
  return `${path}  znodes ${part(usage.count, count, countHard)}  bytes ${part(usage.bytes, bytes, bytesHard)}\n`;
}

function limitsOf(flags: QuotaFlags): Partial<QuotaLimits> {
  const of = (flag: 'count' | 'bytes' | 'hard-count' | 'hard-bytes', name: keyof QuotaLimits) => {
    const text = flags[flag];
    if (text === undefined) return {};
    if (/^\d{1,15}$/.test(text)) return { [name]: Number(text) };
    throw new UsageError(`--${flag} is ${JSON.stringify(text)}, which is no number`);
  };
  return {
    ...of('count', 'count'),
    ...of('bytes', 'bytes'),
    ...of('hard-count', 'countHard'),
    ...of('hard-bytes', 'bytesHard'),
  };
}
