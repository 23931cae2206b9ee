/**
 * Maintenance windows: models of a pool are in standby during them.
 * @module
 */
import type { Cancel, Clock } from "../contracts/runtime.ts";
import type { CircuitBreaker } from "../state/breaker/circuit_breaker.ts";
import { EndDate } from "../state/breaker/end_date.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import { type Cron, lastStart, nextStart } from "../util/cron.ts";

/** The maintenance window of a pool. */
export interface MaintenancePlan {
  readonly pool: string;
  /** Start times, UTC. */
  readonly cron: Cron;
  /** Duration, ms. */
  readonly durationMs: number;
}

/** Maximum time between checks of the calendar, ms, for clocks that do not report steps. */
const maxWaitMs = 3_600_000;

/** Runs one timer per pool with a maintenance window. The windows follow the wall clock, forwards and backwards. */
export class MaintenanceSchedule {
  readonly #clock: Clock;
  #cancels: Cancel[] = [];
  /** The start of the latest window of each plan, wall-clock ms. */
  #begun: (number | undefined)[] = [];
  #stopListening: Cancel | undefined;

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
    if (plans.length === 0) return;
    this.#cancels = plans.map(() => () => {});
    this.#begun = [];
    const checkAll = () => plans.forEach((plan, index) => this.#check(plan, index, state));
    this.#stopListening = this.#clock.onStep?.(checkAll);
    checkAll();
  }

  /** Stops the schedule. Current standbys are kept. */
  stop(): void {
    for (const cancel of this.#cancels) cancel();
    this.#cancels = [];
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /**
   * Opens overrides during a window. A model that an operator has activated stays active until the next start. When the
   * wall clock was set back to before the start, the window is yet to come.
   */
  #check(plan: MaintenancePlan, index: number, state: MeshState): void {
    const { cron, durationMs } = plan;
    const wallTimeMs = this.#clock.now();
    const began = lastStart(cron, wallTimeMs);
    const before = this.#begun[index];
    this.#begun[index] = began;
    if (before !== undefined && wallTimeMs < before) {
      for (const override of findOverrides(plan, state)) state.report(override.close(undefined, true));
    }
    if (began !== undefined && began !== before && wallTimeMs - began < durationMs) {
      const end = new EndDate(began + durationMs, this.#clock);
      for (const override of findOverrides(plan, state)) {
        state.report(override.open("maintenance_window", this.#clock.monotonic(), end));
      }
    }
    this.#cancels[index]!();
    const next = nextStart(cron, wallTimeMs);
    if (next === undefined) return;
    const wait = Math.min(next - wallTimeMs, maxWaitMs);
    this.#cancels[index] = this.#clock.after(wait, () => this.#check(plan, index, state));
  }
}

/** Returns the overrides for the maintenance of a pool's models. */
function findOverrides({ pool }: MaintenancePlan, { members, overrides }: MeshState): CircuitBreaker[] {
  return members.flatMap((member) =>
    member.pool === pool ? overrides.get(member.state.breaker.owner, "maintenance_window") : []
  );
}
