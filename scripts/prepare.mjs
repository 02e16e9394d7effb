// Makes a checkout ready to run: installs what package-lock.json names when node_modules is missing or of another lock,
// and builds what has changed. Run by `npm start` and `npm test` before anything is there, so it uses Node's built-ins
// alone. Quick when there is nothing to do. What goes wrong is told with the command to look at; exit code 1.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE_LEAST = [20, 19];
const LOCK = join(ROOT, 'package-lock.json');
/** Written by npm at the end of an install. */
const INSTALLED = join(ROOT, 'node_modules', '.package-lock.json');
/** Hash of the lock that was installed: a lock that only got a new date is no reason to install again. */
const MARK = join(ROOT, 'node_modules', '.quorate-lock-hash');

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function isNodeNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1]);
}

function isInstalled(hash) {
  if (!existsSync(INSTALLED)) return false;
  if (existsSync(MARK)) return readFileSync(MARK, 'utf8') === hash;
  return statSync(INSTALLED).mtimeMs >= statSync(LOCK).mtimeMs;
}

function run(name, command, args) {
  const done = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (done.status === 0) return;
  const said = done.error === undefined ? `${done.stdout}${done.stderr}`.trimEnd() : done.error.message;
  fail(`${said}\n${name} failed; see what it says above`);
}

if (!isNodeNewEnough()) {
  fail(
    `Node ${process.versions.node} is too old: Quorate needs ${NODE_LEAST.join('.')} or newer, see https://nodejs.org`,
  );
}
const hash = createHash('sha256').update(readFileSync(LOCK)).digest('hex');
if (!isInstalled(hash)) {
  process.stderr.write('Installing dependencies (npm ci)...\n');
  // The npm that runs this script, by the Node that runs it; install scripts are not needed, LevelDB ships its binary.
  const npm = process.env.npm_execpath;
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  if (npm?.endsWith('.js')) run('npm ci', process.execPath, [npm, ...args]);
  else run('npm ci', 'npm', args);
}
if (!existsSync(MARK) || readFileSync(MARK, 'utf8') !== hash) writeFileSync(MARK, hash);

// `npm start` needs the command and what it imports; tests look at all packages.
const isStart = process.env.npm_lifecycle_event === 'prestart';
if (!existsSync(join(ROOT, 'packages/cli/dist/main.js'))) process.stderr.write('Building (tsc -b)...\n');
run('tsc -b', process.execPath, [
  join(ROOT, 'node_modules/typescript/bin/tsc'),
  '-b',
  ...(isStart ? ['packages/cli'] : []),
]);
