/**
 * Stopping work on servers: what an `AbortController` does, at a tenth of what making one and listening to it takes there.
 * @module
 */
import type { Stopper, StopSignal } from "../contracts/runtime.ts";

/** Stops once, and is its own signal. */
export class Stop implements Stopper, StopSignal {
  aborted = false;
  reason: unknown;
  readonly #listeners: (() => void)[] = [];
  #controller: AbortController | undefined;

  get signal(): StopSignal {
    return this;
  }

  /** The same for what takes an `AbortSignal` only. */
  get native(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  /** Calls the listeners, in the order in which they were added. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    for (const listener of this.#listeners.splice(0)) listener();
    this.#controller?.abort(reason);
  }

  /** The listener is called at most once. */
  addEventListener(_type: "abort", listener: () => void): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }
}
