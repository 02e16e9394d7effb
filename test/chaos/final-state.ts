/** Reads all members when a run is over: once every fault has ended, clients rest, and the dead sessions have gone. */
import { digestsAtOneZxid } from '../e2e/checks.ts';
import { until } from '../e2e/ensemble-process.ts';
import type { FinalState } from './analysis/final.ts';
import type { Ensemble } from './ensemble.ts';
import type { History } from './history.ts';
import { RecordingClient } from './recording-client.ts';

export interface Final {
  readonly states: readonly FinalState[];
  /** Sessions that were open all the time while members were read. */
  readonly liveSessions: ReadonlySet<bigint>;
  /** What could not be brought to rest. */
  readonly faults: readonly string[];
}

/** A session that nobody keeps alive ends within its timeout and some ticks; a busy machine is late with everything. */
const SESSIONS_END_WITHIN_MS = 20_000;

/** `clients`: all whose sessions are kept open. `registers`: paths to read. */
export async function readFinalState(
  ensemble: Ensemble,
  history: History,
  clients: readonly RecordingClient[],
  registers: readonly string[],
): Promise<Final> {
  const faults: string[] = [];
  const readers: RecordingClient[] = [];
  try {
    for (const { sid, address } of ensemble.members) {
      readers.push(await RecordingClient.connect(`final-${sid}`, [address], history, { sessionTimeoutMs: 10_000 }));
    }
    const all = [...clients, ...readers];
    const open = (): string[] =>
      all.map(({ raw }) => (raw.session.current.state === 'connected' ? raw.session.id.toString(16) : '?'));
    // Every member knows of every reader, and is asked anew: what was seen a moment ago may count as many dead sessions as
    // readers have come since.
    for (const reader of readers) await reader.raw.sync({ timeoutMs: 30_000 });
    await until(
      'only the sessions of living clients are open',
      async () => {
        const views = await Promise.all(ensemble.members.map((member) => member.view(10_000)));
        return views.every((view) => view?.sessions === all.length) && !open().includes('?');
      },
      SESSIONS_END_WITHIN_MS,
    ).catch((error: unknown) => {
      const counts = ensemble.sids.map((sid) => `member ${sid} has ${ensemble.view(sid)?.sessions}`).join(', ');
      faults.push(`${String(error)}: ${all.length} clients are alive, ${counts}`);
    });
    const before = open();
    const trees = await Promise.all(readers.map((reader) => readTree(reader, registers)));
    await digestsAtOneZxid(ensemble.addresses).catch((error: unknown) => faults.push(String(error)));
    const views = await Promise.all(ensemble.members.map((member) => member.view(10_000)));
    const after = new Set(open());
    const liveSessions = new Set(before.filter((id) => id !== '?' && after.has(id)).map((id) => BigInt(`0x${id}`)));
    const states = ensemble.members.map(({ sid }, i) => {
      const { zxid = 'unknown', digest = 'unknown' } = views[i] ?? {};
      return { sid, zxid, digest, ...trees[i]! };
    });
    return { states, liveSessions, faults };
  } finally {
    for (const reader of readers) await reader.close();
  }
}

async function readTree(
  reader: RecordingClient,
  paths: readonly string[],
): Promise<Pick<FinalState, 'registers' | 'queue' | 'ephemerals'>> {
  await reader.raw.sync({ timeoutMs: 30_000 });
  const registers = new Map<string, { version: number; value: string }>();
  for (const path of paths) {
    const read = await reader.get(path);
    if (read !== undefined) registers.set(path, read);
  }
  const queue = new Map<string, string>();
  for (const path of await below(reader, ['/q']))
    queue.set(path, (await reader.raw.get(path, { timeoutMs: 30_000 })).text());
  const ephemerals = new Map<string, bigint>();
  for (const path of await below(reader, ['/e', '/l'])) {
    const stat = await reader.raw.stat(path, { timeoutMs: 30_000 });
    if (stat !== undefined) ephemerals.set(path, stat.ephemeralOwner);
  }
  return { registers, queue, ephemerals };
}

async function below(reader: RecordingClient, parents: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    parents.map(async (parent) =>
      (await reader.raw.children(parent, { timeoutMs: 30_000 })).map((name) => `${parent}/${name}`),
    ),
  );
  return lists.flat();
}
