/**
 * What a process does until it is killed: a script of storage commands through every phase of the disk's life, and what the
 * disk must hold after each. Shared by the process (kill-child.ts) and by whoever opens the folder after it.
 */
import type { Zxid } from '@quorate/protocol';
import type { LogRecord, StateRecord, VoteRight } from '../contract.ts';
import { setAside } from '../level/set-aside.ts';
import { IDENTITY, type Recovered, Rig, textOf, z } from './bench-rig.ts';
import { type LevelHarness, levelHarnessAt } from './level-harness.ts';

/** What a store that is opened now must say. */
export interface KillMoment {
  readonly last: Zxid;
  readonly accepted: number;
  readonly current: number;
  readonly voteRight: VoteRight;
  /** The tree: state, then log. */
  readonly tree: ReadonlyMap<string, string>;
}

export interface KillStep {
  readonly name: string;
  /** Goes on from the rig of the step before, and returns the one for the next. */
  readonly run: (harness: LevelHarness, rig: Rig | undefined) => Promise<Rig>;
  readonly after: KillMoment;
}

const ZNODES = 5;

function txn(epoch: number, counter: number): LogRecord {
  const payload = Buffer.from(`n${counter % ZNODES}=${epoch}.${counter}`);
  return { zxid: z(epoch, counter), payload };
}

function txns(epoch: number, from: number, to: number): LogRecord[] {
  return Array.from({ length: to - from + 1 }, (_, i) => txn(epoch, from + i));
}

function apply(tree: Map<string, string>, payload: string): void {
  const [key = '', value = ''] = payload.split('=');
  tree.set(key, value);
}

function treeOf(history: readonly LogRecord[]): Map<string, string> {
  const tree = new Map<string, string>();
  for (const { payload } of history) apply(tree, textOf(payload));
  return tree;
}

/** The records of a checkpoint: all at once, so that half of it would show (C060). */
function stateOf(history: readonly LogRecord[]): StateRecord[] {
  return [...treeOf(history)].map(([key, value]) => ({ key: Buffer.from(key), value: Buffer.from(value) }));
}

/** What was found, in the terms of a moment. */
function momentOf({ summary, state, log }: Recovered): KillMoment {
  const tree = new Map(state);
  for (const payload of log.values()) apply(tree, payload);
  const { lastZxid: last, acceptedEpoch: accepted, currentEpoch: current, voteRight } = summary;
  return { last, accepted, current, voteRight, tree };
}

/** Opens a folder as the next process would, and closes it. */
export async function openFolder(directory: string): Promise<KillMoment> {
  const rig = await Rig.open(levelHarnessAt(directory));
  await rig.kill();
  return momentOf(rig.recovered);
}

export function isSame(a: KillMoment, b: KillMoment): boolean {
  const text = ({ tree, last, ...rest }: KillMoment): string =>
    JSON.stringify({ ...rest, last: String(last), tree: [...tree].toSorted(([a], [b]) => (a < b ? -1 : 1)) });
  return text(a) === text(b);
}

/** Builds the script and, beside it, what must be there after each step. */
class Writer {
  readonly steps: KillStep[] = [];
  #history: readonly LogRecord[] = [];
  #epochs = { accepted: 0, current: 0, voteRight: 'unformed' as VoteRight };

  begin(name: string, voteRight: VoteRight, run: KillStep['run']): void {
    this.#history = [];
    this.#epochs = { accepted: 0, current: 0, voteRight };
    this.#add(name, run);
  }

  epochs(accepted: number, current: number): void {
    this.#epochs = { accepted, current, voteRight: 'held' };
    this.#do(`epochs ${accepted} and ${current}`, (rig) => rig.epochs(accepted, current));
  }

  append(records: readonly LogRecord[]): void {
    this.#history = [...this.#history, ...records];
    this.#do('append', (rig) => rig.done({ kind: 'append', records, committed: z(1, 1) }));
  }

  truncate(after: Zxid): void {
    this.#history = this.#history.filter(({ zxid }) => zxid <= after);
    this.#do('truncate', (rig) => rig.done({ kind: 'truncate', after }));
  }

  /** Written at a txn that is not the last one; nothing to be seen changes. */
  checkpoint(zxid: Zxid): void {
    const records = stateOf(this.#history.filter((one) => one.zxid <= zxid));
    this.#do('checkpoint', (rig) => rig.checkpoint(zxid, records));
  }

  /** The log is deleted while the lane rests: closing waits for it. */
  purge(through: Zxid): void {
    this.#do('purge', (rig) => rig.done({ kind: 'purgeLog', through }));
  }

  install(records: readonly LogRecord[]): void {
    const history = records;
    const half = Math.ceil(ZNODES / 2);
    const parts = stateOf(history);
    const zxid = (history.at(-1) as LogRecord).zxid;
    this.#do('install, first half', async (rig) => {
      rig.submit({ kind: 'installBegin' });
      await rig.done({ kind: 'installChunk', records: parts.slice(0, half) });
    });
    this.#history = history;
    this.#do('install, second half', async (rig) => {
      rig.submit({ kind: 'installChunk', records: parts.slice(half) });
      await rig.done({ kind: 'installCommit', zxid });
    });
  }

  reopen(): void {
    this.#add('close and open', async (_harness, rig) => (rig as Rig).reopen());
  }

  #do(name: string, act: (rig: Rig) => Promise<void>): void {
    this.#add(name, async (_harness, rig) => {
      await act(rig as Rig);
      return rig as Rig;
    });
  }

  #add(name: string, run: KillStep['run']): void {
    const last = this.#history.at(-1)?.zxid ?? z(0, 0);
    this.steps.push({ name, run, after: { last, ...this.#epochs, tree: treeOf(this.#history) } });
  }
}

export const KILL_SCRIPT: readonly KillStep[] = script();

function script(): readonly KillStep[] {
  const writer = new Writer();
  writer.begin('first creation', 'unformed', (harness) => Rig.open(harness));
  writer.epochs(1, 1);
  writer.append(txns(1, 1, 4));
  writer.append(txns(1, 5, 12));
  writer.checkpoint(z(1, 6));
  writer.append(txns(1, 13, 20));
  writer.checkpoint(z(1, 13));
  writer.purge(z(1, 12));
  writer.append(txns(1, 21, 22));
  writer.truncate(z(1, 15));
  writer.epochs(2, 1);
  writer.append(txns(2, 1, 3));
  writer.epochs(2, 2);
  writer.reopen();
  writer.checkpoint(z(2, 2));
  writer.purge(z(2, 1));
  writer.reopen();
  writer.epochs(3, 2);
  writer.install([...txns(2, 1, 9), ...txns(3, 1, 9)]);
  writer.epochs(3, 3);
  writer.append(txns(3, 10, 14));
  writer.checkpoint(z(3, 12));
  writer.reopen();
  writer.begin('set aside', 'recovering', async (harness, rig) => {
    await rig?.close();
    await setAside({ directory: harness.directory, identity: IDENTITY, reason: 'a test' });
    return Rig.open(harness);
  });
  writer.epochs(3, 0);
  writer.install(txns(3, 1, 14));
  writer.epochs(3, 3);
  writer.append(txns(3, 15, 16));
  return writer.steps;
}
