/** Random trees, changes, readers and resumptions: what a reader knows is what there is, and no change is missed or doubled. */
import { toSessionId, type WatchEvent, type WatchSpec, type Zxid } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { utf8 } from '../tree/tree-script.fixture.ts';
import { FeedStage, type Reader, SPEC } from './feeds.fixture.ts';

const SESSION = toSessionId(0x0100_0000_0000_0001n);
const NAMES = ['a', 'b', 'b!', 'b0', 'c'];
const PATHS = ['/', '/a', '/b', '/b/b', '/a/c', '/c/a/b', '/none'];

/** A small generator of numbers that repeat: [0, bound). */
function dice(seed: number): (bound: number) => number {
  let state = seed + 0x9e37_79b9;
  return (bound) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b_3c6d) + 0x6d2b_79f5) | 0;
    return ((state ^ (state >>> 13)) >>> 0) % bound;
  };
}

function randomPath(draw: (bound: number) => number): string {
  return Array.from({ length: 1 + draw(3) }, () => `/${NAMES[draw(NAMES.length)]}`).join('');
}

/** One random txn. */
function change(stage: FeedStage, draw: (bound: number) => number): void {
  const { script, tree } = stage;
  const path = randomPath(draw);
  const parent = path.slice(0, path.lastIndexOf('/')) || '/';
  const znode = tree.znode(path);
  const roll = draw(10);
  if (roll === 0 && tree.sessions.get(SESSION) !== undefined) script.closeSession(SESSION);
  else if (tree.sessions.get(SESSION) === undefined) script.createSession(SESSION);
  else if (znode === undefined) {
    const owner = tree.znode(parent)?.ephemeralOwner;
    // Data of some size, so that a walk takes several pieces.
    if (owner === 0n) script.create(path, new Uint8Array(draw(30_000)), draw(3) === 0 ? SESSION : undefined);
    else script.error();
  } else if (znode.childCount === 0 && roll < 5) script.delete(path);
  else script.setData(path, utf8(String(roll)));
}

/** A client that goes on at every end: what it was told in all, each event once. */
class Client {
  readonly spec: WatchSpec;
  reader: Reader;
  readonly changes: WatchEvent[] = [];
  #seen = 0;
  #inTxn = 0;
  #skip = 0;
  #resumed: Zxid | undefined;

  constructor(stage: FeedStage, spec: WatchSpec) {
    this.spec = spec;
    this.reader = stage.open(spec);
  }

  /** Takes what is new, leaving out what it had of a txn in whose middle it began again. */
  read(): void {
    const { pieces } = this.reader;
    for (; this.#seen < pieces.length; this.#seen++) {
      const { events, zxid } = pieces[this.#seen] as (typeof pieces)[number];
      for (const event of events) {
        if (event.kind === 'current' || event.kind === 'ready') continue;
        this.#inTxn = this.changes.at(-1)?.zxid === event.zxid ? this.#inTxn + 1 : 1;
        if (this.#skip > 0 && event.zxid === this.#resumed) this.#skip--;
        else this.changes.push(event);
      }
      if (zxid >= (this.changes.at(-1)?.zxid ?? 0n)) this.#inTxn = 0;
    }
  }

  resume(stage: FeedStage): void {
    this.read();
    stage.feeds.closed(stage.numberOf(this.reader));
    this.#skip = this.#inTxn;
    this.#resumed = this.changes.at(-1)?.zxid;
    this.#seen = 0;
    this.reader = stage.open({ ...this.spec, from: this.reader.told });
  }
}

it('what a reader knows of the walked part is what there is, after every piece', () => {
  for (let seed = 0; seed < 150; seed++) {
    const draw = dice(seed);
    const stage = new FeedStage({ isEager: false, bytesMax: 100_000_000 });
    for (let i = 0; i < 30; i++) change(stage, draw);
    const readers = PATHS.map((path) => stage.open({ ...SPEC, path, recursive: draw(4) > 0 }));
    for (let step = 0; step < 60; step++) {
      if (draw(3) > 0) change(stage, draw);
      const reader = readers[draw(readers.length)] as Reader;
      stage.taken(reader);
      stage.feeds.turnEnded();
    }
    for (let i = 0; i < 20; i++) {
      for (const reader of readers) stage.taken(reader);
      stage.feeds.turnEnded();
    }
    stage.nowMs += 1_000;
    stage.feeds.tick();
    for (const reader of readers) {
      expect(reader.end, `seed ${seed}`).toBeUndefined();
      expect(reader.state, `seed ${seed}, ${reader.spec.path}`).toEqual(stage.expected(reader.spec));
      expect(reader.told, `seed ${seed}`).toBe(stage.tree.lastZxid);
    }
  }
});

it('who goes on from the last position misses no change and gets none twice', () => {
  for (let seed = 0; seed < 150; seed++) {
    const draw = dice(seed);
    const stage = new FeedStage({ isEager: false, bytesMax: 100_000_000 });
    const all = stage.open({ initial: false, withValues: false });
    const clients = PATHS.map((path) => new Client(stage, { ...SPEC, path, withValues: false, initial: false }));
    stage.feeds.turnEnded();
    for (let step = 0; step < 80; step++) {
      change(stage, draw);
      const client = clients[draw(clients.length)] as Client;
      if (draw(3) === 0 && client.reader.pieces.length > 0) client.resume(stage);
      stage.taken(client.reader);
      stage.feeds.turnEnded();
    }
    for (const reader of [all, ...clients.map((client) => client.reader)]) stage.taken(reader);
    stage.settle();
    const changes = all.events.filter(({ kind }) => kind !== 'ready');
    expect(changes.length).toBeGreaterThan(10);
    for (const client of clients) {
      client.read();
      const { path } = client.spec;
      const below = path === '/' ? path : `${path}/`;
      const expected = changes.filter((event) => event.path === path || event.path.startsWith(below));
      expect(client.changes, `seed ${seed}, ${path}`).toEqual(expected);
    }
  }
});
