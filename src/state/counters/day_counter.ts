/**
 * Counts requests of a UTC day against the vendor's limit per day.
 * @module
 */
import { dayMs, dayWindow } from "../../util/windows.ts";
import { WindowCounter, type WindowSums } from "./window_counter.ts";

/** Requests per UTC calendar day. Times are wall-clock ms. */
export class DayCounter {
  readonly #counter: WindowCounter;

  /** @param limit Requests per day. */
  constructor(limit: number) {
    this.#counter = new WindowCounter({ limit, windowAt: dayWindow });
  }

  /** Counts requests in the day of a time. Returns the day, in which the count can be changed. */
  add(wallTimeMs: number, amount: number): WindowSums {
    const day = this.#counter.at(wallTimeMs);
    day.grow(amount);
    return day;
  }

  /** Requests that remain. */
  left(wallTimeMs: number): number {
    const days = this.#inForce(wallTimeMs);
    return this.#counter.limit - Math.max(...days.map(({ spent }) => spent));
  }

  /** Returns when an amount fits, wall-clock ms; an amount above the limit fits when nothing else is counted. */
  freeAt(wallTimeMs: number, amount: number): number {
    const most = Math.max(0, this.#counter.limit - amount);
    const full = this.#inForce(wallTimeMs).filter(({ spent }) => spent > most);
    return Math.max(wallTimeMs, ...full.map(({ end }) => end));
  }

  /** The end of the day of a time, wall-clock ms. */
  end(wallTimeMs: number): number {
    return this.#counter.at(wallTimeMs).end;
  }

  /** The present day, and after the wall clock was set back to the day before, the one that it was. */
  #inForce(wallTimeMs: number): readonly WindowSums[] {
    const present = this.#counter.at(wallTimeMs);
    return this.#counter.windows.filter(({ start }) => start >= present.start && start <= present.start + dayMs);
  }
}
