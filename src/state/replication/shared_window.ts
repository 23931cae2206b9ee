/**
 * Requests of the last minute that several processes admit together: to the request, since the store that they share
 * decides about each.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedSum } from "../../contracts/storage.ts";

/** The window moves second by second; what was admitted counts for a minute, and up to a second more. */
const [sliceMs, slices] = [1000, 60];

/** Turns of a second that a request may fall into, before it is refused. */
const maxTries = 3;

/** One client's. */
export class SharedWindow {
  readonly #name: string;
  readonly #clock: Pick<Clock, "now">;
  /** By number of a slice that is over: what was admitted in it. */
  readonly #past = new Map<number, number>();
  /** What is known of the slice before the present one, which others may still be adding to. */
  #before = { number: NaN, sum: 0 };

  /** @param name Among all that the store has. */
  constructor(name: string, clock: Pick<Clock, "now">) {
    this.#name = name;
    this.#clock = clock;
  }

  /**
   * Admits a request, or not.
   *
   * @param limit Of a minute.
   * @returns 0 when it is admitted; else the time until one may be, ms.
   */
  async take(shared: Shared, limit: number): Promise<number> {
    for (let tries = 0; tries < maxTries; tries++) {
      const present = Math.floor(this.#clock.now() / sliceMs);
      await this.#read(shared, present);
      const room = limit - this.#pastOf(present) - this.#beforeOf(present);
      const { isGranted, sums: [before = 0, now = 0] } = await shared.reserve([
        { ...this.#slice(present - 1), amount: 0, limit: Number.MAX_SAFE_INTEGER },
        { ...this.#slice(present), amount: 1, limit: room },
      ]);
      const isKnown = before === this.#beforeOf(present);
      this.#before = { number: present - 1, sum: before };
      if (isGranted && this.#pastOf(present) + before + now <= limit) return 0;
      if (isGranted) await shared.add([{ ...this.#slice(present), by: -1 }]); // others had added to the slice before
      else if (isKnown) return this.#waitMs(present, { before, now, limit });
    }
    return sliceMs;
  }

  /** Reads the slices that are over and not known yet. */
  async #read(shared: Shared, present: number): Promise<void> {
    for (const number of this.#past.keys()) if (number < present - slices) this.#past.delete(number);
    const missing: number[] = [];
    for (let number = present - slices; number < present - 1; number++) {
      if (!this.#past.has(number)) missing.push(number);
    }
    if (missing.length === 0) return;
    const sums = await shared.add(missing.map((number) => ({ ...this.#slice(number), by: 0 })));
    missing.forEach((number, index) => this.#past.set(number, sums[index]!));
  }

  #slice(number: number): SharedSum {
    return { key: `requests ${this.#name} ${number}`, expiresAt: (number + slices + 2) * sliceMs };
  }

  #pastOf(present: number): number {
    let sum = 0;
    for (const [number, count] of this.#past) if (number >= present - slices && number < present - 1) sum += count;
    return sum;
  }

  #beforeOf(present: number): number {
    return this.#before.number === present - 1 ? this.#before.sum : 0;
  }

  /** Until so much is forgotten that one more fits. */
  #waitMs(present: number, { before, now, limit }: { before: number; now: number; limit: number }): number {
    const counts = new Map([...this.#past, [present - 1, before], [present, now]]);
    let left = this.#pastOf(present) + before + now;
    for (let number = present - slices; number <= present; number++) {
      left -= counts.get(number) ?? 0;
      if (left < limit) return (number + slices + 1) * sliceMs - this.#clock.now();
    }
    return sliceMs;
  }
}
