/**
 * A first-in, first-out queue.
 * @module
 */

/** Number of removed items after which memory is released. */
const minReleased = 64;

/** A queue. Adding and removing take constant time; `shift()` of a long array takes time in proportion to its length. */
export class Queue<Item> {
  #items: (Item | undefined)[] = [];
  #start = 0;

  /** Number of items. */
  get length(): number {
    return this.#items.length - this.#start;
  }

  /** The first item; undefined if the queue is empty. */
  get first(): Item | undefined {
    return this.#items[this.#start];
  }

  /** The last item; undefined if the queue is empty. */
  get last(): Item | undefined {
    return this.length === 0 ? undefined : this.#items.at(-1);
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** Removes the first item, and returns it; undefined if the queue is empty. */
  shift(): Item | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#start];
    this.#items[this.#start++] = undefined; // can be collected
    if (this.#start > minReleased && this.#start * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#start);
      this.#start = 0;
    }
    return item;
  }

  /** The items, first to last. */
  *[Symbol.iterator](): Generator<Item> {
    for (let at = this.#start; at < this.#items.length; at++) yield this.#items[at]!;
  }
}
