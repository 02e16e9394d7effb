/**
 * Quotas, as znodes under `/zookeeper/quota`, so that tools of ZooKeeper see the same. A subtree has at most one quota over it. The client
 * must not have a chroot: the paths are those of the whole tree.
 */
import {
  formatLimits,
  limitsPath,
  parseLimits,
  parseUsage,
  pathFault,
  type QuotaLimits,
  type QuotaUsage,
  quotaAncestors,
  quotaNode,
  statsPath,
} from '@quorate/protocol';
import type { Client } from './api.ts';
import { CoordinationError, isCode } from './errors.ts';
import type { CallOptions } from './options.ts';

export type { QuotaLimits, QuotaUsage };

/** A quota and what its subtree holds, its top included. */
export interface Quota {
  readonly path: string;
  /** -1 is no limit. */
  readonly limits: QuotaLimits;
  readonly usage: QuotaUsage;
}

const NONE: QuotaUsage = { count: 0, bytes: 0 };

/** The quota of the subtree at `path`, or undefined when it has none of its own. */
export async function getQuota(client: Client, path: string, options: CallOptions = {}): Promise<Quota | undefined> {
  checkTop(path);
  const limits = await client.find(limitsPath(path), options);
  if (limits === undefined) return undefined;
  const stats = await client.find(statsPath(path), options);
  const read = parseLimits(limits.data);
  if (read === undefined) {
    throw new CoordinationError('INVALID_ARGUMENT', `What stands for the quota of ${path} is none`, { path });
  }
  return { path, limits: read, usage: parseUsage(stats?.data) ?? NONE };
}

/**
 * Gives the subtree at `path` a quota, or another one. Past a soft limit members warn, past a hard one writes are refused with
 * QUOTA_EXCEEDED; what is there already stays. INVALID_ARGUMENT when one above or below has a quota, for `/`, and under /zookeeper.
 */
export async function setQuota(
  client: Client,
  path: string,
  limits: Partial<QuotaLimits>,
  options: CallOptions = {},
): Promise<void> {
  checkTop(path);
  const data = formatLimits({ count: -1, bytes: -1, countHard: -1, bytesHard: -1, ...limits });
  if (parseLimits(data) === undefined) throw new RangeError('limits must be whole numbers, -1 for none');
  await client.set(limitsPath(path), data, options).catch(async (error: unknown) => {
    if (!isCode(error, 'NO_NODE')) throw error;
    try {
      await client.create(limitsPath(path), data, { ...options, parents: true });
    } catch (refused) {
      await trim(client, path, options);
      throw refused;
    }
  });
  await unless('NODE_EXISTS', client.create(statsPath(path), '', options));
}

/** Takes the quota of the subtree at `path` away. False when it had none. */
export async function deleteQuota(client: Client, path: string, options: CallOptions = {}): Promise<boolean> {
  checkTop(path);
  const had = (await client.stat(limitsPath(path), options)) !== undefined;
  for (const one of [limitsPath(path), statsPath(path)]) await client.delete(one, { ...options, ifExists: true });
  await trim(client, path, options);
  return had;
}

/** Deletes what holds no quota any more. */
async function trim(client: Client, path: string, options: CallOptions): Promise<void> {
  for (const ancestor of [...quotaAncestors(path)].reverse()) {
    if (!(await unless('NOT_EMPTY', client.delete(ancestor, { ...options, ifExists: true })))) return;
  }
}

/** All quotas, by path. */
export async function listQuotas(client: Client, options: CallOptions = {}): Promise<readonly Quota[]> {
  const quotas: Quota[] = [];
  const waiting = ['/zookeeper/quota'];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const name of await children(client, at, options)) {
      const path = `${at}/${name}`;
      const node = quotaNode(path);
      if (node === undefined) waiting.push(path);
      const quota = node?.kind === 'limits' ? await getQuota(client, node.of, options) : undefined;
      if (quota !== undefined) quotas.push(quota);
    }
  }
  return quotas.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function children(client: Client, path: string, options: CallOptions): Promise<readonly string[]> {
  return client.children(path, options).catch((error: unknown) => {
    // It went meanwhile.
    if (isCode(error, 'NO_NODE')) return [];
    throw error;
  });
}

/** False when it failed with that code. */
async function unless(code: 'NODE_EXISTS' | 'NOT_EMPTY', done: Promise<unknown>): Promise<boolean> {
  try {
    await done;
    return true;
  } catch (error) {
    if (isCode(error, code)) return false;
    throw error;
  }
}

function checkTop(path: string): void {
  if (typeof path !== 'string') throw new TypeError(`path must be a string, not ${typeof path}`);
  const fault = pathFault(path);
  if (fault === undefined && quotaNode(limitsPath(path)) !== undefined && path !== '/') return;
  const why = fault ?? 'no quota can be set there';
  throw new CoordinationError('INVALID_ARGUMENT', `${JSON.stringify(path)} has no quota: ${why}`, { path });
}
