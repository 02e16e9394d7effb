/** A queue whose ends are cheap at any length; an array's `shift` moves everything that is left. */
export class Fifo<T> {
  #items: T[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.length === 0) return undefined;
    this.#items[this.#head++] = undefined as T;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Puts `items` before the others, in their order. */
  unshiftAll(items: readonly T[]): void {
    if (items.length > 0) this.#items = [...items, ...this.#items.slice(this.#head)];
    else return;
    this.#head = 0;
  }

  /** Keeps only those that `keep` accepts. */
  filter(keep: (item: T) => boolean): void {
    this.#items = this.#items.slice(this.#head).filter(keep);
    this.#head = 0;
  }

  /** Empties the queue and returns what was in it. */
  takeAll(): T[] {
    const items = this.#items.slice(this.#head);
    this.#items = [];
    this.#head = 0;
    return items;
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.slice(this.#head)[Symbol.iterator]();
  }
}
