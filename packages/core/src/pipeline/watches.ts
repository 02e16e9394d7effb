/**
 * ZooKeeper's watches at this member: whose connection watches what, and what each is told. Not replicated; they end with the
 * connection. A change only marks who is to be told; telling is work of turns, save that whoever gets an answer is told all of his
 * first, so that nobody sees a change before he is told of it. Source: ZooKeeper `WatchManager`, reference §8.
 *
 * Policies when full: past `bytesMax` a watch is refused, THROTTLED; past PENDING_MAX notifications that wait they are all told at
 * once, which slows the loop rather than fill the memory. A connection that does not read is its front's to end.
 */
import { type Acl, type Identity, type Notification, type NotificationKind, PERMS, type Zxid } from '@quorate/protocol';
import type { ChangeSink, DataTree } from '../tree/data-tree.ts';
import { mayAccess } from './access.ts';
import type { CurrentTree } from './current-tree.ts';
import { RECURSIVE, type Recipients, WatchTable } from './watch-table.ts';

export interface WatchesHost {
  /** In order, before anything that is answered later. */
  notify(attachment: number, notifications: readonly Notification[]): void;
  /** The client has to come again, and to say what it watched: what happened meanwhile is not known here. */
  letGo(attachment: number, reason: string): void;
  /** Another turn is to come at once: there is more to tell. */
  wantTurn(): void;
}

/** A connection that watches something. */
interface Owner {
  readonly attachment: number;
  identities: readonly Identity[];
  /** What it watches, in either table. */
  readonly paths: Set<string>;
  pending: Notification[];
  isDue: boolean;
}

/** A change that very many are to be told of, and those who were not yet. */
interface Crowding {
  readonly groups: readonly Map<number, number>[];
  readonly notification: Notification;
  readonly acl: Acl | undefined;
}

/** Up to as many are marked at the change itself. */
const AT_ONCE = 256;

/** Changes with more whose tellings are under way; past it the oldest is finished first. */
const CROWDINGS_MAX = 16;

/** Units of work of one turn: a notification, or a path that nobody watches any more. Some ms. */
const TURN_WORK = 4_000;

/** Notifications that were made and not handed on, of all connections. */
const PENDING_MAX = 400_000;

/** What a watch costs in memory beside two bytes for each character of its path, bytes. */
const WATCH_BYTES = 160;

export class Watches {
  readonly #bytesMax: number;
  readonly #state: CurrentTree;
  readonly #host: WatchesHost;
  /** Left by exists and getData, and those that last. */
  readonly #data = new WatchTable();
  /** Left by getChildren, and persistent ones. */
  readonly #child = new WatchTable();
  readonly #owners = new Map<number, Owner>();
  /** What connections have shown for themselves after they began, whether they watch something or not. */
  readonly #shown = new Map<number, readonly Identity[]>();
  #recursive = 0;
  #bytes = 0;
  #pending = 0;
  #due: Owner[] = [];
  #crowdings: Crowding[] = [];
  /** Of connections that are gone: what they watched is taken out in turns. */
  #gone: { readonly attachment: number; readonly paths: Iterator<string, undefined> }[] = [];

  constructor(bytesMax: number, state: CurrentTree, host: WatchesHost) {
    this.#bytesMax = bytesMax;
    this.#state = state;
    this.#host = host;
  }

  /** About what the watches take, bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Connections that watch something. */
  get owners(): number {
    return this.#owners.size;
  }

  /** Every path whose data or existence is watched, and by which attachments. */
  watchedData(): Iterable<{ readonly path: string; readonly attachments: readonly number[] }> {
    return this.#data.entries();
  }

  get #tree(): DataTree {
    return this.#state.tree;
  }

  /** What the connection has shown for itself by now. */
  identified(attachment: number, identities: readonly Identity[]): void {
    this.#shown.set(attachment, identities);
    const owner = this.#owners.get(attachment);
    if (owner !== undefined) owner.identities = identities;
  }

  /** Adds to what the connection watches at the path. False when there is no room. */
  add(
    attachment: number,
    identities: readonly Identity[],
    where: 'data' | 'child',
    path: string,
    mode: number,
  ): boolean {
    const owner = this.#owners.get(attachment) ?? this.#newOwner(attachment);
    // A call that waited in its session's line may bring what was known before the last of it was shown.
    owner.identities = this.#shown.get(attachment) ?? identities;
    if (!owner.paths.has(path)) {
      const bytes = bytesOf(path);
      if (this.#bytes + bytes > this.#bytesMax) return false;
      this.#bytes += bytes;
      owner.paths.add(path);
    }
    const table = where === 'data' ? this.#data : this.#child;
    const before = table.modesOf(path, attachment);
    if ((mode & ~before & RECURSIVE) !== 0) this.#recursive++;
    table.setModes(path, attachment, before | mode);
    return true;
  }

  /** Which of `modes` the connection has at exactly that path. */
  modesOf(attachment: number, where: 'data' | 'child', path: string): number {
    return (where === 'data' ? this.#data : this.#child).modesOf(path, attachment);
  }

  /** Takes modes away. */
  remove(attachment: number, where: 'data' | 'child', path: string, modes: number): void {
    const table = where === 'data' ? this.#data : this.#child;
    const before = table.modesOf(path, attachment);
    if ((before & modes & RECURSIVE) !== 0) this.#recursive--;
    table.setModes(path, attachment, before & ~modes);
    const owner = this.#owners.get(attachment);
    if (owner !== undefined) this.#release(owner, path);
  }

  /** Tells the connection something by itself, whatever it may read. It stands in line behind what it has to be told already. */
  tell(attachment: number, notification: Notification): void {
    // It may watch nothing: what it is told is all that there was.
    if (!this.#owners.has(attachment)) this.#newOwner(attachment);
    this.#tell(attachment, notification, undefined);
  }

  /** The connection is gone. */
  detached(attachment: number): void {
    this.#shown.delete(attachment);
    const owner = this.#owners.get(attachment);
    if (owner === undefined) return;
    this.#owners.delete(attachment);
    this.#pending -= owner.pending.length;
    owner.pending = [];
    this.#gone.push({ attachment, paths: owner.paths.values() });
  }

  /** A change of the tree, just applied: see `ChangeSink`. */
  changed(...[kind, path, zxid, , acl]: Parameters<ChangeSink>): void {
    if (this.#owners.size === 0) return;
    switch (kind) {
      case 'created':
        this.#fire('nodeCreated', path, zxid, acl, [this.#data.take(path)]);
        return this.#childrenChanged(path, zxid);
      case 'deleted':
        // One who watches both is told once: it is the same notification.
        this.#fire('nodeDeleted', path, zxid, acl, [this.#data.take(path), this.#child.take(path)]);
        return this.#childrenChanged(path, zxid);
      case 'dataChanged':
        return this.#fire('nodeDataChanged', path, zxid, acl, [this.#data.take(path)]);
      default:
        // A new list changes nothing that is watched.
        return;
    }
  }

  /** A snapshot replaced the tree: nobody saw what led to it. */
  treeReplaced(): void {
    for (const attachment of [...this.#owners.keys()]) {
      this.#host.letGo(attachment, 'A snapshot replaced the tree; what was watched has to be said again');
    }
  }

  /** Something is about to be answered on that connection: it is told first what it has to be told (P15). */
  settle(attachment: number): void {
    if (this.#owners.size === 0) return;
    const owner = this.#owners.get(attachment);
    if (owner === undefined) return;
    if (this.#crowdings.length > 0) this.#pull(attachment);
    if (owner.pending.length > 0) this.#emit(owner, owner.pending.length);
  }

  /** End of a turn: tells as much as a turn may. */
  turnEnded(): void {
    if (this.#due.length === 0 && this.#crowdings.length === 0 && this.#gone.length === 0) return;
    let work = TURN_WORK;
    work = this.#tellCrowds(work);
    work = this.#emitDue(work);
    this.#forgetGone(work);
    if (this.#due.length > 0 || this.#crowdings.length > 0 || this.#gone.length > 0) this.#host.wantTurn();
  }

  #newOwner(attachment: number): Owner {
    const owner: Owner = { attachment, identities: [], paths: new Set(), pending: [], isDue: false };
    this.#owners.set(attachment, owner);
    return owner;
  }

  #childrenChanged(path: string, zxid: Zxid): void {
    if (this.#child.size === 0) return;
    const parent = path.slice(0, Math.max(1, path.lastIndexOf('/')));
    const recipients = this.#child.take(parent);
    if (recipients === undefined) return;
    this.#fire('nodeChildrenChanged', parent, zxid, this.#tree.znode(parent)?.acl, [recipients]);
  }

  #fire(
    kind: NotificationKind,
    path: string,
    zxid: Zxid,
    acl: Acl | undefined,
    taken: readonly (Recipients | undefined)[],
  ): void {
    if (this.#recursive === 0 && taken.every((one) => one === undefined)) return;
    const notification = { kind, path, zxid };
    const crowds = taken.filter((one) => typeof one === 'object' && one.size > AT_ONCE) as Map<number, number>[];
    const few = new Set<number>();
    for (const one of taken) {
      if (typeof one === 'number') few.add(one);
      else if (one !== undefined && one.size <= AT_ONCE) for (const attachment of one.keys()) few.add(attachment);
    }
    if (this.#recursive > 0 && kind !== 'nodeChildrenChanged') {
      const below = this.#recursiveAbove(path);
      if (below.size > AT_ONCE) crowds.push(below);
      else for (const attachment of below.keys()) few.add(attachment);
    }
    for (const attachment of few) {
      if (crowds.some((crowd) => crowd.has(attachment))) continue;
      this.#tell(attachment, notification, acl);
    }
    if (crowds.length > 0) this.#begin({ groups: crowds, notification, acl });
  }

  /** Those who watch all below an ancestor of the path, or below the path itself. */
  #recursiveAbove(path: string): Map<number, number> {
    const found = new Map<number, number>();
    const add = (attachment: number): void => {
      found.set(attachment, RECURSIVE);
    };
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      this.#data.forMode(path.slice(0, end), RECURSIVE, add);
    }
    if (path !== '/') this.#data.forMode('/', RECURSIVE, add);
    return found;
  }

  #begin(crowding: Crowding): void {
    this.#crowdings.push(crowding);
    if (this.#crowdings.length <= CROWDINGS_MAX) return;
    const [oldest] = this.#crowdings;
    if (oldest !== undefined) this.#tellCrowd(oldest, Number.POSITIVE_INFINITY);
    this.#crowdings.shift();
  }

  #tellCrowds(work: number): number {
    let left = work;
    for (let first = this.#crowdings[0]; first !== undefined && left > 0; first = this.#crowdings[0]) {
      left = this.#tellCrowd(first, left);
      if (left > 0) this.#crowdings.shift();
    }
    return left;
  }

  /** Returns the work that is left; some is only when all were told. */
  #tellCrowd({ groups, notification, acl }: Crowding, work: number): number {
    let left = work;
    for (const group of groups) {
      for (const attachment of group.keys()) {
        if (left-- <= 0) return 0;
        for (const other of groups) other.delete(attachment);
        this.#mark(attachment, notification, acl);
      }
    }
    return left;
  }

  /** What that connection has to be told with a crowd, it is told now. */
  #pull(attachment: number): void {
    for (const { groups, notification, acl } of this.#crowdings) {
      let isMeant = false;
      for (const group of groups) isMeant = group.delete(attachment) || isMeant;
      if (isMeant) this.#mark(attachment, notification, acl);
    }
  }

  #tell(attachment: number, notification: Notification, acl: Acl | undefined): void {
    if (this.#crowdings.length > 0) this.#pull(attachment);
    this.#mark(attachment, notification, acl);
  }

  /** Puts it in line. Whoever may not read the znode is told nothing, and his watch is used up all the same. */
  #mark(attachment: number, notification: Notification, acl: Acl | undefined): void {
    const owner = this.#owners.get(attachment);
    if (owner === undefined) return;
    this.#release(owner, notification.path);
    if (!mayAccess({ acl }, PERMS.READ, owner.identities)) return;
    owner.pending.push(notification);
    if (!owner.isDue) {
      owner.isDue = true;
      this.#due.push(owner);
    }
    if (++this.#pending > PENDING_MAX) this.#emitDue(Number.POSITIVE_INFINITY);
  }

  #emitDue(work: number): number {
    let left = work;
    let done = 0;
    for (const owner of this.#due) {
      if (left <= 0) break;
      const count = Math.min(owner.pending.length, left);
      left -= count + 1;
      this.#emit(owner, count);
      if (owner.pending.length > 0) break;
      owner.isDue = false;
      done++;
    }
    this.#due = this.#due.slice(done);
    return left;
  }

  #emit(owner: Owner, count: number): void {
    if (count === 0) return;
    const told = count === owner.pending.length ? owner.pending : owner.pending.slice(0, count);
    owner.pending = count === owner.pending.length ? [] : owner.pending.slice(count);
    this.#pending -= count;
    this.#host.notify(owner.attachment, told);
  }

  #forgetGone(work: number): void {
    let left = work;
    for (let first = this.#gone[0]; first !== undefined && left > 0; left--) {
      const next = first.paths.next();
      const path = next.value;
      if (path === undefined) {
        this.#gone.shift();
        first = this.#gone[0];
        continue;
      }
      const { attachment } = first;
      if ((this.#data.modesOf(path, attachment) & RECURSIVE) !== 0) this.#recursive--;
      this.#data.setModes(path, attachment, 0);
      this.#child.setModes(path, attachment, 0);
      this.#bytes -= bytesOf(path);
    }
  }

  /** When the connection watches nothing more at the path, it is let go of there. */
  #release(owner: Owner, path: string): void {
    if (!owner.paths.has(path)) return;
    const { attachment } = owner;
    if ((this.#data.modesOf(path, attachment) | this.#child.modesOf(path, attachment)) !== 0) return;
    owner.paths.delete(path);
    this.#bytes -= bytesOf(path);
  }
}

function bytesOf(path: string): number {
  return WATCH_BYTES + 2 * path.length;
}
