/**
 * Random sequences on a real ensemble of three processes, by sessions at all members, each result held against the model; after
 * each sequence the trees of all members and what a watch told. Now and then a member is killed and started again. Without ACLs, which
 * would keep the next sequence from what this one made. `TEST_SEQUENCES=1000 npx vitest run --project long test/model/real` for more.
 */
import { type MultiOp, type MultiPart, NO_SESSION, pathFault, ZERO_ZXID } from '@quorate/protocol';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestsAtOneZxid } from '../e2e/checks.ts';
import { EnsembleProcess } from '../e2e/ensemble-process.ts';
import { write } from './ops.ts';
import { Stage } from './stage.ts';
import {
  at,
  existingPath,
  READS,
  type Step,
  sequence,
  someCreate,
  someCreateOrSet,
  someData,
  someDeepCreate,
  someMulti,
  someMultiRead,
  someVersion,
} from './steps.ts';

const SEQUENCES = Number(process.env['TEST_SEQUENCES'] ?? 200);
const NO_BYTES = new Uint8Array(0);
const HOUR_MS = 3_600_000;
const NO_REAPER = { QUORATE_REAP_INTERVAL_MS: '86400000' };

/** For everybody. */
function open<P extends MultiPart>(part: P): P {
  return 'acl' in part ? { ...part, acl: undefined } : part;
}

/** Without what the client refuses to put into a transaction. */
function sendable(stage: Stage, { parts }: MultiOp): MultiOp {
  const whole = parts
    .map(open)
    .map((part) => (part.kind === 'setData' ? { ...part, data: part.data ?? NO_BYTES } : part));
  const isGood = (part: MultiPart) => {
    const place = { zxid: ZERO_ZXID, timeMs: 0, session: stage.sessions[0] ?? NO_SESSION };
    const { result } = write(stage.model.copy(), { kind: 'multi', parts: [part] }, place);
    return result.kind !== 'error' || result.code !== 'INVALID_ARGUMENT';
  };
  return { kind: 'multi', parts: whole.filter(isGood) };
}

async function take(stage: Stage, [kind, a, b, c]: Step): Promise<void> {
  if (kind === 'create') await stage.write(open(someCreate(stage, a, b)), c);
  else if (kind === 'deepCreate') await stage.write(open(someDeepCreate(stage, a, b, c)), c);
  else if (kind === 'createOrSet') {
    const { path, data } = someCreateOrSet(stage, a, b, c);
    await stage.write({ kind, path, data: data ?? NO_BYTES }, c);
  } else if (kind === 'multi') await stage.write(sendable(stage, someMulti(stage, a, b, c)), c);
  else if (kind === 'open') await stage.open(a);
  else if (kind === 'close') await stage.close(a);
  else if (kind === 'read') {
    const [read, path] = [at(READS, b), existingPath(stage, a)];
    // The client sends no prefix that no path begins with.
    const isPrefix = read !== 'getEphemerals' || path.startsWith('/');
    await stage.read({ kind: read, path: isPrefix ? path : '/' }, c);
  } else if (kind === 'readAll') {
    const { parts } = someMultiRead(stage, a, b, c);
    await stage.read({ kind: 'multiRead', parts: parts.filter(({ path }) => pathFault(path) === undefined) }, c);
  } else if (kind === 'deleteSubtree') await stage.write({ kind, path: existingPath(stage, a) }, c);
  else if (kind === 'delete') {
    const path = existingPath(stage, a);
    await stage.write({ kind, path, expectedVersion: someVersion(stage, path, b) }, c);
  } else if (kind === 'setData') {
    const path = existingPath(stage, a);
    const data = someData(a) ?? NO_BYTES;
    await stage.write({ kind, path, data, expectedVersion: someVersion(stage, path, b) }, c);
  }
}

it(`C001, C013: ${SEQUENCES} sequences on three members end as in the model, on all of them`, {
  timeout: HOUR_MS,
}, async () => {
  const seed = Date.now() & 0x7fff_ffff;
  await using ensemble = await EnsembleProcess.start({ members: 3, environment: NO_REAPER });
  await using stage = await Stage.on(ensemble);
  for (const [index, steps] of fc.sample(sequence, { numRuns: SEQUENCES, seed }).entries()) {
    try {
      await stage.open(index);
      for (const step of steps) await take(stage, step);
      await stage.finish();
    } catch (error) {
      throw new Error(`Sequence ${index} of seed ${seed}`, { cause: error });
    }
    if (index % 100 !== 99) continue;
    const victim = ensemble.sids[((index / 100) % 3) | 0]!;
    ensemble.kill(victim);
    await ensemble.gone(victim);
    await ensemble.restart(victim);
    await stage.again();
  }
  expect((await digestsAtOneZxid(ensemble.addresses)).size).toBe(1);
});
