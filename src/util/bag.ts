/**
 * A collection of short-lived things, such as requests under way: added and removed all the time, in no order.
 *
 * A `Set` would do, but for the garbage collector: V8 makes a new table for it every so many changes, and each old one,
 * once it has grown old, keeps the next one alive, and everything in it.
 * @module
 */

/** A member of at most one {@linkcode Bag}. */
export interface Thing {
  /** Its index in the bag, which alone uses it. */
  index?: number;
}

/**
 * An unordered collection.
 *
 * @example
 * ```ts ignore
 * const open = new Bag<Request>();
 * open.add(request);
 * open.delete(request); // true
 * ```
 */
export class Bag<T extends Thing> {
  readonly #things: T[] = [];

  get size(): number {
    return this.#things.length;
  }

  /** A copy of the current members. */
  get all(): readonly T[] {
    return [...this.#things];
  }

  /** The member must be in no bag. */
  add(thing: T): void {
    thing.index = this.#things.length;
    this.#things.push(thing);
  }

  /** Returns whether it was a member. */
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
