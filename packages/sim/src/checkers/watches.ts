/**
 * ZooKeeper's watches: a connection is told exactly what its watches see, in the order of the history, each change before any answer
 * that could show it; what it may not read it is not told, and a watch of one shot is used up all the same. When watches are said
 * again at another member, what happened meanwhile is told before the answer. Source: reference §8.
 * Not verified: that what is due is told where nothing is answered any more.
 */
import {
  formatZxid,
  type Identity,
  NO_ZXID,
  type Notification,
  type Op,
  PERMS,
  type WatchLists,
  ZERO_ZXID,
  type Zxid,
} from '@quorate/protocol';
import { isAllowed } from '../acl-model.ts';
import { type CallRecord, describeCall, fateOf } from '../calls.ts';
import { type Change, Changes } from '../changes.ts';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

/** What a connection has heard, in order. */
type Heard = CallRecord | Notification;

interface Modes {
  standard: boolean;
  persistent: boolean;
  recursive: boolean;
}

export class WatchesChecker implements Checker {
  readonly name = 'watches';
  readonly kinds = ['answered', 'notified'] as const;
  readonly #heard = new Map<number, Heard[]>();

  observe(observation: Observation, ledger: Ledger): void {
    if (observation.kind === 'notified') {
      this.#hear(observation.attachment, ...observation.notifications);
    } else if (observation.kind === 'answered') {
      const record = ledger.calls.all.get(observation.callId);
      if (record !== undefined && record.call.attachment !== 0) this.#hear(record.call.attachment, record);
    }
  }

  finish(ledger: Ledger): void {
    const changes = new Changes(ledger);
    for (const [attachment, heard] of this.#heard) {
      if (!heard.some((one) => !('call' in one) || isAboutWatches(one.call.op))) continue;
      const connection = new Connection(changes, (what) => violated(this, `attachment ${attachment} ${what}`));
      for (const one of heard) {
        if ('call' in one) connection.answered(one);
        else connection.told(one);
      }
    }
  }

  #hear(attachment: number, ...what: Heard[]): void {
    const heard = this.#heard.get(attachment);
    if (heard === undefined) this.#heard.set(attachment, what);
    else heard.push(...what);
  }
}

function isAboutWatches(op: { readonly kind: string }): boolean {
  return ('watch' in op && op.watch === true) || op.kind === 'addWatch' || op.kind === 'setWatches';
}

/** One connection, told again from the history. */
class Connection {
  readonly #changes: Changes;
  readonly #bad: (what: string) => never;
  readonly #data = new Map<string, Modes>();
  readonly #child = new Map<string, Modes>();
  #identities: readonly Identity[] = [];
  /** Changes that it has come to. */
  #next = 0;
  #expected: Change[] = [];
  /** Told of what was missed, for watches that are said again. */
  #missed: Notification[] = [];

  constructor(changes: Changes, bad: (what: string) => never) {
    this.#changes = changes;
    this.#bad = bad;
  }

  told(notification: Notification): void {
    const { kind, path, zxid } = notification;
    if (zxid === NO_ZXID) {
      this.#missed.push(notification);
      return;
    }
    while (this.#expected.length === 0 && this.#comesTo(zxid as Zxid));
    const first = this.#expected.shift();
    if (first?.kind === kind && first.path === path && first.zxid === zxid) return;
    const due = first === undefined ? 'nothing' : textOf(first);
    this.#bad(`is told of ${textOf(notification)}, where ${due} was due`);
  }

  answered(record: CallRecord): void {
    const { call, answer } = record;
    const { op, identities = [] } = call;
    const fate = fateOf(answer);
    const result = answer?.result;
    const zxid = answer?.zxid ?? ZERO_ZXID;
    const isOld = call.request !== undefined && zxid < (this.#changes.all[this.#next]?.zxid ?? zxid);
    if (isAboutWatches(op)) this.#identities = identities;
    if (answer === undefined || isOld || (fate !== 'done' && fate !== 'refused' && !hasNone(result))) return;
    while (this.#comesTo(zxid));
    const [due] = this.#expected;
    if (due !== undefined) this.#bad(`got ${describeCall(record)} of ${formatZxid(zxid)} before ${textOf(due)}`);
    if (op.kind === 'setWatches') this.#setAgain(op.lists, zxid);
    else if (op.kind === 'removeWatches') this.#removed(op, result?.kind === 'error');
    else if (op.kind === 'addWatch') {
      this.#modes(this.#data, op.path)[op.mode === 'persistent' ? 'persistent' : 'recursive'] = true;
      if (op.mode === 'persistent') this.#modes(this.#child, op.path).persistent = true;
    } else if ('watch' in op && op.watch === true)
      this.#watches(op, result?.kind === 'error' ? result.code : undefined);
  }

  #watches(op: Extract<Op, { watch?: boolean }>, code: string | undefined): void {
    if (code !== undefined && !(op.kind === 'exists' && code === 'NO_NODE')) return;
    this.#modes(op.kind === 'getChildren' ? this.#child : this.#data, op.path).standard = true;
  }

  #removed({ path }: { readonly path: string }, isRefused: boolean): void {
    const had = [this.#data.get(path), this.#child.get(path)].some(
      (modes) => modes !== undefined && (modes.standard || modes.persistent || modes.recursive),
    );
    if (had === isRefused) this.#bad(`${had ? 'has' : 'has no'} watches of ${path} to take away`);
    this.#data.delete(path);
    this.#child.delete(path);
  }

  #setAgain(lists: WatchLists, zxid: Zxid): void {
    const missed: string[] = [];
    const one = (kind: string | undefined, table: Map<string, Modes>, path: string): void => {
      if (kind === undefined) this.#modes(table, path).standard = true;
      else missed.push(`${kind} of ${path}`);
    };
    for (const path of lists.data) {
      const znode = this.#changes.at(path, zxid);
      const isNewer = znode !== undefined && znode.mzxid > lists.relativeZxid;
      one(znode === undefined ? 'nodeDeleted' : isNewer ? 'nodeDataChanged' : undefined, this.#data, path);
    }
    for (const path of lists.exist) one(this.#changes.at(path, zxid) && 'nodeCreated', this.#data, path);
    for (const path of lists.child) {
      const znode = this.#changes.at(path, zxid);
      const isNewer = znode !== undefined && znode.pzxid > lists.relativeZxid;
      one(znode === undefined ? 'nodeDeleted' : isNewer ? 'nodeChildrenChanged' : undefined, this.#child, path);
    }
    const told = this.#missed.map(({ kind, path }) => `${kind} of ${path}`);
    if (told.join() !== missed.join()) this.#bad(`is told on setWatches of [${told.join()}], not [${missed.join()}]`);
    this.#missed = [];
  }

  /** Comes to the next change up to there; false when there is none. */
  #comesTo(zxid: Zxid): boolean {
    const change = this.#changes.all[this.#next];
    if (change === undefined || change.zxid > zxid) return false;
    this.#next += 1;
    if (this.#isTold(change) && isAllowed(change.acl, PERMS.READ, this.#identities)) this.#expected.push(change);
    return true;
  }

  /** Whether a watch sees it, which may be used up by it. */
  #isTold({ kind, path }: Change): boolean {
    const tables = { nodeChildrenChanged: [this.#child], nodeDeleted: [this.#data, this.#child] } as const;
    let isSeen = false;
    for (const table of kind in tables ? tables[kind as keyof typeof tables] : [this.#data]) {
      const modes = table.get(path);
      if (modes === undefined) continue;
      isSeen ||= modes.standard || modes.persistent;
      modes.standard = false;
    }
    return isSeen || (kind !== 'nodeChildrenChanged' && this.#isBelowRecursive(path));
  }

  #isBelowRecursive(path: string): boolean {
    for (const [top, { recursive }] of this.#data) {
      if (recursive && (path === top || top === '/' || path.startsWith(`${top}/`))) return true;
    }
    return false;
  }

  #modes(table: Map<string, Modes>, path: string): Modes {
    const modes = table.get(path) ?? { standard: false, persistent: false, recursive: false };
    table.set(path, modes);
    return modes;
  }
}

function hasNone(result: { readonly kind: string } | undefined): boolean {
  return result !== undefined && 'code' in result && result.code === 'NO_WATCHER';
}

function textOf({ kind, path, zxid }: Notification | Change): string {
  return `${kind} of ${path} at ${formatZxid(zxid)}`;
}
