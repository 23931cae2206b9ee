/**
 * Sliding window of requests that several processes enforce exactly: the shared store decides about each request.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { Shared, SharedSum } from "../../contracts/storage.ts";
import type { SharedRate } from "../counters/shared_rate.ts";

/** Maximum number of retries when other processes have changed the previous slice in between. */
const maxTries = 3;

/**
 * The window of one client or model. A sliding one moves slice by slice, so a request counts for up to one slice longer
 * than the window.
 */
export class SharedWindow {
  readonly #rate: Omit<SharedRate, "limit">;
  readonly #clock: Pick<Clock, "now">;
  /** Requests admitted in ended slices, by slice number. */
  readonly #past = new Map<number, number>();
  /** Known count of the previous slice, which other processes may still be adding to. */
  #before = { number: NaN, sum: 0 };

  constructor(rate: Omit<SharedRate, "limit">, clock: Pick<Clock, "now">) {
    this.#rate = rate;
    this.#clock = clock;
  }

  /**
   * Requests a grant for one request.
   *
   * @param limit Maximum number of requests in the window.
   * @returns 0 when granted, else the time until a request may be granted, ms; and the slice that it counts in.
   */
  async take(shared: Shared, limit: number): Promise<{ readonly waitMs: number; readonly slice: number }> {
    const { sliceMs } = this.#rate;
    let present = 0;
    for (let tries = 0; tries < maxTries; tries++) {
      present = Math.floor(this.#clock.now() / sliceMs);
      await this.#read(shared, present);
      const room = limit - this.#sumPast(present) - this.#sumBefore(present);
      const { isGranted, sums } = await shared.reserve([
        { ...this.#slice(present - 1), amount: 0, limit: Number.MAX_SAFE_INTEGER },
        { ...this.#slice(present), amount: 1, limit: room },
      ]);
      const [before, now] = [this.#isSliding ? sums[0] ?? 0 : 0, sums[1] ?? 0];
      const isKnown = before === this.#sumBefore(present);
      this.#before = { number: present - 1, sum: before };
      if (isGranted && this.#sumPast(present) + before + now <= limit) return { waitMs: 0, slice: present };
      if (isGranted) await this.release(shared, present); // other processes have added to the previous slice
      else if (isKnown) return { waitMs: this.#waitMs(present, { before, now, limit }), slice: present };
    }
    return { waitMs: sliceMs, slice: present };
  }

  /** Returns the grant of a request that was not sent. */
  async release(shared: Shared, slice: number): Promise<void> {
    await shared.add([{ ...this.#slice(slice), by: -1 }]);
  }

  /** Reads ended slices that are not known yet. */
  async #read(shared: Shared, present: number): Promise<void> {
    const { slices } = this.#rate;
    for (const number of this.#past.keys()) if (number < present - slices) this.#past.delete(number);
    const missing: number[] = [];
    for (let number = present - slices; number < present - 1; number++) {
      if (!this.#past.has(number)) missing.push(number);
    }
    if (missing.length === 0) return;
    const sums = await shared.add(missing.map((number) => ({ ...this.#slice(number), by: 0 })));
    missing.forEach((number, index) => this.#past.set(number, sums[index]!));
  }

  get #isSliding(): boolean {
    return this.#rate.slices > 0;
  }

  #slice(number: number): SharedSum {
    const { name, sliceMs, slices } = this.#rate;
    return { key: `requests ${name} ${number}`, expiresAt: (number + slices + 2) * sliceMs };
  }

  #sumPast(present: number): number {
    const { slices } = this.#rate;
    let sum = 0;
    for (const [number, count] of this.#past) if (number >= present - slices && number < present - 1) sum += count;
    return sum;
  }

  #sumBefore(present: number): number {
    return this.#before.number === present - 1 ? this.#before.sum : 0;
  }

  /** Returns the time until enough requests have left the window for one more, ms. */
  #waitMs(present: number, { before, now, limit }: { before: number; now: number; limit: number }): number {
    const { sliceMs, slices } = this.#rate;
    const counts = new Map([...this.#past, [present - 1, before], [present, now]]);
    let left = this.#sumPast(present) + before + now;
    for (let number = present - slices; number <= present; number++) {
      left -= counts.get(number) ?? 0;
      if (left < limit) return (number + slices + 1) * sliceMs - this.#clock.now();
    }
    return sliceMs;
  }
}
