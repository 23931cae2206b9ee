/**
 * Maintenance windows: models of a pool are in standby during them.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type Cron, lastStart, nextStart } from "../util/cron.ts";

/** The maintenance window of a pool. */
export interface MaintenancePlan {
  readonly pool: string;
  /** Start times, UTC. */
  readonly cron: Cron;
  /** Duration, ms. */
  readonly durationMs: number;
}

/** Maximum time between checks of the calendar, ms, since the wall clock may be adjusted. */
const maxWaitMs = 3_600_000;

/** Runs one timer per pool with a maintenance window. */
export class MaintenanceSchedule {
  readonly #clock: Clock;
  #cancels: Cancel[] = [];

  /** @param clock Wall clock for the calendar, monotonic clock for standbys. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Starts the schedule, in place of an earlier one.
   *
   * @param plans The maintenance windows.
   * @param state The state of the models.
   */
  start(plans: readonly MaintenancePlan[], state: MeshState): void {
    this.stop();
    this.#cancels = plans.map(() => () => {});
    plans.forEach((plan, index) => this.#check(plan, index, state));
  }

  /** Stops the schedule. Current standbys are kept. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
  }

  /**
   * Opens overrides during a window. A model that an operator has activated stays active until the next start; `seen`
   * is the start that has been handled.
   */
  #check(plan: MaintenancePlan, index: number, state: MeshState, handled?: number): void {
    const { cron, durationMs, pool } = plan;
    const wallTimeMs = this.#clock.now();
    const began = lastStart(cron, wallTimeMs);
    if (began !== undefined && began !== handled && wallTimeMs - began < durationMs) {
      const standbyMs = began + durationMs - wallTimeMs;
      for (const member of state.members) {
        if (member.pool !== pool) continue;
        const override = state.overrides.get(member.state.breaker.owner, "maintenance_window");
        state.report(override.open("maintenance_window", this.#clock.monotonic(), standbyMs));
      }
    }
    const next = nextStart(cron, wallTimeMs);
    if (next === undefined) return;
    const wait = Math.min(next - wallTimeMs, maxWaitMs);
    this.#cancels[index] = this.#clock.after(wait, () => this.#check(plan, index, state, began));
  }
}
