/**
 * A fake clock that drives itself: time passes in small steps, each after sockets have had their turns, so that minutes
 * of a fault take a moment.
 * @module
 */
import { FakeClock } from "../../src/runtime/test.ts";

/** Maximum step, ms: far below every timeout, so that none expires while data is in flight. */
const stepMs = 1_000;

/** Turns of the event loop that data in flight needs, and the duration above which a turn was a busy one, ms. */
const quiet = { turns: 5, turnMs: 3, maxTurns: 30 };

/** A clock that is advanced for as long as a promise is pending. */
export class SteppedClock extends FakeClock {
  readonly #dues = new Set<{ readonly at: number }>();

  override after(ms: number, task: () => void): () => void {
    const due = { at: this.monotonic() + Math.max(0, ms) };
    this.#dues.add(due);
    const cancel = super.after(ms, () => {
      this.#dues.delete(due);
      task();
    });
    return () => {
      this.#dues.delete(due);
      cancel();
    };
  }

  /** Lets a time pass. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /**
   * Advances time until a promise is settled.
   *
   * @param limitMs The maximum of fake time, ms.
   * @returns Whether it is settled.
   */
  async run(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
    const end = this.monotonic() + limitMs;
    let isSettled = false;
    const settle = () => void (isSettled = true);
    promise.then(settle, settle);
    for (await becomeQuiet(); !isSettled && this.monotonic() < end; await becomeQuiet()) {
      await this.advance(this.#nextStep());
    }
    return isSettled;
  }

  #nextStep(): number {
    let next = this.monotonic() + stepMs;
    for (const { at } of this.#dues) next = Math.min(next, at);
    return Math.max(0, next - this.monotonic());
  }
}

/** Waits until the event loop has had some turns in a row without much to do. */
async function becomeQuiet(): Promise<void> {
  for (let turns = 0, left = quiet.maxTurns; turns < quiet.turns && left > 0; left--) {
    const from = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 0));
    turns = performance.now() - from > quiet.turnMs ? 0 : turns + 1;
  }
}
