/**
 * Commands that only read. They open a session like all others, so that what they show is never older than what the command
 * before them wrote; without a quorum, where that cannot be, they read from a member directly, and say so.
 */
import type { Reader } from '@quorate/client';
import type { Budget, Result } from './command.ts';
import { inSession } from './command.ts';
import { missingQuorum } from './no-quorum.ts';
import type { Settings } from './settings.ts';

/** The part of its time after which a reading command asks whether there is a quorum at all. */
const PATIENCE = 0.4;

type Work = (reader: Reader, budget: Budget) => Promise<Result>;

export async function inSessionOrWithout(settings: Settings, budget: Budget, work: Work): Promise<Result> {
  const { sessionlessReader } = await import('@quorate/client');
  const giveUp = new AbortController();
  const { signal } = budget();
  const signals = signal === undefined ? giveUp.signal : AbortSignal.any([signal, giveUp.signal]);
  let why: string | undefined;
  const ask = async (): Promise<void> => {
    why = await missingQuorum(settings.servers);
    if (why !== undefined) giveUp.abort();
  };
  let asking: Promise<void> | undefined;
  const timer = setTimeout(() => {
    asking = ask();
  }, settings.timeoutMs * PATIENCE);
  try {
    return await inSession(settings, budget, work, { signal: signals, opened: () => clearTimeout(timer) });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    await asking;
    if (why === undefined) throw error;
    process.stderr.write(`quorate: ${why}; read from one member, whose state may be old\n`);
    return await work(sessionlessReader(settings.servers), budget);
  } finally {
    clearTimeout(timer);
  }
}
