/** What a session wrote is decided once, before it is logged: a start from the log judges nothing anew. */
import { connect, type Stat } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { expect, it } from 'vitest';

const COUNT = 200;

it.each([
  ['from the log alone', {}],
  ['from a checkpoint in the midst of them and the log after it', { checkpointTxns: 120 }],
])(
  'C070: persistent znodes of a session that has ended are all there after all members start anew, %s',
  async (_, config) => {
    await using ensemble = await TestEnsemble.start({
      size: 3,
      config: { ...config, tickMs: 250, sessionTimeoutMinMs: 500 },
    });
    const paths = Array.from({ length: COUNT }, (__, i) => `/of-the-session/${i}`);
    const before = new Map<string, Stat | undefined>();
    {
      await using client = await connect(ensemble.servers, { sessionTimeoutMs: 5_000 });
      await client.create('/of-the-session');
      await Promise.all(paths.map((path) => client.create(path, path)));
      for (const path of paths) await client.set(path, `${path} again`);
      await client.create('/of-the-session/ephemeral', '', { mode: 'ephemeral' });
      for (const path of paths) before.set(path, await client.stat(path));
    }
    // The session was closed: it has ended, and its ephemeral with it.
    await ensemble.until(() => [0, 1, 2].every((i) => ensemble.member(i).status()?.sessions === 0), 'its end');
    const digest = await ensemble.converged();
    for (const index of [0, 1, 2]) await ensemble.kill(index);
    await Promise.all([0, 1, 2].map((index) => ensemble.restart(index)));
    await ensemble.serving();
    expect(await ensemble.converged()).toBe(digest);
    for (const server of ensemble.servers) {
      await using client = await connect(server);
      expect(await client.children('/of-the-session')).toHaveLength(COUNT);
      for (const path of paths) expect(await client.stat(path)).toEqual(before.get(path));
    }
  },
);
