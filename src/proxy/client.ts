/**
 * A named client of the proxy: its pools, its rate limit and its budget.
 * @module
 */
import type { BudgetSettings, ClientSettings } from "../config/settings/settings.ts";
import { BudgetExceededError, ModelNotFoundError, RateLimitError } from "../errors.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { RequestClient } from "../pipeline/request.ts";
import { Budget } from "../state/limits/budget.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { CounterReplicator, Replication } from "../state/replication/counter_replicator.ts";
import { slicedMinute } from "../state/replication/shared_rate.ts";
import { SlidingWindow } from "../util/sliding_window.ts";

/** Window of the limit of requests. */
const minute = { windowMs: 60_000, slices: 60, forgetsLate: true };

interface ClientContext {
  readonly before?: Client | undefined;
  readonly state?: MeshState | undefined;
}

function budgetOf(
  name: string,
  { dailyNanoUsd, monthlyNanoUsd, alertAt }: BudgetSettings,
  { before, state }: ClientContext,
): Budget {
  const id = `client ${name}`;
  const isReplicated = state?.replicator.replication !== undefined;
  // a replicated budget has its sums from the replicator
  const limits = { daily: dailyNanoUsd, monthly: monthlyNanoUsd, alertAt };
  const budget = new Budget(limits, id, isReplicated ? undefined : before?.budget);
  state?.addBudgetScope({ id, budget });
  if (isReplicated) state!.replicator.register(budget);
  return budget;
}

/** What a client may do. */
type ClientLimits = Pick<ClientSettings, "pools" | "budget" | "rpm">;

export class Client implements RequestClient {
  readonly name: string;
  pools: ReadonlySet<string> | undefined;
  budget: Budget | undefined;
  readonly #state: MeshState | undefined;
  /** Kept while there is no limit: what was spent under one counts under the next. */
  #budget: Budget | undefined;
  #rpm = Infinity;
  readonly #requests: SlidingWindow;
  /** Exchanges counts with other processes, once it does. */
  readonly #replicator: CounterReplicator | undefined;

  /**
   * @param context The same client under earlier settings, whose requests and spending still count; and the state of
   *   the mesh, which persists or replicates its budget.
   */
  constructor(name: string, limits: ClientLimits, { before, state }: ClientContext = {}) {
    this.name = name;
    this.#state = state;
    this.#replicator = state?.replicator;
    this.#requests = (before && before.#requests) ?? new SlidingWindow(minute);
    this.#apply(limits, before);
  }

  /** Applies other limits; requests and spending so far count against them. */
  change(limits: ClientLimits): void {
    this.#apply(limits);
  }

  #apply({ pools, budget, rpm = Infinity }: ClientLimits, before?: Client): void {
    this.pools = pools && new Set(pools);
    this.#rpm = rpm;
    if (budget !== undefined) this.#budget ??= budgetOf(this.name, budget, { before, state: this.#state });
    this.#budget?.setLimits({ daily: budget?.dailyNanoUsd, monthly: budget?.monthlyNanoUsd });
    this.budget = budget && this.#budget;
  }

  /** Whether nothing is kept from it: by default, what administrates the proxy. */
  get isUnlimited(): boolean {
    return this.pools === undefined && this.budget === undefined && this.#rpm === Infinity;
  }

  /**
   * Counts a request.
   *
   * @returns A promise where other processes count with it.
   * @throws {RateLimitError} When it exceeds the limit of a minute; it does not count then.
   */
  admit(clock: Clock): Promise<void> | undefined {
    const replication = this.#rpm === Infinity ? undefined : this.#replicator?.replication;
    if (replication !== undefined) return this.#admitShared(replication, clock);
    this.#admitHere(clock.monotonic());
  }

  /** While the store is unavailable this process counts by itself. */
  async #admitShared(replication: Replication, clock: Clock): Promise<void> {
    const grant = await replication.admit({ name: `client ${this.name}`, limit: this.#rpm, ...slicedMinute });
    if (grant === undefined) return this.#admitHere(clock.monotonic());
    if (grant.waitMs > 0) throw this.#tooMany(grant.waitMs);
    this.#requests.add(clock.monotonic(), 1);
  }

  #admitHere(now: number): void {
    if (this.#requests.sum(now) >= this.#rpm) throw this.#tooMany(this.#requests.fallsTo(now, this.#rpm - 1) - now);
    this.#requests.add(now, 1);
  }

  #tooMany(retryAfterMs: number): RateLimitError {
    return new RateLimitError(`The client "${this.name}" may send ${this.#rpm} requests a minute (rpm)`, {
      code: "rate_limit_exceeded",
      retryAfterMs,
    });
  }

  /**
   * What this client reads in place of an error's message: without pools that are not its own, with the budget that is
   * spent. Undefined where the message is the same for all clients.
   *
   * @param error Anything that was thrown while its request was served.
   * @param wallTimeMs Wall clock.
   */
  messageFor(error: unknown, wallTimeMs: number): string | undefined {
    if (this.pools !== undefined && ModelNotFoundError.isInstance(error)) {
      const names = [...this.pools].map((name) => `"${name}"`).join(", ");
      return `There is no such model or pool for the client "${this.name}": it has ${names}`;
    }
    if (this.budget !== undefined && BudgetExceededError.isInstance(error)) {
      return this.budget.isSpent(wallTimeMs)
        ? `The budget of the client "${this.name}" is spent`
        : `${error.message}, or what is left to the client "${this.name}" is too little for this request`;
    }
  }
}

/** Sender of a request with an accepted token. */
export interface Caller {
  /** Undefined for a token without a client's name, and where no token is required. */
  readonly client?: Client | undefined;
  /** Whether it sees everything and may activate and deactivate. */
  readonly isAdministrator: boolean;
}

/**
 * The configured clients that have a name.
 *
 * @param clients As configured.
 * @param parts The state that their budgets are part of; those of the configuration before, which count on.
 */
export function namedClients(
  clients: readonly ClientSettings[],
  { state, before }: {
    readonly state: MeshState;
    readonly before: ReadonlyMap<string, Client> | undefined;
  },
): Map<string, Client> {
  return new Map(clients.flatMap((client) => {
    const { name } = client;
    if (name === undefined) return [];
    return [[name, new Client(name, client, { before: before?.get(name), state })]];
  }));
}
