/**
 * Ends standbys on time, so that a recovery is emitted when it is due and not with the next request.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { MeshState } from "../state/mesh_state.ts";

/** A timer for the next recovery of a mesh. A step of the wall clock reaches dates, or moves them away. */
export class RecoveryTimer {
  readonly #clock: Clock;
  #cancel: Cancel | undefined;
  #isStopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Schedules the next recovery, after a standby has begun. */
  schedule(state: MeshState): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const at = state.nextRecovery();
    if (this.#isStopped || at === undefined) return;
    const recover = () => {
      state.halfOpenDue(this.#clock.monotonic());
      this.schedule(state);
    };
    const cancelTimer = this.#clock.after(Math.max(0, at - this.#clock.monotonic()), recover);
    const stopListening = state.hasEndDates ? this.#clock.onStep?.(recover) : undefined;
    this.#cancel = () => {
      cancelTimer();
      stopListening?.();
    };
  }

  /** Stops the timer. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }
}
