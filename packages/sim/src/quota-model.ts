/** What quotas there are in the slow tree, what they hold, and what they refuse: all counted anew each time. Reference §5.7. */
import {
  type ErrorCode,
  formatUsage,
  limitsPath,
  NO_QUOTA_LIMITS,
  parseLimits,
  type QuotaLimits,
  type QuotaUsage,
  quotaNode,
} from '@quorate/protocol';
import type { TreeModel } from './tree-model.ts';

/** A quota and what its subtree holds. */
export interface ModelQuota {
  /** The top of the subtree. */
  readonly of: string;
  readonly limits: QuotaLimits;
  readonly usage: QuotaUsage;
}

const QUOTA_ROOT = '/zookeeper/quota';

/** The quota that covers the path; undefined when none does. */
export function quotaOf(model: TreeModel, path: string): ModelQuota | undefined {
  if ((model.znodes.get(QUOTA_ROOT)?.children.size ?? 0) === 0) return undefined;
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const limits = model.znodes.get(limitsPath(at));
    if (limits === undefined) continue;
    return { of: at, limits: parseLimits(limits.data) ?? NO_QUOTA_LIMITS, usage: usageOf(model, at) };
  }
  return undefined;
}

/** Number and bytes of the znodes from that one down. */
function usageOf(model: TreeModel, of: string): QuotaUsage {
  const top = model.znodes.get(of);
  let count = top === undefined ? 0 : 1;
  let bytes = top?.data?.length ?? 0;
  for (const [, { data }] of model.below(of)) {
    count += 1;
    bytes += data?.length ?? 0;
  }
  return { count, bytes };
}

/** The usage as it stands in the znode beside the limits. */
export function usageText(model: TreeModel, of: string, usage: QuotaUsage | undefined): Uint8Array {
  return formatUsage(usage ?? usageOf(model, of));
}

/** Why a write that adds so much at `path` is refused; undefined when it is not. */
export function quotaRefusal(
  model: TreeModel,
  path: string,
  data: Uint8Array | undefined,
  added: QuotaUsage,
): ErrorCode | undefined {
  const node = quotaNode(path);
  const isCreate = added.count > 0;
  if (node?.kind === 'stats' && !isCreate) return 'INVALID_ARGUMENT';
  if (node?.kind === 'limits') {
    if (parseLimits(data) === undefined) return 'INVALID_ARGUMENT';
    if (isCreate && isNested(model, node.of)) return 'INVALID_ARGUMENT';
  }
  const quota = quotaOf(model, path);
  if (quota === undefined) return undefined;
  const { limits, usage } = quota;
  const isPast = (limit: number, more: number, now: number): boolean => limit !== -1 && more > 0 && now + more > limit;
  if (isPast(limits.countHard, added.count, usage.count)) return 'QUOTA_EXCEEDED';
  return isPast(limits.bytesHard, added.bytes, usage.bytes) ? 'QUOTA_EXCEEDED' : undefined;
}

/** There is a quota around that subtree, or inside it. */
function isNested(model: TreeModel, of: string): boolean {
  for (const [path] of model.below(QUOTA_ROOT)) {
    const other = quotaNode(path);
    if (other?.kind !== 'limits' || other.of === of) continue;
    if (other.of.startsWith(`${of}/`) || of.startsWith(`${other.of}/`)) return true;
  }
  return false;
}
