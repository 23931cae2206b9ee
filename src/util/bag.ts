/**
 * An unordered collection for objects that are added and removed frequently, such as requests in flight.
 *
 * It replaces `Set` for the sake of the garbage collector: V8 reallocates the table of a `Set` regularly, and old
 * tables, once promoted to the old generation, keep their successors and contents alive.
 * @module
 */

/** A member of at most one {@linkcode Bag}. */
export interface Thing {
  /** Index in the bag. Only the bag uses it. */
  index?: number;
}

/**
 * An unordered collection.
 *
 * @example
 * ```ts
 * const open = new Bag<{ index?: number; readonly id: string }>();
 * const request = { id: "request-1" };
 * open.add(request);
 * open.delete(request); // true
 * ```
 */
export class Bag<T extends Thing> {
  readonly #things: T[] = [];

  get size(): number {
    return this.#things.length;
  }

  /** Returns a copy of the current members. */
  get all(): readonly T[] {
    return [...this.#things];
  }

  /** Adds a member, which must not be in any bag. */
  add(thing: T): void {
    thing.index = this.#things.length;
    this.#things.push(thing);
  }

  /** Removes a member. Returns whether it was one. */
  delete(thing: T): boolean {
    const { index } = thing;
    if (index === undefined || this.#things[index] !== thing) return false;
    const last = this.#things.pop()!;
    if (last !== thing) {
      this.#things[index] = last;
      last.index = index;
    }
    thing.index = undefined;
    return true;
  }
}
