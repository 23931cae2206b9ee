/**
 * An unordered collection for objects that are added and removed frequently, such as requests in flight.
 *
 * It replaces `Set` for the sake of the garbage collector: V8 reallocates the table of a `Set` regularly, and old
 * tables, once promoted to the old generation, keep their successors and contents alive.
 * @module
 */

/** A member of at most one {@linkcode IndexedSet}. */
export interface Indexed {
  /** Index in the bag. Only the bag uses it. */
  index?: number;
}

/**
 * An unordered collection.
 *
 * @example
 * ```ts
 * const open = new IndexedSet<{ index?: number; readonly id: string }>();
 * const request = { id: "request-1" };
 * open.add(request);
 * open.delete(request); // true
 * ```
 */
export class IndexedSet<T extends Indexed> {
  readonly #members: T[] = [];

  get size(): number {
    return this.#members.length;
  }

  /** Returns a copy of the current members. */
  get all(): readonly T[] {
    return [...this.#members];
  }

  /** Adds a member, which must not be in any bag. */
  add(member: T): void {
    member.index = this.#members.length;
    this.#members.push(member);
  }

  /** Removes a member. Returns whether it was one. */
  delete(member: T): boolean {
    const { index } = member;
    if (index === undefined || this.#members[index] !== member) return false;
    const last = this.#members.pop()!;
    if (last !== member) {
      this.#members[index] = last;
      last.index = index;
    }
    member.index = undefined;
    return true;
  }
}
