import { expect, test } from 'vitest';
import { plantedFault } from './planted/catalogue.ts';
import { parseScript, printScript, type Script } from './script.ts';
import { optionsOf, shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

const never = (): boolean => false;

/** The first seed at which a planted fault is found, as a script. */
function failing(name: string): Script {
  const fault = plantedFault(name);
  if (fault === undefined) throw new Error(`There is no fault ${name}`);
  for (let seed = 1; ; seed += 1) {
    const { violation } = simulate(seed, { fault });
    if (violation !== undefined) {
      return { seed, fault: name, checker: violation.checker, without: [], faultsUs: undefined };
    }
  }
}

test('what is left out does not happen, and the rest is as it was', () => {
  let seed = 1;
  while (!simulate(seed).decisions.some((name) => name.startsWith('strike '))) seed += 1;
  const whole = simulate(seed);
  const without = whole.decisions.filter((name) => name.startsWith('strike '));
  const calm = simulate(seed, { without });
  expect(calm.decisions.filter((name) => without.includes(name))).toEqual([]);
  expect(simulate(seed, { without }).decisions).toEqual(calm.decisions);
  expect(simulate(seed, { without: whole.decisions }).coverage.calls).toBeLessThan(whole.coverage.calls);
});

test.each(['stale-read', 'follower-skips-proposal'])(
  '%s: the small script fails the same way, again and again',
  { timeout: 300_000 },
  (name) => {
    const small = shrink(failing(name), { runsMax: 60, isLate: never });
    if (small === undefined) throw new Error('The seed does not fail by this checker alone');
    expect(small.after).toBeLessThan(small.before);
    expect(small.runs).toBeLessThanOrEqual(60);
    const read = parseScript(printScript(small.script));
    expect(read).toEqual(small.script);
    const again = simulate(small.script.seed, optionsOf(small.script));
    expect(again.violation).toMatchObject({ checker: small.script.checker, message: small.outcome.violation?.message });
  },
);

test('a seed that does not fail is not shrunk', () => {
  const script: Script = { seed: 1, fault: undefined, checker: 'agreement', without: [], faultsUs: undefined };
  expect(shrink(script, { runsMax: 10, isLate: never })).toBeUndefined();
});

test('when time is over, it ends with what it has', () => {
  const small = shrink(failing('stale-read'), { runsMax: 500, isLate: () => true });
  expect(small).toMatchObject({ runs: 1 });
  expect(small?.after).toBe(small?.before);
});

test.each([
  ['{', 'This is no script: '],
  ['3', 'This is no script: not an object'],
  ['{"seed":-1}', 'Bad seed in the script'],
  ['{"seed":1,"checker":2}', 'Bad checker in the script'],
  ['{"seed":1,"checker":"x","without":[1]}', 'Bad list of what to leave out'],
  ['{"seed":1,"checker":"x","without":[],"faultsUs":"y"}', 'Bad end of faults'],
])('%s is refused as a script', (text, message) => {
  expect(parseScript(text)).toContain(message);
});
