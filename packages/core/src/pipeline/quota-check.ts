/**
 * Whether a write keeps within the quota that covers it. Judged against what the subtree will hold when all that is in flight has
 * been applied, so that writes on their way at one time cannot together go past a hard limit. Source: reference §5.7, case C011.
 * Departures from ZooKeeper: hard limits always hold; a write that adds nothing is never refused for what is there already.
 */
import { parseLimits, type QuotaLimits, type QuotaUsage, quotaNode } from '@quorate/protocol';
import { type Refusal, refusal } from './refusal.ts';

/** A quota and what its subtree will hold. */
export interface QuotaFacts extends QuotaUsage {
  readonly limits: QuotaLimits;
}

/** Why a write that adds `count` znodes and `bytes` at `path` is refused by the quota of `of`. */
export function quotaRefusal(of: string, quota: QuotaFacts, path: string, added: QuotaUsage): Refusal | undefined {
  const { countHard, bytesHard } = quota.limits;
  const count = quota.count + added.count;
  const bytes = quota.bytes + added.bytes;
  if (countHard !== -1 && added.count > 0 && count > countHard) {
    return exceeded(path, `${of} would have ${count} znodes, its quota is ${countHard}`);
  }
  if (bytesHard !== -1 && added.bytes > 0 && bytes > bytesHard) {
    return exceeded(path, `${of} would hold ${bytes} bytes, its quota is ${bytesHard}`);
  }
  return undefined;
}

/** True when `after` is past a soft limit that `before` was not past. Where there is a hard limit the soft one does not count. */
export function crossesSoft({ limits }: QuotaFacts, before: QuotaUsage, after: QuotaUsage): boolean {
  const { count, bytes, countHard, bytesHard } = limits;
  const crosses = (limit: number, hard: number, from: number, to: number): boolean =>
    limit !== -1 && hard === -1 && from <= limit && to > limit;
  return crosses(count, countHard, before.count, after.count) || crosses(bytes, bytesHard, before.bytes, after.bytes);
}

/**
 * Why what is written to `path` under /zookeeper/quota makes no sense; undefined for every other path. `others` are the subtrees that
 * have a quota. A quota inside another one, or around it, is refused: a write has at most one.
 */
export function quotaNodeRefusal(
  path: string,
  data: Uint8Array | undefined,
  isCreate: boolean,
  others: () => Iterable<string>,
): Refusal | undefined {
  const node = quotaNode(path);
  if (node === undefined) return undefined;
  if (node.kind === 'stats') {
    return isCreate ? undefined : bad(path, `Cannot set ${path}: what it holds is kept by the ensemble`);
  }
  if (parseLimits(data) === undefined)
    return bad(path, `Cannot set the quota of ${node.of}: it has a limit that is none`);
  if (!isCreate) return undefined;
  for (const other of others()) {
    if (other === node.of || !(other.startsWith(`${node.of}/`) || node.of.startsWith(`${other}/`))) continue;
    return bad(path, `Cannot set a quota of ${node.of}: there is one of ${other}`);
  }
  return undefined;
}

function exceeded(path: string, why: string): Refusal {
  return refusal('QUOTA_EXCEEDED', `Cannot write ${path}: ${why}`, path);
}

function bad(path: string, message: string): Refusal {
  return refusal('INVALID_ARGUMENT', message, path);
}
