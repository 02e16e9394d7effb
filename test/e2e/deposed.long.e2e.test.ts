/**
 * C047: a leader that stands still (SIGSTOP) while another is elected and writes, and that finds, when it goes on, syncs and
 * linearizable reads in its sockets. It still takes itself for the leader then, and must not answer one of them from old state.
 */
import { type Client, connect, memberStatus } from '@quorate/client';
import { describe, expect, it } from 'vitest';
import { EnsembleProcess, until } from './ensemble-process.ts';

const ROUNDS = Number(process.env['TEST_ROUNDS'] ?? 6);
const READERS = 10;

/** Short enough for many rounds; a leader that is silent for the second is given up. */
const TIMES = { QUORATE_HEARTBEAT_MS: '100', QUORATE_SYNC_TIMEOUT_MS: '600' };

/** What a reader got: the value, or undefined when it failed, which is right as well. */
async function attempt(read: () => Promise<{ text(): string }>): Promise<number | undefined> {
  return read().then(
    (znode) => Number(znode.text()),
    () => undefined,
  );
}

/** Reads that must show everything acknowledged before they were sent. */
function freshReads(client: Client): readonly Promise<number | undefined>[] {
  const options = { timeoutMs: 10_000 };
  return [
    attempt(() => client.get('/register', { ...options, consistency: 'linearizable' })),
    attempt(async () => {
      await client.sync(options);
      return client.get('/register', options);
    }),
  ];
}

/** The leader as the members at `addresses` see it, once they agree on one that is not `former`. */
async function nextLeader(addresses: readonly string[], former: number): Promise<number> {
  return until('another leader', async () => {
    const states = await Promise.all(addresses.map((address) => memberStatus(address, { timeoutMs: 2_000 })));
    const leaders = new Set(states.map(({ leader, hasQuorum }) => (hasQuorum ? leader : undefined)));
    const [leader] = leaders;
    return leaders.size === 1 && leader !== former ? leader : undefined;
  });
}

describe('C047: a deposed leader that goes on', () => {
  it('answers no sync and no linearizable read from old state', async () => {
    await using ensemble = await EnsembleProcess.start({ members: 3, environment: TIMES });
    await using writer = await connect(ensemble.addresses, { sessionTimeoutMs: 40_000 });
    await writer.create('/register', '0');
    let [fresh, failed] = [0, 0];
    for (let round = 1; round <= ROUNDS; round++) {
      const leader = await until('a leader that all follow', async () => {
        const states = await Promise.all(ensemble.addresses.map((address) => memberStatus(address)));
        const leaders = new Set(states.map((state) => (state.hasQuorum ? state.leader : undefined)));
        return leaders.size === 1 ? [...leaders][0] : undefined;
      });
      const others = ensemble.sids.filter((sid) => sid !== leader).map((sid) => ensemble.address(sid));
      await using survivor = await connect(others);
      const readers = await Promise.all(
        Array.from({ length: READERS }, () => connect(ensemble.address(leader), { sessionTimeoutMs: 40_000 })),
      );
      const { pid } = ensemble.member(leader);
      if (pid === undefined) throw new Error(`Member ${leader} has no process`);
      process.kill(pid, 'SIGSTOP');
      try {
        await nextLeader(others, leader);
        await survivor.set('/register', String(round), { timeoutMs: 20_000 });
        // They are sent now, after the write was acknowledged, and wait in the sockets of the one that stands still.
        const reads = readers.flatMap(freshReads);
        process.kill(pid, 'SIGCONT');
        const values = await Promise.all(reads);
        expect(values.filter((value) => value !== undefined && value < round)).toEqual([]);
        fresh += values.filter((value) => value === round).length;
        failed += values.filter((value) => value === undefined).length;
      } finally {
        process.kill(pid, 'SIGCONT');
        await Promise.all(readers.map((reader) => reader.close()));
      }
    }
    console.log(
      `reads at a deposed leader, ${ROUNDS} rounds: ${fresh} with the new state, ${failed} refused, none old`,
    );
    expect(fresh + failed).toBe(ROUNDS * READERS * 2);
  });
});
