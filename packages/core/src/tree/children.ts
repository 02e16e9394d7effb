/**
 * The children of one znode: a chain for changes, and their order for readers.
 *
 * The chain goes through the children themselves, so it takes no memory beside them and no change of it costs more with
 * a million of them. Of few children a sorted listing is made when it is asked for, and kept until the next change. Of many
 * an *order* is made, in steps, since sorting them all at once would hold everybody up; from then on changes keep it, for
 * clients list big queues again after every change. It is given up when nobody has asked for a while.
 */
import { nameOf } from '@quorate/protocol';
import { byCodeUnit, SortedChunks } from './sorted-chunks.ts';

/** What is a child of at most one parent. */
export interface Sibling {
  readonly path: string;
  previous: Sibling | undefined;
  next: Sibling | undefined;
}

/** More children than these are many: their order is made in steps. */
export const FEW_CHILDREN = 1_024;

/** Of so many in order the names are kept too, like those of few; of more they are gathered at every asking. */
const KEPT_NAMES = 65_536;

/** Stands for the path of a child that is not known, because the order is not made yet. */
export const UNORDERED = '';

/** Many children in order, as far as it is made. */
interface Order {
  /** All of one parent, so that the order of their paths is that of their names. */
  readonly sorted: SortedChunks<Sibling>;
  /** The next of the chain to be put in; those before it are in. Undefined when all are. */
  next: Sibling | undefined;
  /** Somebody has asked for it since it was last looked at. */
  isUsed: boolean;
}

export class Children {
  #first: Sibling | undefined = undefined;
  #size = 0;
  /** Sum of the lengths of their paths, code units. */
  #pathUnits = 0;
  /** How many znodes there are below, at any depth, and the sum of the lengths of their data. Kept by the tree. */
  below = 0;
  bytesBelow = 0;
  /** The names by code unit; undefined when nobody has asked since the last change, or they are too many. */
  #listing: readonly string[] | undefined = undefined;
  #order: Order | undefined = undefined;

  /** The head of the chain, which is in no order. */
  get first(): Sibling | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes of a list of their names, each with a tag and a length: never more than it has, and exact for names of ASCII below 128. */
  leastListBytes(prefixLength: number): number {
    return this.#pathUnits + this.#size * (2 - prefixLength);
  }

  /** Adds one whose name is not there, and that is nobody's child. */
  add(child: Sibling): void {
    child.next = this.#first;
    if (this.#first !== undefined) this.#first.previous = child;
    this.#first = child;
    this.#size++;
    this.#pathUnits += child.path.length;
    this.#listing = undefined;
    this.#order?.sorted.add(child);
  }

  /** Takes one of them out. */
  delete(child: Sibling): void {
    const { previous, next } = child;
    if (this.#order !== undefined) {
      // Where the order is being made it may not be in it yet.
      if (this.#order.next === child) this.#order.next = next;
      else this.#order.sorted.delete(child.path);
    }
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    // So that whoever still has the one does not keep the others.
    child.previous = undefined;
    child.next = undefined;
    this.#size--;
    this.#pathUnits -= child.path.length;
    this.#listing = undefined;
  }

  /** True when they can be asked for in order without a pause. Whoever is told so has some time to do it. */
  get isOrdered(): boolean {
    if (this.#order !== undefined) this.#order.isUsed = true;
    return this.#size <= FEW_CHILDREN || (this.#order !== undefined && this.#order.next === undefined);
  }

  /** Goes on making the order of many, by that many children at most. Returns how many it was; 0 when it is made. */
  putInOrder(most: number): number {
    if (this.isOrdered) return 0;
    this.#order ??= {
      sorted: new SortedChunks(({ path }) => path, byCodeUnit),
      next: this.#first,
      isUsed: true,
    };
    const order = this.#order;
    let count = 0;
    for (; order.next !== undefined && count < most; count++) {
      order.sorted.add(order.next);
      order.next = order.next.next;
    }
    return count;
  }

  /** Gives the order up if nobody has asked for it since the last call of this. True when there is none any more. */
  releaseOrder(): boolean {
    if (this.#order?.isUsed === true) {
      this.#order.isUsed = false;
      return false;
    }
    this.#order = undefined;
    if (this.#size > FEW_CHILDREN) this.#listing = undefined;
    return true;
  }

  /**
   * The path of the first child whose name comes after `name`, which need not be there; UNORDERED when that cannot be said without
   * a pause. `prefix` is what the path of a child has before its name.
   */
  after(prefix: string, name: string): string | undefined {
    if (this.#size > FEW_CHILDREN) {
      if (!this.isOrdered || this.#order === undefined) return UNORDERED;
      return this.#order.sorted.after(prefix + name)?.path;
    }
    const names = this.inOrder();
    const next = names[indexAfter(names, name)];
    return next === undefined ? undefined : prefix + next;
  }

  /**
   * The names by code unit. Of many whose order is not made this sorts all of them. The array may be kept for the next caller: never
   * write to it. Later changes don't alter it.
   */
  inOrder(): readonly string[] {
    const isReady = this.isOrdered;
    if (this.#listing !== undefined) return this.#listing;
    const names: string[] = [];
    if (this.#order !== undefined && this.#order.next === undefined) {
      this.#order.sorted.forEach(({ path }) => names.push(nameOf(path)));
    } else {
      for (let child = this.#first; child !== undefined; child = child.next) names.push(nameOf(child.path));
      names.sort();
    }
    if (isReady && this.#size <= KEPT_NAMES) this.#listing = names;
    return names;
  }
}

/** Index of the first name that is greater. */
function indexAfter(names: readonly string[], name: string): number {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) <= name) low = middle + 1;
    else high = middle;
  }
  return low;
}
