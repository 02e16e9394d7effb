/** For tests: the feeds of a tree that is told what to do in short words, and readers that hold what they are told against it. */
import {
  type Identity,
  toZxid,
  type WatchEvent,
  type WatchPiece,
  type WatchSpec,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import type { DataTree } from '../tree/data-tree.ts';
import { Journal } from '../tree/journal.ts';
import { TreeScript } from '../tree/tree-script.fixture.ts';
import { isWithin } from '../tree/walk.ts';
import { Feeds, type FeedsOptions } from './feeds.ts';
import type { Refusal } from './refusal.ts';

export const SPEC: WatchSpec = { path: '/', recursive: true, withValues: true, from: undefined, initial: true };

/** A reader that keeps what it was told, and the state that follows from it: path to mzxid and data. */
export class Reader {
  readonly spec: WatchSpec;
  readonly pieces: WatchPiece[] = [];
  readonly state = new Map<string, string>();
  end: Refusal | undefined;
  /** It was told the state, so that what it knows can be held against each event. */
  #knowsState: boolean;

  constructor(spec: WatchSpec) {
    this.spec = spec;
    this.#knowsState = spec.initial && spec.from === undefined;
  }

  get events(): readonly WatchEvent[] {
    return this.pieces.flatMap(({ events }) => events);
  }

  /** The kinds and paths of the events, in short. */
  get words(): readonly string[] {
    return this.events.map(({ kind, path }) => (path === '' ? kind : `${kind} ${path}`));
  }

  get told(): Zxid {
    return this.pieces.at(-1)?.zxid ?? ZERO_ZXID;
  }

  take(piece: WatchPiece): void {
    this.pieces.push(piece);
    for (const event of piece.events) {
      if (event.kind === 'gap') {
        this.#knowsState = true;
        this.state.clear();
      }
      if (event.kind === 'deleted') {
        if (!this.state.delete(event.path) && this.#knowsState)
          throw new Error(`${event.path} is deleted and was never told of`);
      } else if (event.kind !== 'ready' && event.kind !== 'gap') this.#see(event);
    }
  }

  #see({ kind, path, stat, data }: WatchEvent): void {
    const isNew = kind === 'created' || kind === 'current';
    if (this.#knowsState && isNew === this.state.has(path))
      throw new Error(`${path} is ${kind} and was ${isNew ? 'told of' : 'unknown'}`);
    this.state.set(path, describe(stat?.mzxid, data));
  }
}

export class FeedStage {
  readonly script: TreeScript;
  readonly feeds: Feeds;
  readonly journal: Journal;
  readonly readers = new Map<number, Reader>();
  /** Readers that take what they get at once. */
  readonly isEager: boolean;
  nowMs = 0;
  turnsWanted = 0;
  fault: Refusal | undefined;
  #state: { tree: DataTree };
  #last = 0;

  constructor(options: Partial<FeedsOptions> & { readonly bytesMax?: number; readonly isEager?: boolean } = {}) {
    const { bytesMax = 1_000_000, isEager = true, ...rest } = options;
    this.isEager = isEager;
    this.script = new TreeScript();
    this.#state = { tree: this.script.tree };
    this.journal = new Journal(bytesMax, ZERO_ZXID);
    this.feeds = new Feeds({ feedsMax: 100, progressMs: 1_000, stallMs: 10_000, ...rest }, this.#state, this.journal, {
      nowMs: () => this.nowMs,
      readFault: () => this.fault,
      piece: (feed, piece) => this.readers.get(feed)?.take(piece),
      ended: (feed, reason) => {
        (this.readers.get(feed) as Reader).end = reason;
      },
      wantTurn: () => this.turnsWanted++,
    });
    this.#report();
  }

  get tree(): DataTree {
    return this.#state.tree;
  }

  /** Opens a feed; its number is that of the reader in `readers`. */
  open(spec: Partial<WatchSpec> = {}, identities: readonly Identity[] = []): Reader {
    const reader = new Reader({ ...SPEC, ...spec });
    this.readers.set(++this.#last, reader);
    this.feeds.open(this.#last, reader.spec, identities);
    return reader;
  }

  numberOf(reader: Reader): number {
    return [...this.readers].find(([, one]) => one === reader)?.[0] ?? 0;
  }

  close(reader: Reader): void {
    this.feeds.closed(this.numberOf(reader));
  }

  taken(reader: Reader): void {
    this.feeds.taken(this.numberOf(reader));
  }

  /** Ends turns until nothing more is to come; eager readers take every piece. */
  settle(): void {
    for (let before = -1; before !== this.#count(); ) {
      before = this.#count();
      this.feeds.turnEnded();
      if (this.isEager) for (const number of this.readers.keys()) this.feeds.taken(number);
    }
  }

  /** The tree is replaced by one with the same content at the same position, as by a snapshot of it, then `change`d unseen. */
  replace(tree: DataTree): void {
    this.#state.tree = tree;
    this.script.tree = tree;
    this.#report();
    this.feeds.treeReplaced();
  }

  /** What a reader of that watch should know. */
  expected(spec: WatchSpec): Map<string, string> {
    const state = new Map<string, string>();
    const visit = (path: string): void => {
      const isMeant = spec.recursive ? isWithin(path, spec.path) : path === spec.path;
      const znode = this.tree.znode(path);
      if (isMeant) state.set(path, describe(znode?.stat().mzxid, spec.withValues ? znode?.data : undefined));
      for (const name of this.tree.children(path) ?? []) visit(path === '/' ? `/${name}` : `${path}/${name}`);
    };
    visit('/');
    return state;
  }

  #report(): void {
    this.tree.report((...change) => this.feeds.changed(...change));
  }

  #count(): number {
    return [...this.readers.values()].reduce((sum, { pieces }) => sum + pieces.length, this.turnsWanted);
  }
}

/** A position after the first `count` txns of a script. */
export function zxidOf(count: number): Zxid {
  return toZxid(0x1_0000_0000n + BigInt(count));
}

function describe(mzxid: Zxid | undefined, data: Uint8Array | undefined): string {
  return `${mzxid} ${data === undefined ? 'null' : `${data.length} ${String.fromCharCode(...data.subarray(0, 8))}`}`;
}
