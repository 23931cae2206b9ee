/**
 * A wait of a sink that a flush ends early.
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";

/** A wait. One is in progress at a time. Its timer does not keep the process alive. */
export class Pause {
  readonly #clock: Clock;
  #end = () => {};

  /** @param clock Clock of the waits. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Waits.
   *
   * @param ms Duration.
   */
  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#end = () => {
        cancel();
        resolve();
      };
    });
    this.#end = () => {};
  }

  /** Ends the wait in progress, if there is one. */
  end(): void {
    this.#end();
  }
}
