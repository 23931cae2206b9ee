/**
 * Puts models into standby while their pool's maintenance lasts.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { type Cron, lastStart, nextStart } from "../util/cron.ts";

/** A pool's maintenance. */
export interface MaintenancePlan {
  /** The pool. */
  readonly pool: string;
  /** When it starts, UTC. */
  readonly cron: Cron;
  /** How long it takes, ms. */
  readonly durationMs: number;
}

/** The calendar is looked at this often, ms: the wall clock may be set. */
const maxWaitMs = 3_600_000;

/** One timer per pool with maintenance. */
export class MaintenanceSchedule {
  readonly #clock: Clock;
  #cancels: Cancel[] = [];

  /** @param clock The mesh's: wall clock for the calendar, monotonic for standbys. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Keeps to the plans from now on, in place of those before.
   *
   * @param plans The pools' maintenance.
   * @param state Whose models go into standby.
   */
  start(plans: readonly MaintenancePlan[], state: MeshState): void {
    this.stop();
    this.#cancels = plans.map(() => () => {});
    plans.forEach((plan, index) => this.#look(plan, index, state));
  }

  /** Ends the schedule; standbys under way go on. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
  }

  /** A model that an operator activated stays active until the next start: `seen` is the one that has been kept to. */
  #look(plan: MaintenancePlan, index: number, state: MeshState, seen?: number): void {
    const { cron, durationMs, pool } = plan;
    const wall = this.#clock.now();
    const began = lastStart(cron, wall);
    if (began !== undefined && began !== seen && wall - began < durationMs) {
      const standbyMs = began + durationMs - wall;
      for (const member of state.members) {
        if (member.pool !== pool) continue;
        const override = state.overrides.get(member.state.breaker.owner, "maintenance_window");
        state.report(override.open("maintenance_window", this.#clock.monotonic(), standbyMs));
      }
    }
    const next = nextStart(cron, wall);
    if (next === undefined) return;
    const wait = Math.min(next - wall, maxWaitMs);
    this.#cancels[index] = this.#clock.after(wait, () => this.#look(plan, index, state, began));
  }
}
