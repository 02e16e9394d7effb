/**
 * A process that carries out kill-script.ts in a folder and kills itself at a chosen one of its steps on the disk: each
 * operation of the engine, and each call that makes, moves or removes a file. Says on its standard output, before it goes on,
 * which commands were reported: `done <n>`; at the end, if it was not killed, `steps <count>`.
 *
 * Arguments: folder, number of the step (0: none), `middle` (while it is under way) or `after` (done, and not told to anybody).
 */
import { writeSync } from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import type { Engine } from '../io.ts';
import { openLevelStore } from '../level-store.ts';
import type { Rig } from './bench-rig.ts';
import { KILL_SCRIPT } from './kill-script.ts';
import { levelHarnessAt } from './level-harness.ts';

const [directory = '', stepText = '0', mode = 'after'] = process.argv.slice(2);
const killAt = Number(stepText);
let steps = 0;

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
  // Its own signal is delivered before kill(2) returns to a process of one thread, and soon to one of many.
  for (;;);
}

/** Counts a step. True when it is the one to die at. */
function isTheLast(): boolean {
  return ++steps === killAt;
}

/** Dies while something runs beside: at once, or a little later. */
function killSoon(): void {
  const untilMs = performance.now() + (killAt % 4) * 0.15;
  while (performance.now() < untilMs);
  kill();
}

function wrap(inner: Engine): Engine {
  return {
    start: (lane, io, done, failed) => {
      const last = isTheLast();
      inner.start(
        lane,
        io,
        (result) => {
          if (last) kill();
          done(result);
        },
        failed,
      );
      if (last && mode === 'middle') killSoon();
    },
    openCursor: (db, range) => inner.openCursor(db, range),
    close: () => inner.close(),
  };
}

function watch(name: 'rename' | 'mkdir' | 'rm' | 'open'): void {
  const original = promises[name] as (...args: unknown[]) => Promise<unknown>;
  const watched = async (...args: unknown[]): Promise<unknown> => {
    const last = isTheLast();
    const running = original(...args);
    if (last && mode === 'middle') killSoon();
    try {
      return await running;
    } finally {
      if (last) kill();
    }
  };
  Object.assign(promises, { [name]: watched });
}

for (const name of ['rename', 'mkdir', 'rm', 'open'] as const) watch(name);
syncBuiltinESMExports();

const harness = {
  ...levelHarnessAt(directory),
  open: (options: Parameters<ReturnType<typeof levelHarnessAt>['open']>[0]) =>
    openLevelStore({ directory, ...options, wrapEngine: (engine) => options.wrapEngine(wrap(engine)) }),
};
let rig: Rig | undefined;
for (const [number, { run }] of KILL_SCRIPT.entries()) {
  rig = await run(harness, rig);
  writeSync(1, `done ${number}\n`);
}
await rig?.close();
writeSync(1, `steps ${steps}\n`);
