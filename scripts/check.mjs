// Everything that can be said about the sources without running the product: types, lint, formatting, protos, tidiness.
// Usage: node scripts/check.mjs [STEP...]   With no step all run; each prints its time, and the failed ones are named at the end.
// Knows nothing of what the steps check; uses Node's built-ins alone, so that it runs right after `npm ci`.
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(ROOT, 'node_modules', '.bin', name);

/** In the order in which a reader wants to hear of faults: what does not compile first. */
const STEPS = [
  { name: 'build', command: [bin('tsc'), '-b'] },
  { name: 'types of tests', command: [bin('tsc'), '-p', 'test'] },
  { name: 'lint', command: [bin('oxlint'), '--deny-warnings', '.'] },
  { name: 'format', command: [bin('biome'), 'check', '--error-on-warnings', '.'] },
  { name: 'protos', command: [bin('buf'), 'lint'] },
  { name: 'tidy', command: [bin('vitest'), 'run', '--project', 'tidy'] },
];

function run(step) {
  const started = process.hrtime.bigint();
  const [command, ...args] = step.command;
  const done = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const seconds = (Number(process.hrtime.bigint() - started) / 1e9).toFixed(1);
  const ok = done.status === 0;
  if (!ok)
    process.stdout.write(`${done.stdout ?? ''}${done.stderr ?? ''}${done.error ? `${done.error.message}\n` : ''}`);
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name} (${seconds} s)\n`);
  return ok;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `Unknown step ${unknown.join(', ')}; the steps are: ${STEPS.map((step) => step.name).join(', ')}\n`,
  );
  process.exit(2);
}
const chosen = STEPS.filter((step) => wanted.length === 0 || wanted.includes(step.name));
const failed = chosen.filter((step) => !run(step)).map((step) => step.name);
process.stdout.write(
  `check: ${chosen.length - failed.length} passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(', ')}` : ''}\n`,
);
process.exit(failed.length === 0 ? 0 : 1);
