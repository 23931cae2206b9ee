/**
 * Many long waits on few timers. A server sets several limits per request and ends nearly all of them early: setting
 * and clearing a timer of the runtime for each would cost more than choosing a model does.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import { Bag, type Thing } from "../util/bag.ts";
import { callAfter, type Timer } from "./_timers.ts";

/** Waits from here on may end a little late, ms. */
const longMs = 2_000;

/** Long waits end together, at multiples of this, ms. */
const grainMs = 50;

interface Wait extends Thing {
  readonly task: () => void;
}

/**
 * Makes a clock's `after`: short waits are exact, long ones end up to 50 ms late, never early.
 *
 * @param detach Receives each timer that must not keep the process alive.
 */
export function coarseTimers(detach?: (timer: Timer) => void): Clock["after"] {
  const groups = new Map<number, Group>();
  return (ms, task, keepsAlive = false) => {
    if (keepsAlive) return callAfter(ms, task);
    if (!(ms >= longMs && ms < Infinity)) return callAfter(ms, task, detach);
    const now = performance.now();
    const tick = Math.ceil((now + ms) / grainMs);
    let group = groups.get(tick);
    if (group === undefined) {
      group = new Group(tick * grainMs - now, () => groups.delete(tick), detach);
      groups.set(tick, group);
    }
    return group.add(task);
  };
}

class Group {
  readonly #waits = new Bag<Wait>();
  readonly #onEnd: () => void;
  readonly #cancel: Cancel;

  constructor(ms: number, onEnd: () => void, detach: ((timer: Timer) => void) | undefined) {
    this.#onEnd = onEnd;
    this.#cancel = callAfter(ms, () => this.#fire(), detach);
  }

  add(task: () => void): Cancel {
    const wait: Wait = { task };
    this.#waits.add(wait);
    return () => {
      if (!this.#waits.delete(wait) || this.#waits.size > 0) return;
      this.#cancel();
      this.#onEnd();
    };
  }

  #fire(): void {
    this.#onEnd();
    for (const wait of this.#waits.all) {
      if (!this.#waits.delete(wait)) continue; // called off by another one
      try {
        wait.task();
      } catch (error) {
        queueMicrotask(() => {
          throw error; // as of a timer of its own: the others have theirs
        });
      }
    }
  }
}
