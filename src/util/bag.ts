/**
 * What is there for a while, such as requests under way: added and taken out all the time, in no order.
 *
 * A `Set` would do, but for the garbage collector: V8 makes a new table for it every so many changes, and each old one,
 * once it has grown old, keeps the next one alive, and everything in it.
 * @module
 */

/** Something that can be in one {@linkcode Bag} at a time. */
export interface Thing {
  /** Where it is; of no use to anybody else. */
  place?: number;
}

/**
 * Some things.
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

  /** How many there are. */
  get size(): number {
    return this.#things.length;
  }

  /** Those there are now. */
  get all(): readonly T[] {
    return [...this.#things];
  }

  /** Adds one that is in no bag yet. */
  add(thing: T): void {
    thing.place = this.#things.length;
    this.#things.push(thing);
  }

  /** Takes one out; whether it was there. */
  delete(thing: T): boolean {
    const { place } = thing;
    if (place === undefined || this.#things[place] !== thing) return false;
    const last = this.#things.pop()!;
    if (last !== thing) {
      this.#things[place] = last;
      last.place = place;
    }
    thing.place = undefined;
    return true;
  }
}
