/** Leaders that are cut off with their clients: what they may still answer, and what nobody may be told. */
import { rmSync } from 'node:fs';
import { connect } from '@quorate/client';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../e2e/ensemble-process.ts';
import { Ensemble } from './ensemble.ts';
import { type EpisodeResult, runEpisode } from './episode.ts';
import { NETWORK_FAULTS } from './network-faults.ts';
import { PROCESS_FAULTS } from './process-faults.ts';
import { CALM, folderFor, rounds } from './rounds.ts';

const folder = folderFor('reads');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function episode(seed: number, members: number, kinds: readonly string[]): Promise<EpisodeResult> {
  const faults = [...NETWORK_FAULTS, ...PROCESS_FAULTS].filter(({ kind }) => kinds.includes(kind));
  const seconds = 25 * rounds(1).length;
  return runEpisode({ seed, members, seconds, folder, faults, print: () => undefined });
}

describe('a leader in the minority', () => {
  it('C046: acknowledges nothing that is lost, and no session goes back, with clients on both sides', async () => {
    const result = await episode(46, 5, ['leader in minority']);
    console.log(`C046: ${JSON.stringify(result.faults)}, ${JSON.stringify(result.calls)}`);
    expect(result.violations).toEqual([]);
    expect(result.faults['leader in minority']).toBeGreaterThan(0);
  });

  it('C046, C047: acknowledges no write, and answers no sync and no linearizable read, until it is back', async () => {
    await using ensemble = await Ensemble.start(5, folder, CALM);
    const leader = await ensemble.whole();
    const [friend = 0, ...many] = ensemble.sids.filter((sid) => sid !== leader);
    await using outside = await connect(many.map((sid) => ensemble.member(sid).address));
    await outside.create('/x', 'old');
    await using inside = await connect(ensemble.member(leader).address, { sessionTimeoutMs: 20_000 });
    await inside.sync();
    const few = [leader, friend];
    const heal = await ensemble.network.drop(
      few.flatMap((a) =>
        many.flatMap((b) => [
          { from: a, to: b, percent: 100 },
          { from: b, to: a, percent: 100 },
        ]),
      ),
    );
    const asked = { timeoutMs: 2_000 };
    // At once, while it still believes that it leads: the cut is done, so none of these can be confirmed by a quorum.
    const answers = await Promise.allSettled([
      inside.set('/x', 'lost', asked),
      inside.sync(asked),
      inside.get('/x', { ...asked, consistency: 'linearizable' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await outside.set('/x', 'new', { timeoutMs: 30_000 });
    await until('the old leader has stepped down', () => ensemble.view(leader)?.role === 'looking');
    await expect(inside.get('/x', { ...asked, consistency: 'linearizable' })).rejects.toMatchObject({
      name: 'CoordinationError',
    });
    await heal();
    await ensemble.whole();
    expect((await inside.get('/x', { timeoutMs: 30_000, consistency: 'linearizable' })).text()).toBe('new');
  });

  it('C047: what was acknowledged and told is seen after a sync and by a linearizable read elsewhere', async () => {
    const kinds = ['kill leader', 'isolated leader', 'pause leader', 'partition', 'deaf', 'mute', 'one-way cut'];
    const result = await episode(47, 3, kinds);
    console.log(
      `C047: ${result.sideChannelRounds} rounds of the side channel, faults ${JSON.stringify(result.faults)}`,
    );
    expect(result.violations).toEqual([]);
    expect(result.sideChannelRounds).toBeGreaterThan(0);
  });
});
