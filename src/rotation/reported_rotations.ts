/**
 * Deduplicates reports of rotations.
 * @module
 */

/**
 * Rotations of a pool by failed attempts. When concurrent requests fail over in the same way, only one of them reports
 * the rotation.
 */
export class ReportedRotations {
  /** Number of reported rotations. */
  count = 0;
  /** Last rotation by the model left. */
  readonly #last = new Map<string, { readonly to: string; readonly count: number }>();

  /**
   * Counts a rotation.
   *
   * @param from The model left.
   * @param to The model tried instead.
   * @param since Value of `count` when the model left was selected.
   * @returns Whether the rotation has not been reported yet.
   */
  add(from: string, to: string, since: number): boolean {
    const last = this.#last.get(from);
    if (last !== undefined && last.to === to && last.count > since) return false;
    this.#last.set(from, { to, count: ++this.count });
    return true;
  }
}
