/**
 * Chance by a seed, with the draws a scenario is made of.
 * @module
 */
import { seededRandom } from "../../src/runtime/test.ts";

/** A stream of draws, the same every time for the same seed. */
export class Chance {
  /** Uniform in [0, 1). */
  readonly next: () => number;

  /**
   * @param seed Where it starts.
   * @param purpose Streams of one seed for different purposes know nothing of each other.
   */
  constructor(seed: number, purpose: string) {
    let mixed = seed | 0;
    for (const letter of purpose) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x9E3779B1) ^ mixed >>> 15;
    this.next = seededRandom(mixed);
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** An integer from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  /** True with a probability. */
  happens(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of a list. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  /** At least one of a list, in any order. */
  some<T>(list: readonly T[]): T[] {
    const rest = [...list];
    const count = this.whole(1, rest.length);
    return Array.from({ length: count }, () => rest.splice(Math.floor(this.next() * rest.length), 1)[0]!);
  }

  /** Times around a median: half of them below it, a few far above. */
  skewed(median: number, spread: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(spread * normal);
  }
}
