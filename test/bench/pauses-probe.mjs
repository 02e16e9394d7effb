/**
 * Loaded into each member by pauses.mjs (`node --import`): how long its event loop was held, and by what. A timer of 1 ms notes
 * the time between two of its turns and how much of it the main thread was on a processor: on a machine that does other
 * things too only the latter is the member's own doing. Asked over IPC: `reset` begins anew, `read` answers.
 */
import { openSync, readSync } from 'node:fs';
import { PerformanceObserver } from 'node:perf_hooks';

const STEP_MS = 1;
/** What main-thread time of less than this is not worth a line. */
const LONG_MS = 10;

const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const buffer = Buffer.alloc(64);
/** Milliseconds for which the main thread was on a processor. */
const cpuMs = () => Number(buffer.toString('latin1', 0, readSync(schedstat, buffer, 0, 64, 0)).split(' ')[0]) / 1e6;

let lastMs = performance.now();
let lastCpu = cpuMs();
let found = empty();

function empty() {
  return { wallMs: 0, cpuMs: 0, over20: 0, gc: [], long: [], sinceMs: performance.now(), beganCpu: cpuMs() };
}

const timer = setInterval(() => {
  const nowMs = performance.now();
  const cpu = cpuMs();
  const held = cpu - lastCpu;
  found.wallMs = Math.max(found.wallMs, nowMs - lastMs);
  found.cpuMs = Math.max(found.cpuMs, held);
  if (held > 20) found.over20++;
  if (held > LONG_MS && found.long.length < 1000) found.long.push({ from: lastMs, to: nowMs, held });
  lastMs = nowMs;
  lastCpu = cpu;
}, STEP_MS).unref();
timer.unref();

function note(entries) {
  for (const { startTime, duration, detail } of entries) {
    if (found.gc.length < 10_000) found.gc.push({ from: startTime, to: startTime + duration, kind: detail.kind });
  }
}

const observer = new PerformanceObserver((list) => note(list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

process.on('message', (word) => {
  if (word === 'reset') found = empty();
  else if (word === 'read') setImmediate(answer);
});
process.channel?.unref();

/** After the turn in which collections of the last one are queued; what the observer has still to be told belongs to it. */
function answer() {
  note(observer.takeRecords());
  process.send?.(summary());
}

function summary() {
  const { wallMs, cpuMs: longest, over20, gc, long, sinceMs, beganCpu } = found;
  const worst = long
    .sort((a, b) => b.held - a.held)
    .slice(0, 5)
    .map(({ from, to, held }) => {
      const inside = gc.filter((one) => one.from < to && one.to > from);
      const gcMs = inside.reduce((sum, one) => sum + Math.min(one.to, to) - Math.max(one.from, from), 0);
      return { held: round(held), wall: round(to - from), gc: round(gcMs) };
    });
  const gcLongest = Math.max(0, ...gc.map(({ from, to }) => to - from));
  const busy = round(cpuMs() - beganCpu);
  const seconds = round((performance.now() - sinceMs) / 1000);
  return { longest: round(longest), wall: round(wallMs), over20, gcLongest: round(gcLongest), busy, seconds, worst };
}

function round(ms) {
  return Math.round(ms * 10) / 10;
}
