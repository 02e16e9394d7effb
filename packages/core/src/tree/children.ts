/**
 * The children of one znode: a chain for changes, a listing of their names in order for readers.
 *
 * The chain goes through the children themselves, so it takes no memory beside them and no change of it costs more with
 * a million of them. A create or delete never pays for order either. A listing is sorted when it is asked for and kept;
 * after changes the next one is made from the last (a long run in order and a short tail, which sorts in about n steps),
 * because clients list big queues again after every change.
 */
import { nameOf } from '@quorate/protocol';

/** What is a child of at most one parent. */
export interface Sibling {
  readonly path: string;
  previous: Sibling | undefined;
  next: Sibling | undefined;
}

export class Children {
  #first: Sibling | undefined = undefined;
  #size = 0;
  /** How many of them have children themselves. Kept by the tree: whoever counts a subtree need not look at those that have none. */
  parents = 0;
  /** The last listing; undefined while nobody has asked, or when too much has changed since. */
  #listing: readonly string[] | undefined = undefined;
  /** Names added since the last listing, in any order, perhaps deleted again. None is in the listing. */
  #added: string[] = [];
  /** Names of the listing and of `#added` that are not there any more. */
  readonly #deleted = new Set<string>();

  /** The head of the chain, which is in no order. */
  get first(): Sibling | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds one whose name is not there, and that is nobody's child. */
  add(child: Sibling): void {
    child.next = this.#first;
    if (this.#first !== undefined) this.#first.previous = child;
    this.#first = child;
    this.#size++;
    if (this.#listing === undefined) return;
    const name = nameOf(child.path);
    // One that comes again has its place.
    if (this.#deleted.delete(name)) return;
    this.#added.push(name);
    if (this.#added.length > this.#size) this.#forget();
  }

  /** Takes one of them out. */
  delete(child: Sibling): void {
    const { previous, next } = child;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next !== undefined) next.previous = previous;
    // So that whoever still has the one does not keep the others.
    child.previous = undefined;
    child.next = undefined;
    this.#size--;
    if (this.#listing !== undefined) this.#deleted.add(nameOf(child.path));
  }

  /** The names by code unit. The array is kept for the next caller: never write to it. Later changes don't alter it. */
  inOrder(): readonly string[] {
    const last = this.#listing;
    if (last !== undefined && this.#added.length === 0 && this.#deleted.size === 0) return last;
    const listing = last === undefined ? this.#names() : this.#update(last);
    this.#forget();
    this.#listing = listing.sort();
    return this.#listing;
  }

  #names(): string[] {
    const names: string[] = [];
    for (let child = this.#first; child !== undefined; child = child.next) names.push(nameOf(child.path));
    return names;
  }

  #update(last: readonly string[]): string[] {
    const all = [...last, ...this.#added];
    return this.#deleted.size === 0 ? all : all.filter((name) => !this.#deleted.has(name));
  }

  #forget(): void {
    this.#listing = undefined;
    this.#added = [];
    this.#deleted.clear();
  }
}
