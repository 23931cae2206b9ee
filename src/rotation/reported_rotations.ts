/**
 * The rotations of a pool that were reported.
 * @module
 */

/** Knows which rotations by failed attempts were reported: of requests that fail at once, one reports theirs. */
export class ReportedRotations {
  #count = 0;
  /** By the model left. */
  readonly #last = new Map<string, { readonly to: string; readonly count: number }>();

  get count(): number {
    return this.#count;
  }

  /**
   * Counts a rotation.
   *
   * @param from The model left.
   * @param to The model asked instead.
   * @param since Value of `count` when the model left was chosen.
   * @returns Whether it is yet to be reported.
   */
  add(from: string, to: string, since: number): boolean {
    const last = this.#last.get(from);
    if (last !== undefined && last.to === to && last.count > since) return false;
    this.#last.set(from, { to, count: ++this.#count });
    return true;
  }
}
