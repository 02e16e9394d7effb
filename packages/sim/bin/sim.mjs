// The command: `npm run sim -- --seeds N --from S`. Needs a build (`npm run build`).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureFaults, parseArguments, runCampaign, runSeedTask, USAGE } from '../dist/index.js';
import { Pool } from './pool.mjs';

const words = process.argv.slice(2);
if (words.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const options = parseArguments(words, Math.floor(Date.now() / 1_000));
if (typeof options === 'string') {
  console.error(`${options}\n${USAGE}`);
  process.exit(2);
}
const pool = options.jobs > 1 ? new Pool(options.jobs) : undefined;
const host = {
  print: (line) => console.log(line),
  nowMs: () => performance.now(),
  run: (task) => pool?.run(task) ?? Promise.resolve(runSeedTask(task)),
  save: (name, text) => {
    const folder = join(tmpdir(), 'quorate-sim');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  },
  load: (place) => readFileSync(place, 'utf8'),
};
const failures = options.measureFaults
  ? (await measureFaults(options, host)).filter(({ median }) => !Number.isFinite(median))
  : await runCampaign(options, host);
await pool?.close();
process.exitCode = failures.length === 0 ? 0 : 1;
