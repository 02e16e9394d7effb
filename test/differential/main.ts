/** Compares what two ZooKeeper ports answer to the same seeded sequences of requests: see scripts/differential.mjs. */
import { parseArgs } from 'node:util';
import { OP_CODE } from '@quorate/protocol/jute';
import { RequestMaker, randomOf } from './requests.ts';
import { Side } from './side.ts';

const STEPS = 40;

/** Runs one sequence on both; the steps at which they differ. */
async function sequence(seed: number, ports: readonly [number, number], run: string): Promise<readonly string[]> {
  const random = randomOf(seed);
  const root = `/${run}/${seed}`;
  const maker = new RequestMaker(random, root);
  const sides = [new Side(ports[0]), new Side(ports[1])] as const;
  for (let i = 0; i < 2; i++) for (const side of sides) await side.open();
  const differences: string[] = [];
  const first = { what: 'create root', type: OP_CODE.create, body: new RequestMaker(randomOf(0), root).root() };
  for (let step = 1; step <= STEPS; step++) {
    const { what, type, body } = step === 1 ? first : maker.next();
    const who = random(2);
    const event = step > 1 && random(20) === 0 ? random(3) : undefined;
    if (event !== undefined) {
      const said = [];
      for (const side of sides) said.push(await happen(side, who, event));
      if (said[0] !== said[1])
        differences.push(`seed ${seed} step ${step}: event ${event} of session ${who}\n    ${said.join('\n    ')}`);
      continue;
    }
    const [one, two] = await Promise.all(sides.map((side) => side.ask(step, who, step, type, body)));
    const [a, b] = [JSON.stringify(one), JSON.stringify(two)];
    if (process.env['TRACE'] !== undefined) console.log(`${step} ${who} ${what} ${a}`);
    if (a === b) continue;
    differences.push(`seed ${seed} step ${step}, session ${who}: ${what}\n    ${a}\n    ${b}`);
    if (a.includes('closed') || b.includes('closed')) break;
  }
  await Promise.all(sides.map((side) => side.close()));
  return differences;
}

function happen(side: Side, who: number, event: number): Promise<string> {
  if (event === 0) return side.resume(who);
  return event === 1 ? side.claim(who) : side.renew(who);
}

async function makeRoot(port: number, path: string): Promise<void> {
  const side = new Side(port);
  await side.open();
  await side.ask(0, 0, 1, OP_CODE.create, new RequestMaker(randomOf(0), path).root());
  await side.close();
}

/** Exit code 0 when nothing differs. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ports: { type: 'string' },
      sequences: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
    },
  });
  const [a = 0, b = 0] = (values.ports ?? '').split(',').map(Number);
  const run = `d${Date.now().toString(36)}`;
  for (const port of [a, b]) await makeRoot(port, `/${run}`);
  let differing = 0;
  for (let seed = Number(values.from); seed < Number(values.from) + Number(values.sequences); seed++) {
    const found = await sequence(seed, [a, b], run);
    if (found.length === 0) continue;
    differing++;
    for (const one of found.slice(0, 3)) console.log(one);
  }
  console.log(`differential: ${Number(values.sequences) - differing} passed, ${differing} failed`);
  return differing === 0 ? 0 : 1;
}
