/**
 * Combines long timers in one. A server sets several time limits per request and cancels nearly all of them, and a
 * native timer for each would cost more than the selection of a model.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { Bag, type Thing } from "../util/bag.ts";
import { callAfter, type Timer } from "./_timers.ts";

/** Timers of at least this duration may fire late, ms. */
const longMs = 2_000;

/** Resolution of long timers, ms. */
const grainMs = 50;

interface Wait extends Thing {
  readonly task: () => void;
}

/**
 * Creates the `after` of a clock. Short timers are exact, long ones fire up to 50 ms late, never early.
 *
 * @param detach Receives each native timer that must not keep the process alive.
 */
export function coarseTimers(detach?: (timer: Timer) => void): Clock["after"] {
  const wheel = new Wheel(detach);
  return (ms, task, keepsAlive = false) => {
    if (keepsAlive) return callAfter(ms, task);
    if (!(ms >= longMs && ms < Infinity)) return callAfter(ms, task, detach);
    return wheel.add(ms, task);
  };
}

/** Timers by tick, and one native timer for the next tick. */
class Wheel {
  readonly #detach: ((timer: Timer) => void) | undefined;
  readonly #waits = new Map<number, Bag<Wait>>();
  #size = 0;
  /** The tick for which the native timer is set; Infinity without one. */
  #armedTick = Infinity;
  #cancelTimer: Cancel = () => {};

  constructor(detach: ((timer: Timer) => void) | undefined) {
    this.#detach = detach;
  }

  add(ms: number, task: () => void): Cancel {
    const now = performance.now();
    const tick = Math.ceil((now + ms) / grainMs);
    let waits = this.#waits.get(tick);
    if (waits === undefined) this.#waits.set(tick, waits = new Bag());
    const wait: Wait = { task };
    waits.add(wait);
    if (tick < this.#armedTick) this.#arm(tick, now);
    this.#size++;
    return () => {
      if (waits.delete(wait)) this.#forget(tick, waits);
    };
  }

  #arm(tick: number, now: number): void {
    this.#cancelTimer();
    this.#armedTick = tick;
    this.#cancelTimer = callAfter(tick * grainMs - now, () => this.#turn(), this.#detach);
  }

  /** Fires the timers that are due, and sets the native timer for the next ones. */
  #turn(): void {
    this.#armedTick = Infinity;
    const now = performance.now();
    const due = [...this.#waits.keys()].filter((tick) => tick * grainMs <= now).sort((one, other) => one - other);
    for (const tick of due) this.#end(tick);
    let next = Infinity;
    for (const tick of this.#waits.keys()) next = Math.min(next, tick);
    if (next < this.#armedTick) this.#arm(next, now);
  }

  #end(tick: number): void {
    const waits = this.#waits.get(tick)!;
    this.#waits.delete(tick);
    for (const wait of waits.all) {
      if (!waits.delete(wait)) continue; // cancelled by another one
      this.#size--;
      try {
        wait.task();
      } catch (error) {
        queueMicrotask(() => {
          throw error; // as from a native timer, without affecting the others
        });
      }
    }
  }

  /** The native timer remains set while there are others, since the next one would require it again. */
  #forget(tick: number, waits: Bag<Wait>): void {
    if (waits.size === 0 && this.#waits.get(tick) === waits) this.#waits.delete(tick);
    if (--this.#size > 0) return;
    this.#cancelTimer();
    this.#armedTick = Infinity;
  }
}
