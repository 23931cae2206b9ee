/**
 * A client of the proxy that has a name: what it may use, send and spend.
 * @module
 */
import type { BudgetSettings, ClientSettings } from "../config/settings.ts";
import { BudgetExceededError, ModelNotFoundError, RateLimitError } from "../errors.ts";
import type { RequestClient } from "../pipeline/request.ts";
import { addBudgetScope } from "../state/persistence/usage_snapshot_mapper.ts";
import { Budget } from "../state/limits/budget.ts";
import type { MeshState } from "../state/mesh_state.ts";
import { replicatorOf } from "../state/replication/counter_replicator.ts";
import { SlidingWindow } from "../util/sliding_window.ts";

/** Where limits of requests are counted in, ms. */
const minute = { windowMs: 60_000, slices: 60, forgetsLate: true };

/** What a client is made among. */
interface ClientContext {
  readonly before?: Client | undefined;
  readonly state?: MeshState;
}

function budgetOf(name: string, { dailyNano, monthlyNano }: BudgetSettings, { before, state }: ClientContext): Budget {
  const id = `client ${name}`;
  const ledger = state && replicatorOf(state);
  // what is counted together with others is known there
  const budget = new Budget({ daily: dailyNano, monthly: monthlyNano }, id, ledger ? undefined : before?.budget);
  if (state !== undefined) addBudgetScope(state, { id, budget });
  ledger?.register(budget);
  return budget;
}

/** One client. */
export class Client implements RequestClient {
  readonly name: string;
  readonly pools: ReadonlySet<string> | undefined;
  readonly budget: Budget | undefined;
  readonly #rpm: number;
  readonly #requests: SlidingWindow;

  /**
   * @param name Its name.
   * @param settings What it may do.
   * @param circumstances The same client under other settings: what it has sent and spent still counts; and the
   *   state of the mesh, which its money is kept with, or which counts it together with other processes.
   */
  constructor(name: string, { pools, budget, rpm = Infinity }: ClientSettings, { before, state }: ClientContext = {}) {
    this.name = name;
    this.pools = pools && new Set(pools);
    this.budget = budget && budgetOf(name, budget, { before, state });
    this.#rpm = rpm;
    this.#requests = (before && before.#requests) ?? new SlidingWindow(minute);
  }

  /**
   * Counts a request that comes in.
   *
   * @param now Monotonic ms.
   * @throws {RateLimitError} When it is one too many within a minute; it does not count then.
   */
  admit(now: number): void {
    if (this.#requests.sum(now) >= this.#rpm) {
      throw new RateLimitError(`The client "${this.name}" may send ${this.#rpm} requests a minute (rpm)`, {
        code: "rate_limit_exceeded",
        retryAfterMs: this.#requests.fallsTo(now, this.#rpm - 1) - now,
      });
    }
    this.#requests.add(now, 1);
  }

  /**
   * Words an error for this client: names of pools that are not its own are not told, and whose money is spent is.
   *
   * @param error Anything that was thrown while it was served.
   * @param wall Wall clock, ms.
   */
  errorFor(error: unknown, wall: number): unknown {
    if (this.pools !== undefined && ModelNotFoundError.isInstance(error)) {
      const names = [...this.pools].map((name) => `"${name}"`).join(", ");
      return new ModelNotFoundError(`There is no such model or pool for the client "${this.name}": it has ${names}`);
    }
    if (this.budget !== undefined && BudgetExceededError.isInstance(error)) {
      error.message = this.budget.isSpent(wall)
        ? `The budget of the client "${this.name}" is spent`
        : `${error.message}, or what is left to the client "${this.name}" is too little for this request`;
    }
    return error;
  }
}
