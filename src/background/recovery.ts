/**
 * Ends standbys on time, so that a recovery is emitted when it is due and not with the next request.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import type { MeshState } from "../state/model/mesh_state.ts";

/** A timer for the next recovery of a mesh. A step of the wall clock reaches dates, or moves them away. */
export class RecoveryTimer {
  readonly #clock: Clock;
  #cancel: Cancel | undefined;
  /** When it fires, monotonic ms. */
  #at = Infinity;
  /** Whether it fires when the wall clock steps, too. */
  #isListening = false;
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Schedules the next recovery, after a standby has begun. */
  schedule(state: MeshState): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#isListening = false;
    this.#at = state.nextRecovery() ?? Infinity;
    if (this.#isStopped || this.#at === Infinity) return;
    const recover = () => {
      state.halfOpenDue(this.#clock.monotonic());
      this.schedule(state);
    };
    const cancelTimer = this.#clock.after(Math.max(0, this.#at - this.#clock.monotonic()), recover);
    this.#isListening = state.hasEndDates;
    const stopListening = this.#isListening ? this.#clock.onStep?.(recover) : undefined;
    this.#cancel = () => {
      cancelTimer();
      stopListening?.();
    };
  }

  /** Fires earlier for a standby that ends before the next known recovery. There may be many standbys at once. */
  follow({ standbyMs = Infinity, end }: Pick<Transition, "standbyMs" | "end">, state: MeshState): void {
    const at = this.#clock.monotonic() + standbyMs;
    if (at < this.#at || end !== undefined && !this.#isListening) this.schedule(state);
  }

  /** Stops the timer. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }
}
