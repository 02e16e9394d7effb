/**
 * A member of a real ensemble whose memory is not what the others have: it is found, leaves service with a word to everybody,
 * is made anew from its disk (or from the others, when its disk is no better) and returns, while the others go on.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, connect } from '@quorate/client';
import { TestEnsemble } from '@quorate/server/testing';
import { describe, expect, it } from 'vitest';

/** A comparison begins twice a second; the rest is for a machine that is busy with other things. */
const FOUND_MS = 5_000;

/** So long that the tree keeps the very bytes, which can be altered in place; shorter data it keeps packed. */
const RIGHT = 'right '.repeat(200);

type Tree = ReturnType<TestEnsemble['tree']>;

/** What is created from now on gets other data in this tree than in everybody else's. */
function plant(tree: Tree): void {
  const apply = tree.apply.bind(tree);
  tree.apply = (zxid, txn) => {
    const { body } = txn;
    apply(zxid, body.kind === 'create' ? { ...txn, body: { ...body, data: Uint8Array.of(1) } } : txn);
  };
}

/** Writes one after another, through members that serve, until told to stop. Returns how many were acknowledged. */
function writer(client: Client): { readonly count: () => number; readonly stop: () => Promise<void> } {
  let count = 0;
  let isOver = false;
  const finished = (async () => {
    for (; !isOver; count++) await client.create(`/w${count}`, 'x');
  })();
  return {
    count: () => count,
    stop: async () => {
      isOver = true;
      await finished;
    },
  };
}

/** Waits until the member has left service, and says how long that took. */
async function found(ensemble: TestEnsemble, index: number, what: string): Promise<void> {
  const sinceMs = performance.now();
  await ensemble.until(() => ensemble.member(index).status()?.divergences === 1, `member ${index + 1} to leave`);
  const tookMs = performance.now() - sinceMs;
  console.log(`${what}: found after ${Math.round(tookMs)} ms`);
  expect(tookMs).toBeLessThan(FOUND_MS);
}

async function returned(ensemble: TestEnsemble): Promise<void> {
  await ensemble.serving();
  await ensemble.converged();
  expect(ensemble.failures).toEqual([]);
}

function others(ensemble: TestEnsemble, index: number): string[] {
  return ensemble.servers.filter((_, at) => at !== index);
}

describe('C053: a member of three whose tree differs', () => {
  it('a follower, idle after one write: it leaves loudly, comes back, and no write of the others fails', async () => {
    const lines: string[] = [];
    await using ensemble = await TestEnsemble.start({ size: 3, writeLog: (line) => lines.push(line) });
    const leader = await ensemble.leader();
    const index = (leader + 1) % 3;
    await using client = await connect(others(ensemble, index));
    await using its = await connect([ensemble.servers[index] ?? '']);
    plant(ensemble.tree(index));
    await client.create('/a', 'right');
    await found(ensemble, index, 'idle follower');
    const writing = writer(client);
    await returned(ensemble);
    await writing.stop();
    expect(writing.count()).toBeGreaterThan(0);
    expect(ensemble.member(leader).status()?.divergences).toBe(0);
    expect(ensemble.member(index).status()?.lastDivergence).toMatch(/right after 0x[0-9a-f]+: its digest is 0x/);
    const line = lines.find((one) => one.includes('"diverged"'));
    expect(line).toContain('right after 0x');
    expect(line).toContain(`"sid":${index + 1}`);
    await its.sync();
    expect((await its.get('/a')).text()).toBe('right');
  });

  it('the leader: it gives the lead up, comes back as a follower, and writes of the others wait and do not fail', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const index = await ensemble.leader();
    await using client = await connect(others(ensemble, index));
    plant(ensemble.tree(index));
    const writing = writer(client);
    await found(ensemble, index, 'leader');
    await returned(ensemble);
    await writing.stop();
    expect(await ensemble.leader()).not.toBe(index);
    for (const at of ensemble.running()) {
      expect(ensemble.member(at).status()?.divergences).toBe(at === index ? 1 : 0);
    }
  });

  it('one byte of one znode in memory: found by looking through it, and right again from the disk', async () => {
    await using ensemble = await TestEnsemble.start({ size: 3 });
    const index = ((await ensemble.leader()) + 1) % 3;
    await using client = await connect(others(ensemble, index));
    await client.create('/a', RIGHT);
    await ensemble.converged();
    ensemble.tree(index).data('/a')?.fill(0x21, 0, 1);
    const sinceMs = performance.now();
    const writing = writer(client);
    await ensemble.until(() => ensemble.member(index).status()?.divergences === 1, 'the byte to be found');
    console.log(`one byte: found after ${Math.round(performance.now() - sinceMs)} ms`);
    await returned(ensemble);
    await writing.stop();
    expect(ensemble.member(index).status()?.lastDivergence).toContain('znode /a');
    await using its = await connect([ensemble.servers[index] ?? '']);
    expect((await its.get('/a')).text()).toBe(RIGHT);
  });

  it('what it has read from its disk is wrong: that is set aside, and all comes from the others', async () => {
    let wrong = -1;
    const onCore = (index: number, core: { readonly tree: Tree }): void => {
      if (index !== wrong) return;
      wrong = -1;
      Object.defineProperty(core.tree, 'digest', { value: 7n });
    };
    await using ensemble = await TestEnsemble.start({ size: 3, onCore });
    const index = ((await ensemble.leader()) + 1) % 3;
    await using client = await connect(others(ensemble, index));
    await client.create('/a', 'right');
    await ensemble.kill(index);
    wrong = index;
    await ensemble.restart(index);
    await ensemble.until(() => ensemble.member(index).status()?.divergences === 1, 'the member to leave');
    await returned(ensemble);
    const aside = (await readdir(ensemble.directory(index))).filter((name) => name.startsWith('damaged-'));
    expect(aside).toHaveLength(1);
    const reason = await readFile(join(ensemble.directory(index), aside[0] ?? '', 'REASON'), 'utf8');
    expect(reason).toContain('differs from the others');
    await client.create('/after');
    await ensemble.converged();
    expect(ensemble.member(index).status()?.divergences).toBe(1);
  });

  it('altered memory that was written to a checkpoint: the checkpoint is not used, and all comes from the others', async () => {
    const lines: string[] = [];
    const config = { checkpointTxns: 20, historyBytesMax: 65_536 };
    await using ensemble = await TestEnsemble.start({ size: 3, config, writeLog: (line) => lines.push(line) });
    const index = ((await ensemble.leader()) + 1) % 3;
    const checkpoints = (): number =>
      lines.filter((line) => line.includes('checkpointWritten') && line.includes(`"sid":${index + 1},`)).length;
    await using client = await connect(others(ensemble, index));
    await client.create('/a', RIGHT);
    await ensemble.converged();
    const tree = ensemble.tree(index);
    // Nobody looks before it is written.
    tree.scrubStep = () => ({ damaged: undefined, done: true });
    tree.data('/a')?.fill(0x21, 0, 1);
    // A child makes it part of the next checkpoint, and leaves the data alone.
    await client.create('/a/b');
    const before = checkpoints();
    for (let i = 0; i < 45; i++) await client.create(`/w${i}`);
    await ensemble.until(() => checkpoints() >= before + 2, 'a checkpoint with the altered byte');
    Reflect.deleteProperty(tree, 'scrubStep');
    await ensemble.until(() => ensemble.member(index).status()?.divergences === 1, 'the byte to be found');
    await returned(ensemble);
    expect((await readdir(ensemble.directory(index))).some((name) => name.startsWith('damaged-'))).toBe(true);
    await using its = await connect([ensemble.servers[index] ?? '']);
    expect((await its.get('/a')).text()).toBe(RIGHT);
  });
});
