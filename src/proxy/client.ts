/**
 * A named client of the proxy: its pools, its rate limit and its budget.
 * @module
 */
import type { BudgetSettings, ClientSettings } from "../config/settings/settings.ts";
import { BudgetExceededError, ModelNotFoundError, RateLimitError, UnsupportedRequestError } from "../errors.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Peer } from "../contracts/shell.ts";
import type { RequestClient } from "../pipeline/request.ts";
import { Budget } from "../state/limits/budget.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { Replication, SharedCounters } from "../state/counters/shared_counters.ts";
import { slicedMinute } from "../state/counters/shared_rate.ts";
import { SlidingWindow } from "../util/sliding_window.ts";
import { isLoopbackHost } from "./origin_policy.ts";

/** The window of the request limit. */
const minute = { windowMs: 60_000, slices: 60, forgetsLate: true };

type ClientIdentity = Pick<RequestClient, "id" | "name">;

interface ClientContext {
  readonly before?: Client | undefined;
  readonly state?: MeshState | undefined;
}

function createClientBudget(
  client: ClientIdentity,
  settings: BudgetSettings,
  { before, state }: ClientContext,
): Budget {
  const id = getCounterScope(client);
  const isReplicated = state?.sharedCounters.replication !== undefined;
  // the shared store provides the sums of a replicated budget
  const budget = new Budget(settings, id, isReplicated ? undefined : before?.budget);
  state?.addBudgetScope({ id, budget, ...(client.id !== client.name && { name: client.name }) });
  if (isReplicated) state!.sharedCounters.register(budget);
  return budget;
}

/** The name of its counters, in the state and in a shared store. */
function getCounterScope({ id }: Pick<RequestClient, "id">): string {
  return `client ${id}`;
}

/** Permissions and limits of a client. */
type ClientLimits = Pick<ClientSettings, "pools" | "budget" | "rpm" | "priority">;

export class Client implements RequestClient {
  readonly id: string;
  readonly name: string;
  pools: ReadonlySet<string> | undefined;
  budget: Budget | undefined;
  readonly #state: MeshState | undefined;
  /** Kept while there is no limit, since a later limit includes what was spent before. */
  #budget: Budget | undefined;
  #rpm = Infinity;
  /** Maximum priority as configured. */
  #priority: number | undefined;
  readonly #requests: SlidingWindow;
  /** Replicates counters, if several processes share them. */
  readonly #sharedCounters: SharedCounters | undefined;

  /**
   * @param identity Its id, and its name in records.
   * @param context The same client under earlier settings, whose requests and spending still count; and the state of
   *   the mesh, which persists or replicates its budget.
   */
  constructor({ id, name }: ClientIdentity, limits: ClientLimits, { before, state }: ClientContext = {}) {
    this.id = id;
    this.name = name;
    this.#state = state;
    this.#sharedCounters = state?.sharedCounters;
    this.#requests = (before && before.#requests) ?? new SlidingWindow(minute);
    this.#apply(limits, before);
  }

  /** Applies other limits. Earlier requests and spending count against them. */
  change(limits: ClientLimits): void {
    this.#apply(limits);
  }

  #apply({ pools, budget, rpm = Infinity, priority }: ClientLimits, before?: Client): void {
    this.pools = pools && new Set(pools);
    this.#rpm = rpm;
    this.#priority = priority;
    if (budget !== undefined) this.#budget ??= createClientBudget(this, budget, { before, state: this.#state });
    this.#budget?.setLimits(budget ?? []);
    this.budget = budget && this.#budget;
  }

  /** Whether it may access everything, as administrators do by default. */
  get isUnlimited(): boolean {
    return this.pools === undefined && this.budget === undefined && this.#rpm === Infinity;
  }

  /**
   * Checks the priority of a request in queues. A client without any limit may choose it freely.
   *
   * @throws {UnsupportedRequestError} `invalid_value` if it is above that of the client.
   */
  checkPriority(priority: number): void {
    const most = this.#priority ?? (this.isUnlimited ? Infinity : 0);
    if (priority <= most) return;
    throw new UnsupportedRequestError(`The client "${this.name}" may have a priority of up to ${most}`, {
      code: "invalid_value",
      param: "x-mesh-priority",
    });
  }

  /**
   * Returns a function that counts one request, however often it is called; undefined without a limit per minute. It
   * throws or rejects with a {@linkcode RateLimitError} if the limit is exceeded; the request is then not counted.
   */
  admission(clock: Clock): (() => Promise<void> | undefined) | undefined {
    if (this.#rpm === Infinity) return undefined;
    let isCounted = false;
    let counting: Promise<void> | undefined;
    return () => {
      if (isCounted) return counting;
      counting = this.#admit(clock);
      isCounted = true;
      return counting;
    };
  }

  #admit(clock: Clock): Promise<void> | undefined {
    const replication = this.#sharedCounters?.replication;
    if (replication !== undefined) return this.#admitShared(replication, clock);
    this.#admitHere(clock.monotonic());
  }

  /** While the store is unavailable, only the local counter applies. */
  async #admitShared(replication: Replication, clock: Clock): Promise<void> {
    const grant = await replication.admit({ name: getCounterScope(this), limit: this.#rpm, ...slicedMinute });
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
   * Returns the message of an error as this client may see it: without other pools, and with its exhausted budget.
   * Undefined if the message is the same for all clients.
   *
   * @param error Any error of its request.
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

/** The sender of a request with an accepted token. */
export interface Caller {
  /** Undefined for a token without a client's name, or if no token is required. */
  readonly client?: Client | undefined;
  /** Whether it may read everything, and activate and deactivate. */
  readonly isAdministrator: boolean;
  /** Whether it may read everything. Without a client or team it sends no requests of its own. */
  readonly isViewer?: boolean;
  /** Name of a configured team, if the token states it. */
  readonly team?: string | undefined;
  /** Tags of its requests that the token states. */
  readonly tags?: readonly string[];
  /** What distinguishes it from others without a client: its token if that is a configured one, or what the token states. */
  readonly identity?: string;
}

/**
 * Creates the configured clients that have a name.
 *
 * @param clients Their settings.
 * @param parts The state that contains their budgets, and the clients of the previous configuration, whose counters
 * continue.
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
    return [[name, new Client({ id: name, name }, client, { before: before?.get(name), state })]];
  }));
}

/**
 * Identifies the client to whose memory a body counts.
 *
 * @param sender Its token's owner, its remote address, and whether no token is required.
 * @returns Undefined for loopback without a token, since a reverse proxy may send there for all clients.
 */
export function findBodyOwner({ caller, peer, isOpen }: {
  readonly caller: Caller | undefined;
  readonly peer: Peer | undefined;
  readonly isOpen: boolean;
}): unknown {
  if (!isOpen) return caller?.client?.id ?? caller;
  const address = peer?.()?.replace(/^::ffff:/i, "");
  return address === undefined || isLoopbackHost(address) ? undefined : address;
}
