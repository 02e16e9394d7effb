/**
 * Random commands, random completions and power cuts at random moments, against a model that keeps the history as a list:
 * after each cut the store must come back as one of the states it was told to be in, no older than what it reported.
 */
import { epochOf, makeZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogRecord, StateRecord, StoreEvents } from './contract.ts';
import { SimDisk } from './memory/sim-disk.ts';
import type { SimStore } from './memory/sim-store.ts';
import { openMemoryStore } from './memory-store.ts';
import { IDENTITY, textOf } from './testing/bench-rig.ts';

/** The member's view at one moment: its whole history, as zxid and payload, and its epochs. */
interface Moment {
  readonly history: readonly LogRecord[];
  readonly accepted: number;
  readonly current: number;
}

type Step =
  | { readonly kind: 'append'; readonly count: number; readonly bytes: number; readonly newEpoch: boolean }
  | { readonly kind: 'truncate'; readonly back: number }
  | { readonly kind: 'checkpoint'; readonly back: number }
  | { readonly kind: 'abort' }
  | { readonly kind: 'purge' }
  | { readonly kind: 'install'; readonly ahead: number; readonly abort: boolean }
  | { readonly kind: 'pump'; readonly count: number; readonly lane: 'log' | 'state' | 'watermark' | undefined }
  | { readonly kind: 'cut'; readonly survive: number; readonly power: boolean };

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      count: fc.integer({ min: 1, max: 5 }),
      bytes: fc.constantFrom(0, 10, 2_500_000),
      newEpoch: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('truncate' as const), back: fc.nat(6) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('checkpoint' as const), back: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('abort' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('purge' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('install' as const), ahead: fc.nat(3), abort: fc.boolean() }) },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constant('pump' as const),
      count: fc.integer({ min: 1, max: 8 }),
      lane: fc.constantFrom(undefined, 'log' as const, 'state' as const, 'watermark' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cut' as const), survive: fc.nat(63), power: fc.boolean() }) },
);

/** The tree that a history makes: each txn overwrites one of eight znodes, so that order matters. */
function treeOf(history: readonly LogRecord[]): Map<string, string> {
  const tree = new Map<string, string>();
  for (const { zxid, payload } of history) tree.set(`n${zxid & 7n}`, `${zxid} ${payload.length}`);
  return tree;
}

function stateOf(history: readonly LogRecord[]): StateRecord[] {
  return [...treeOf(history)].map(([key, value]) => ({ key: Buffer.from(key), value: Buffer.from(value) }));
}

class Member implements StoreEvents {
  readonly #disk = new SimDisk();
  #store!: SimStore;
  /** `moments[t]` is the view after ticket t; those before `reported` cannot come back. */
  #moments: Moment[] = [{ history: [], accepted: 0, current: 0 }];
  #base = 0;
  #reported = 0;
  #checkpoint: Zxid = ZERO_ZXID;
  #checkpointing = false;

  constructor() {
    this.#open();
  }

  persisted(ticket: number): void {
    expect(ticket).toBeGreaterThan(this.#reported);
    this.#reported = ticket;
  }

  failed(reason: string): void {
    throw new Error(reason);
  }

  checkpointReady(): void {}

  checkpointWritten(zxid: Zxid): void {
    this.#checkpoint = zxid;
    this.#checkpointing = false;
  }

  stateOpened(): void {}

  stateFailed(): void {}

  take(step: Step): void {
    const now = this.#moments.at(-1)!;
    const durable = this.#moments[this.#reported - this.#base]!;
    switch (step.kind) {
      case 'append': {
        const last = now.history.at(-1)?.zxid ?? ZERO_ZXID;
        const epoch = step.newEpoch || last === ZERO_ZXID ? now.accepted + 1 : epochOf(last);
        if (epoch > now.accepted)
          this.#submit(
            { kind: 'saveEpochs', acceptedEpoch: epoch, currentEpoch: now.accepted, voteRight: 'held' },
            { ...now, accepted: epoch, current: now.accepted },
          );
        const from = epoch === epochOf(last) ? Number(last & 0xffff_ffffn) + 1 : 1;
        const records = Array.from({ length: step.count }, (_, i) => ({
          zxid: makeZxid(epoch, from + i),
          payload: Buffer.alloc(i === 0 ? step.bytes : i),
        }));
        const { accepted, current } = this.#moments.at(-1)!;
        this.#submit(
          { kind: 'append', records, committed: this.#checkpoint },
          { history: [...now.history, ...records], accepted, current },
        );
        break;
      }
      case 'truncate': {
        // Never below a checkpoint that is under way: the core commits before it checkpoints.
        if (this.#checkpointing) break;
        const kept = now.history.slice(0, Math.max(0, now.history.length - step.back));
        const after = kept.at(-1)?.zxid ?? ZERO_ZXID;
        if (after >= this.#checkpoint) this.#submit({ kind: 'truncate', after }, { ...now, history: kept });
        break;
      }
      case 'checkpoint': {
        // Of what is durable and stays: no truncate may be waiting that would cut it.
        const at = durable.history.length - 1 - step.back;
        const zxid = durable.history[at]?.zxid;
        const stays =
          zxid !== undefined &&
          this.#moments.slice(this.#reported - this.#base).every(({ history }) => history[at]?.zxid === zxid);
        if (!stays || this.#checkpointing || zxid < this.#checkpoint) break;
        this.#checkpointing = true;
        this.#store.checkpointPut(stateOf(durable.history.slice(0, at + 1)));
        this.#store.checkpointCommit(zxid);
        break;
      }
      case 'abort':
        if (this.#checkpointing) break;
        this.#store.checkpointPut([{ key: Buffer.from('nWrong'), value: Buffer.from('gathered and thrown away') }]);
        this.#store.checkpointAbort();
        break;
      case 'purge':
        this.#submit({ kind: 'purgeLog', through: this.#checkpoint }, now);
        break;
      case 'install':
        this.#install(step, now);
        break;
      case 'pump':
        this.#store.pump(step.count, step.lane);
        break;
      case 'cut':
        this.cut(step);
        break;
    }
  }

  /** The state of a history that is ahead of this one. */
  #install(step: Step & { readonly kind: 'install' }, now: Moment): void {
    if (this.#checkpointing || now.accepted === 0) return;
    const last = now.history.at(-1)?.zxid ?? makeZxid(now.accepted, 0);
    const zxid = (last + BigInt(step.ahead)) as Zxid;
    const history = [...now.history];
    for (let at = last + 1n; at <= zxid; at++) history.push({ zxid: at as Zxid, payload: Buffer.alloc(3) });
    if (history.length === 0) return;
    this.#submit({ kind: 'installBegin' }, now);
    this.#submit({ kind: 'installChunk', records: stateOf(history) }, now);
    if (step.abort) {
      this.#submit({ kind: 'installAbort' }, now);
      return;
    }
    this.#submit({ kind: 'installCommit', zxid }, { ...now, history });
    this.#checkpoint = zxid;
  }

  /** Ends the member and starts it again; what it comes back with must be one of the moments. */
  cut(step: { readonly survive: number; readonly power: boolean }): void {
    // What survives of one place says nothing of what does of another.
    const shift = (db: string): number => (db === 'log' ? 0 : db === 'watermark' ? 2 : 4);
    const survive = (db: string, unsynced: number): number => (step.survive >> shift(db)) % (unsynced + 1);
    if (step.power) this.#disk.crash(survive);
    else this.#disk.kill(survive);
    this.#open();
  }

  #submit(command: Parameters<SimStore['submit']>[1], after: Moment): void {
    this.#moments.push(after);
    this.#store.submit(this.#base + this.#moments.length - 1, command);
  }

  #open(): void {
    this.#store = openMemoryStore(this.#disk, { identity: IDENTITY, events: this });
    const tree = new Map<string, string>();
    const summary = this.#store.recoverNow({
      state: (records) => {
        for (const { key, value } of records) tree.set(textOf(key), textOf(value!));
      },
      log: (records) => {
        for (const { zxid, payload } of records) tree.set(`n${zxid & 7n}`, `${zxid} ${payload.length}`);
      },
    });
    expect(summary.tornTail).toBeUndefined();
    const possible = this.#moments.slice(this.#reported - this.#base);
    const found = possible.find(
      ({ history, accepted, current }) =>
        (history.at(-1)?.zxid ?? ZERO_ZXID) === summary.lastZxid &&
        accepted === summary.acceptedEpoch &&
        current === summary.currentEpoch &&
        same(treeOf(history), tree),
    );
    expect(found, `came back at ${summary.lastZxid}, epoch ${summary.acceptedEpoch}`).toBeDefined();
    this.#base = 0;
    this.#reported = 0;
    this.#moments = [found!];
    this.#checkpoint = summary.checkpointZxid;
    this.#checkpointing = false;
  }
}

function same(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
}

describe('the store under power cuts', () => {
  it('C062: comes back as it was told to be, and never older than what it reported', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 1, maxLength: 60 }), (run) => {
        const member = new Member();
        for (const step of run) member.take(step);
        member.cut({ survive: 0, power: true });
      }),
      { numRuns: 600 },
    );
  });

  it('a disk that lies about syncs is found out, so this test can fail', () => {
    const lost = (): void => {
      const disk = new SimDisk();
      const events: StoreEvents = {
        persisted() {},
        failed() {},
        checkpointReady() {},
        checkpointWritten() {},
        stateOpened() {},
        stateFailed() {},
      };
      const sink = { state() {}, log() {} };
      const store = openMemoryStore(disk, { identity: IDENTITY, events });
      store.recoverNow(sink);
      disk.syncLies = true;
      store.submit(1, { kind: 'saveEpochs', acceptedEpoch: 1, currentEpoch: 1, voteRight: 'held' });
      store.submit(2, {
        kind: 'append',
        records: [{ zxid: makeZxid(1, 1), payload: Buffer.alloc(1) }],
        committed: ZERO_ZXID,
      });
      store.pump(10);
      disk.crash();
      const again = openMemoryStore(disk, { identity: IDENTITY, events });
      expect(again.recoverNow(sink).lastZxid).toBe(makeZxid(1, 1));
    };
    expect(lost).toThrow();
  });
});
