/** Which znodes the model says are to be deleted because their time is over: reference §5.5. */
import type { ReferenceModel } from './reference.ts';

export function dueForReaping(model: ReferenceModel, nowMs: number, unusedMs: number): string[] {
  return model.paths().filter((path) => {
    const { lifetime, creates, mtimeMs } = model.existing(path);
    if (lifetime === undefined || model.childNames(path).length > 0) return false;
    const age = nowMs - mtimeMs;
    if (lifetime !== 'container') return age > lifetime.ttlMs;
    return creates > 0 || age > unusedMs;
  });
}
