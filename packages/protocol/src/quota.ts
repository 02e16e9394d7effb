/**
 * Quotas: what a subtree may hold, and what it holds, as ZooKeeper writes both down under `/zookeeper/quota`. The quota of `/app` is
 * the data of `/zookeeper/quota/app/zookeeper_limits`; its usage that of `zookeeper_stats` beside it, which the ensemble keeps.
 * The znode at the top counts too. Source: ZooKeeper `StatsTrack` and `Quotas`, reference §5.7.
 */
import { childPath, nameOf, parentOf } from './path.ts';

/** What a subtree may hold; -1 is no limit. Past a soft limit there is a warning, past a hard one QUOTA_EXCEEDED. */
export interface QuotaLimits {
  /** Znodes, soft. */
  readonly count: number;
  /** Bytes of data, soft. */
  readonly bytes: number;
  /** Znodes, hard. */
  readonly countHard: number;
  /** Bytes of data, hard. */
  readonly bytesHard: number;
}

/** What a subtree holds. */
export interface QuotaUsage {
  readonly count: number;
  readonly bytes: number;
}

export const NO_QUOTA_LIMITS: QuotaLimits = { count: -1, bytes: -1, countHard: -1, bytesHard: -1 };

/** Bytes of a usage at most, whatever its numbers. */
export const USAGE_BYTES_MAX = 64;

/** Most characters that are read of a value. */
const TEXT_MAX = 1_000;

const ROOT = '/zookeeper/quota';
const BELOW_ROOT = `${ROOT}/`;
const LIMITS = 'zookeeper_limits';
const STATS = 'zookeeper_stats';

/** Path of the znode that holds the limits of the subtree at `path`. */
export function limitsPath(path: string): string {
  return `${ROOT}${path}/${LIMITS}`;
}

/** Path of the znode that holds its usage. */
export function statsPath(path: string): string {
  return `${ROOT}${path}/${STATS}`;
}

/** What `path` holds for which subtree, when it is a znode of the two kinds. There is none for `/` and for what is under /zookeeper. */
export function quotaNode(path: string): { readonly kind: 'limits' | 'stats'; readonly of: string } | undefined {
  if (!path.startsWith(BELOW_ROOT)) return undefined;
  const name = nameOf(path);
  if (name !== LIMITS && name !== STATS) return undefined;
  const of = parentOf(path).slice(ROOT.length);
  if (of === '' || of === '/zookeeper' || of.startsWith('/zookeeper/')) return undefined;
  return { kind: name === LIMITS ? 'limits' : 'stats', of };
}

/** The path of the subtree that holds `path` among those for which `has` says yes; undefined when none does. Not for `/`. */
export function coveringPath(path: string, has: (path: string) => boolean): string | undefined {
  for (let at = path; at !== '/'; at = parentOf(at)) if (has(at)) return at;
  return undefined;
}

/** The paths that must be there before the two znodes of the subtree at `path`, from the highest. */
export function quotaAncestors(path: string): readonly string[] {
  const names = path.slice(1).split('/');
  const ancestors: string[] = [];
  let at = ROOT;
  for (const name of names) {
    at = childPath(at, name);
    ancestors.push(at);
  }
  return ancestors;
}

export function formatLimits({ count, bytes, countHard, bytesHard }: QuotaLimits): Uint8Array {
  const hard = [
    ...(bytesHard === -1 ? [] : [`;byteHardLimit=${bytesHard}`]),
    ...(countHard === -1 ? [] : [`;countHardLimit=${countHard}`]),
  ];
  // The odd = ends the number for readers that know no hard limits.
  return ascii(`count=${count},bytes=${bytes}${hard.length === 0 ? '' : `=${hard.join('')}`}`);
}

export function formatUsage({ count, bytes }: QuotaUsage): Uint8Array {
  return ascii(`count=${count},bytes=${bytes}`);
}

/** The limits in the data of a znode; undefined when it has something that is no number from -1 on where a limit stands. */
export function parseLimits(data: Uint8Array | undefined): QuotaLimits | undefined {
  const values = parse(data);
  const of = (key: string): number => values.get(key) ?? -1;
  const limits = {
    count: of('count'),
    bytes: of('bytes'),
    countHard: of('countHardLimit'),
    bytesHard: of('byteHardLimit'),
  };
  const isGood = Object.values(limits).every((limit) => Number.isSafeInteger(limit) && limit >= -1);
  return isGood ? limits : undefined;
}

/** The usage in the data of a znode; undefined when it is none. */
export function parseUsage(data: Uint8Array | undefined): QuotaUsage | undefined {
  const values = parse(data);
  const [count, bytes] = [values.get('count'), values.get('bytes')];
  if (count === undefined || bytes === undefined) return undefined;
  return Number.isSafeInteger(count) && Number.isSafeInteger(bytes) ? { count, bytes } : undefined;
}

function ascii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function parse(data: Uint8Array | undefined): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  // What is longer is no quota.
  const text = data === undefined ? '' : String.fromCharCode(...data.subarray(0, TEXT_MAX));
  for (const part of text.split(/[,;]+/)) {
    const [key = '', value = ''] = part.split('=');
    if (value !== '') values.set(key, Number(value));
  }
  return values;
}
