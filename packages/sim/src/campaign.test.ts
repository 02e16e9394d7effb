import { expect, test } from 'vitest';
import { type CampaignOptions, parseArguments } from './arguments.ts';
import { type CampaignHost, runCampaign } from './campaign.ts';
import { noCoverage } from './coverage.ts';
import { runSeedTask, type SeedResult, type SeedTask } from './seed-run.ts';

function optionsFor(line: string): CampaignOptions {
  const options = parseArguments(line.split(' '));
  if (typeof options === 'string') throw new Error(options);
  return options;
}

/** A host that keeps what is printed and saved; its clock stands still unless told otherwise. */
function hostWith(run: CampaignHost['run'] = (task) => Promise.resolve(runSeedTask(task)), nowMs = (): number => 0) {
  const lines: string[] = [];
  const files = new Map<string, string>();
  const host: CampaignHost = {
    print: (line) => lines.push(line),
    nowMs,
    run,
    save: (name, text) => {
      files.set(name, text);
      return name;
    },
    load: (place) => files.get(place) ?? '',
  };
  return { host, lines, files };
}

const clean = (task: SeedTask): SeedResult => ({
  ...task,
  virtualUs: 1_000_000,
  coverage: noCoverage(),
  violation: undefined,
});

test('a violation is reported with one line to replay, ends the campaign, and is kept as a small script', async () => {
  const { host, lines, files } = hostWith();
  const broken = await runCampaign(optionsFor('--seeds 20 --fault commit-without-quorum'), host);
  expect(broken).toHaveLength(1);
  const seed = broken[0]?.seed;
  expect(lines).toContainEqual(expect.stringMatching(/^VIOLATION of quorum-durability after \d+/));
  expect(lines).toContain(`Replay: npm run sim -- --seeds 1 --from ${seed} --fault commit-without-quorum --verbose`);
  expect(lines).toContainEqual(expect.stringMatching(/shrunk from \d+ decisions to \d+ in \d+ runs:$/));
  const [name = ''] = files.keys();
  expect(lines.at(-1)).toBe(`Replay: npm run sim -- --replay ${name}`);

  lines.length = 0;
  const again = await runCampaign(optionsFor(`--replay ${name}`), host);
  expect(again).toMatchObject([{ seed, violation: { checker: 'quorum-durability' } }]);
  expect(lines.at(-1)).toMatch(/^VIOLATION of quorum-durability/);
});

test('one seed is run with its knobs printed first, and everything that happens when asked', async () => {
  const { host, lines } = hostWith();
  expect(await runCampaign(optionsFor('--seeds 1 --from 3 --verbose'), host)).toEqual([]);
  expect(lines[0]).toMatch(/^seed 3\n {2}ensemble: seed=3 /);
  expect(lines.length).toBeGreaterThan(500);
  expect(lines.at(-1)).toMatch(/^No violation: 1 seeds from 3/);
});

test('seeds run beside each other, as many as there are jobs, each once', async () => {
  const seeds: number[] = [];
  let running = 0;
  let most = 0;
  const { host, lines } = hostWith(async (task) => {
    running += 1;
    most = Math.max(most, running);
    seeds.push(task.seed);
    await Promise.resolve();
    running -= 1;
    return clean(task);
  });
  expect(await runCampaign(optionsFor('--seeds 10 --from 5 --jobs 3'), host)).toEqual([]);
  expect(seeds).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
  expect(most).toBe(3);
  expect(lines.at(-2)).toMatch(/^No violation: 10 seeds from 5, \d+ seeds\/min, 10 s of virtual time$/);
});

test('a run of minutes goes on after a violation, tells each minute what it found, and ends on time', async () => {
  let nowMs = 0;
  const { host, lines } = hostWith(
    (task) => {
      nowMs += 20_000;
      const violation = task.seed === 101 ? { checker: 'one-leader', message: 'two of them' } : undefined;
      return Promise.resolve({ ...clean(task), violation });
    },
    () => nowMs,
  );
  const broken = await runCampaign(optionsFor('--minutes 2 --from 100 --shrink-seconds 0'), host);
  expect(broken.map(({ seed }) => seed)).toEqual([101]);
  expect(lines[0]).toBe('2 minutes of seeds from 100');
  expect(lines.filter((line) => line.includes('violations: 101 one-leader;'))).toHaveLength(2);
  expect(lines.at(-2)).toMatch(/^1 violations: 6 seeds from 100, 3 seeds\/min/);
});

test('a script that cannot be read is refused', async () => {
  const { host } = hostWith();
  await expect(runCampaign(optionsFor('--replay nowhere'), host)).rejects.toThrow('This is no script');
});
