/**
 * The model's quotas: which there are follows from the znodes that say so, and what a subtree holds is counted anew at each
 * question. Reference §5.7, with hard limits that always hold and no quota inside another (case C011).
 */
import { ModelRefusal } from './refused.ts';

/** What it needs of the model. */
interface Znodes {
  readonly znodes: ReadonlyMap<string, { data: Uint8Array | undefined }>;
  paths(): string[];
}

const ROOT = '/zookeeper/quota';

interface Limits {
  readonly count: number;
  readonly bytes: number;
}

function subtreeOf(path: string, name: string): string | undefined {
  if (!path.startsWith(`${ROOT}/`) || !path.endsWith(`/${name}`)) return undefined;
  const of = path.slice(ROOT.length, -name.length - 1);
  return of === '' || of === '/zookeeper' || of.startsWith('/zookeeper/') ? undefined : of;
}

function holds(of: string, path: string): boolean {
  return path === of || path.startsWith(`${of}/`);
}

/** Tops of the subtrees that have a quota. */
function tops(model: Znodes): string[] {
  return model.paths().flatMap((path) => subtreeOf(path, 'zookeeper_limits') ?? []);
}

function covering(model: Znodes, path: string): string | undefined {
  return tops(model)
    .filter((of) => holds(of, path))
    .sort((a, b) => b.length - a.length)[0];
}

function usage(model: Znodes, of: string): Limits {
  const within = model.paths().filter((path) => holds(of, path));
  const bytes = within.reduce((sum, path) => sum + (model.znodes.get(path)?.data?.length ?? 0), 0);
  return { count: within.length, bytes };
}

/** The hard limits in a text; -1 for none, undefined when anything in it is no limit. */
function hardLimits(data: Uint8Array | undefined): Limits | undefined {
  const text = data === undefined ? '' : String.fromCharCode(...data);
  const values = ['count', 'bytes', 'countHardLimit', 'byteHardLimit'].map((key) => {
    const found = text.split(/[,;]/).findLast((part) => part.startsWith(`${key}=`) && part.split('=')[1] !== '');
    return found === undefined ? -1 : Number(found.split('=')[1]);
  });
  if (values.some((value) => !Number.isInteger(value) || value < -1)) return undefined;
  return { count: values[2]!, bytes: values[3]! };
}

/** Refuses what goes past a hard limit, or makes no quota. `added` are bytes. */
export function requireQuota(
  model: Znodes,
  path: string,
  data: Uint8Array | undefined,
  isCreate: boolean,
  added: number,
): void {
  const isLimits = subtreeOf(path, 'zookeeper_limits');
  if (isLimits !== undefined) {
    const around = tops(model).filter((of) => of !== isLimits && (holds(of, isLimits) || holds(isLimits, of)));
    const isBad = hardLimits(data) === undefined || (isCreate && around.length > 0);
    if (isBad) throw new ModelRefusal('INVALID_ARGUMENT', path, { byForm: false });
  }
  if (subtreeOf(path, 'zookeeper_stats') !== undefined && !isCreate) {
    throw new ModelRefusal('INVALID_ARGUMENT', path, { byForm: false });
  }
  const of = covering(model, path);
  if (of === undefined) return;
  const limits = hardLimits(model.znodes.get(`${ROOT}${of}/zookeeper_limits`)?.data)!;
  const { count, bytes } = usage(model, of);
  const isOver =
    (isCreate && limits.count !== -1 && count + 1 > limits.count) ||
    (added > 0 && limits.bytes !== -1 && bytes + added > limits.bytes);
  if (isOver) throw new ModelRefusal('QUOTA_EXCEEDED', path);
}

/** After each change of a znode: what says how much a subtree holds says it again. */
export function recount(model: Znodes, path: string, isCreate: boolean): void {
  const made = isCreate ? (subtreeOf(path, 'zookeeper_limits') ?? subtreeOf(path, 'zookeeper_stats')) : undefined;
  for (const of of [covering(model, path), made]) {
    const stats = of === undefined ? undefined : model.znodes.get(`${ROOT}${of}/zookeeper_stats`);
    if (of === undefined || stats === undefined) continue;
    const { count, bytes } = usage(model, of);
    stats.data = Uint8Array.from(`count=${count},bytes=${bytes}`, (character) => character.charCodeAt(0));
  }
}
