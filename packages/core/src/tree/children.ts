/**
 * The names of one znode's children: a set for changes, a listing in order for readers.
 *
 * A create or delete never pays for order. A listing is sorted when it is asked for and kept; after changes the next one
 * is made from the last (a long run in order and a short tail, which sorts in about n steps), because clients list
 * big queues again after every change.
 */
export class Children {
  readonly #names = new Set<string>();
  /** The last listing; undefined while nobody has asked, or when too much has changed since. */
  #listing: readonly string[] | undefined = undefined;
  /** Names added since the last listing, in any order, perhaps deleted again. */
  #added: string[] = [];
  #hasDeletions = false;

  get size(): number {
    return this.#names.size;
  }

  add(name: string): void {
    this.#names.add(name);
    if (this.#listing === undefined) return;
    this.#added.push(name);
    if (this.#added.length > this.#names.size) this.#forget();
  }

  delete(name: string): void {
    this.#names.delete(name);
    this.#hasDeletions = true;
  }

  /** The names by code unit. The array is kept for the next caller: never write to it. Later changes don't alter it. */
  inOrder(): readonly string[] {
    const last = this.#listing;
    if (last !== undefined && this.#added.length === 0 && !this.#hasDeletions) return last;
    const listing = last === undefined ? [...this.#names].sort() : this.#update(last);
    this.#forget();
    this.#listing = listing;
    return listing;
  }

  #update(last: readonly string[]): readonly string[] {
    if (!this.#hasDeletions) return [...last, ...this.#added].sort();
    const there = [...last, ...this.#added].filter((name) => this.#names.has(name)).sort();
    // A name that was deleted and added again may have come twice.
    return there.filter((name, i) => i === 0 || name !== there[i - 1]);
  }

  #forget(): void {
    this.#listing = undefined;
    this.#added = [];
    this.#hasDeletions = false;
  }
}
