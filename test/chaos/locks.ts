/**
 * A lock by the simple recipe: an ephemeral sequential znode below the lock's path, and the lowest number holds. Written
 * here because the client has no recipes; only what it records is used by the checks.
 */
import type { RecordingClient } from './recording-client.ts';
import type { Loops } from './workload.ts';

/** One time that a client held a lock by its own belief. */
export interface Tenure {
  readonly lock: string;
  readonly client: string;
  /** czxid of the znode: greater for every later holder. */
  readonly token: bigint;
  /** It has read that it is the lowest. */
  readonly from: number;
  /** It began to release it, or was told that its session is over, or could have known that by the clock. */
  to: number;
}

/** A write by a holder below the lock: the token as value; its zxid gives the order. */
export interface FencedWrite {
  readonly lock: string;
  readonly client: string;
  readonly token: bigint;
  readonly zxid: bigint;
}

export interface LockLog {
  readonly tenures: Tenure[];
  readonly writes: FencedWrite[];
}

/** Takes the lock, writes its token a few times while it holds, and releases it. */
export function lockStep(client: RecordingClient, lock: string, log: LockLog, loops: Loops): () => Promise<void> {
  let count = 0;
  return async () => {
    const value = `${client.name}.lock.${count++}`;
    const znode = await client.create(`/l/${lock}-`, value, { ephemeral: true, sequential: true });
    if (znode === undefined) return;
    const { signal } = client.raw.session;
    if (client.raw.session.id !== znode.stat.ephemeralOwner) return;
    if (await isLowest(client, lock, znode.path, signal, loops)) {
      await hold(client, lock, znode.stat.czxid, log, signal, loops);
    }
    if (!signal.aborted) await client.delete(znode.path);
  };
}

async function isLowest(
  client: RecordingClient,
  lock: string,
  path: string,
  signal: AbortSignal,
  loops: Loops,
): Promise<boolean> {
  for (let tries = 0; tries < 100 && !signal.aborted && !loops.isStopping; tries++) {
    const names = (await client.children('/l')) ?? [];
    if (signal.aborted) return false;
    const [first] = names.filter((name) => name.startsWith(`${lock}-`)).toSorted();
    if (first !== undefined && `/l/${first}` === path) return true;
    await loops.pause();
  }
  return false;
}

async function hold(
  client: RecordingClient,
  lock: string,
  token: bigint,
  log: LockLog,
  signal: AbortSignal,
  loops: Loops,
): Promise<void> {
  const tenure = { lock, client: client.name, token, from: performance.now(), to: Number.POSITIVE_INFINITY };
  log.tenures.push(tenure);
  // The client may be told late when the runner itself was held up: it holds no longer than its clock allows.
  let provenAt = tenure.from;
  const lost = (): void => void (tenure.to = Math.min(tenure.to, performance.now()));
  signal.addEventListener('abort', lost);
  for (let i = 0; i < 3 && !signal.aborted; i++) {
    const sentAt = performance.now();
    const zxid = await write(client, lock, token);
    if (zxid === undefined) break;
    provenAt = sentAt;
    log.writes.push({ lock, client: client.name, token, zxid });
    await loops.pause();
  }
  signal.removeEventListener('abort', lost);
  tenure.to = Math.min(tenure.to, performance.now(), provenAt + client.raw.session.timeoutMs);
}

/** Resolves with the write's zxid when it was acknowledged. In the session, so that it ends when that does. */
async function write(client: RecordingClient, lock: string, token: bigint): Promise<bigint | undefined> {
  try {
    return (await client.raw.set(`/f/${lock}`, token.toString(16), { timeoutMs: 2_000 })).mzxid;
  } catch {
    return undefined;
  }
}
