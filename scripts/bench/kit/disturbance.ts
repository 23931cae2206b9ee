/**
 * What other programs did to measurements: a disturbed one is repeated, and a figure that stays disturbed is not judged.
 * @module
 */
import { percentile } from "./statistics.ts";

/** The share of the gateway's core from which on other programs have disturbed a measurement. */
const disturbingShare = 0.05;

/** Times that a disturbed measurement is repeated. */
export const maxRepeats = 2;

/** The time that others have used of the gateway's core, by measurement. */
export class Disturbance {
  readonly #shares: number[] = [];
  /** Number of disturbed measurements that were kept. */
  kept = 0;

  /** Adds a measurement: the share that other programs used meanwhile, or that the host of a virtual machine withheld. */
  add(share: number): void {
    this.#shares.push(Math.max(0, share));
  }

  /**
   * Returns a percentile of the shares; NaN without measurements.
   *
   * @param share 0.5 for the median, 1 for the most.
   */
  share(share: number): number {
    return percentile(this.#shares, share);
  }

  /**
   * Measures, and again if others have used the core meanwhile.
   *
   * @param prepare Called before each measurement, with the number of those before it.
   */
  async avoid<T>(prepare: (repeats: number) => Promise<void>, measure: () => Promise<T>): Promise<T> {
    for (let repeats = 0;; repeats++) {
      await prepare(repeats);
      const before = this.#shares.length;
      const measured = await measure();
      if (this.#shares.slice(before).every((share) => share < disturbingShare)) return measured;
      if (repeats < maxRepeats) continue;
      this.kept++;
      return measured;
    }
  }
}
