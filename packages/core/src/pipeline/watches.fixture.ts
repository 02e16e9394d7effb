/** For tests of watches: a tree that is changed by hand, and a book of what each connection was told. */
import type { Acl, Identity, Notification, SingleReadOp, WatchOp } from '@quorate/protocol';
import { TreeScript } from '../tree/tree-script.fixture.ts';
import { readAnswer } from './reads.ts';
import { watchAnswer, withWatch } from './watch-calls.ts';
import { Watches } from './watches.ts';

export class WatchStage {
  readonly script = new TreeScript();
  readonly letGo: number[] = [];
  readonly watches: Watches;
  turnsWanted = 0;
  readonly #told = new Map<number, Notification[]>();

  constructor(bytesMax = 1024 * 1024 * 1024) {
    const host = {
      notify: (attachment: number, notifications: readonly Notification[]) => {
        for (const one of notifications) this.#bookOf(attachment).push(one);
      },
      letGo: (attachment: number) => this.letGo.push(attachment),
      wantTurn: () => this.turnsWanted++,
    };
    this.watches = new Watches(bytesMax, { tree: this.script.tree }, host);
    this.script.tree.report((...change) => this.watches.changed(...change));
  }

  /** A read that leaves a watch: its result, or the code that refused it. */
  read(
    attachment: number,
    kind: 'exists' | 'getData' | 'getChildren',
    path: string,
    own: readonly Identity[] = [],
  ): string {
    const op: SingleReadOp = { kind, path, watch: true };
    const answer = readAnswer(this.script.tree, op, 0n as never, own);
    const { result } = withWatch(this.watches, { attachment, identities: own }, op, answer);
    return result.kind === 'error' ? result.code : result.kind;
  }

  ask(attachment: number, op: WatchOp): string {
    const { result } = watchAnswer(this.watches, this.script.tree, { attachment, identities: [] }, op);
    this.watches.settle(attachment);
    return result.kind === 'error' ? result.code : result.kind;
  }

  createWith(path: string, acl: Acl): void {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/';
    const parentCreates = (this.script.tree.znode(parent)?.creates ?? 0) + 1;
    this.script.apply({ kind: 'create', path, data: undefined, ephemeralOwner: 0n as never, parentCreates, acl });
  }

  /** Turns until nothing is left to be told. Returns how many. */
  runTurns(): number {
    for (let turns = 1; ; turns++) {
      const wanted = this.turnsWanted;
      this.watches.turnEnded();
      if (this.turnsWanted === wanted) return turns;
    }
  }

  /** What the connection was told since it was asked last, as `kind path`. */
  told(attachment: number): string[] {
    const told = this.#bookOf(attachment);
    this.#told.delete(attachment);
    return told.map(({ kind, path }) => `${kind} ${path}`);
  }

  zxidsTold(attachment: number): bigint[] {
    return this.#bookOf(attachment).map(({ zxid }) => zxid);
  }

  #bookOf(attachment: number): Notification[] {
    const book = this.#told.get(attachment) ?? [];
    this.#told.set(attachment, book);
    return book;
  }
}

/** With these znodes. */
export function stageWith(...paths: string[]): WatchStage {
  const stage = new WatchStage();
  for (const path of paths) stage.script.create(path);
  return stage;
}

/** What the connection is told once all turns are over. */
export function toldAfter(stage: WatchStage, change: () => void, attachment = 1): string[] {
  change();
  stage.runTurns();
  return stage.told(attachment);
}
