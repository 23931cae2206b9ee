/**
 * The state of a mesh: every model's state, every breaker, every retry budget.
 * @module
 */
import type { RetryBudgetSettings, RoutingSettings, Settings } from "../../config/settings/settings.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { createPolicy, type OwnPolicies } from "../../rotation/policy.ts";
import { ManualOverrides } from "./manual_override.ts";
import type { Conversations } from "./conversations.ts";
import type { ApiKeyPool } from "../limits/api_key_pool.ts";
import type { Budget, BudgetStep, BudgetWindow } from "../limits/budget.ts";
import type { OwnedBudget } from "../limits/limited_scope.ts";
import type { LimitedScopes } from "../limits/limited_scopes.ts";
import { MemberIndex } from "./member_index.ts";
import type { TrackedModel } from "./usage.ts";
import { type MemberState, ModelState } from "./model_state.ts";
import { type BreakerOwner, CircuitBreaker, recordKey, type Transition } from "../breaker/circuit_breaker.ts";
import type { SharedCounters } from "../counters/shared_counters.ts";
import { RetryBudget } from "../limits/retry_budget.ts";
import { UsageTrackers } from "./usage_trackers.ts";
import { getOrCreate } from "../../util/once.ts";

/** Constructor options of a {@linkcode MeshState}. */
interface MeshStateParts {
  /** The mesh's own budget. */
  readonly settings: Pick<Settings, "budget">;
  /** Wall clock for calendar windows, monotonic clock for rates. */
  readonly clock: Clock;
  /** Called on every change between active and standby. */
  readonly onTransition: (transition: Transition) => void;
  /** Called when the policy of a pool's rotation connector has thrown. */
  readonly onPolicyFailure?: (pool: string) => void;
  /** Called when calls to a provider bring a budget to one of its `alert_at` steps. */
  readonly onBudgetSteps?: (steps: readonly BudgetStep[], provider: string) => void;
  /** The state under the previous configuration. Counters that exist in both are shared. */
  readonly before?: MeshState | undefined;
}

/** Restores the state of an earlier process, to owners as they are created. */
export interface StateRestorer {
  /** Breakers whose owners have not been created. */
  readonly pending: Iterable<CircuitBreaker>;
  breaker(breaker: CircuitBreaker): void;
  member(member: MemberState): void;
  budget(scope: { readonly id: string; readonly budget: Budget }): void;
}

/** A limit of a budget, with the amounts that count against it. */
export interface ScopedBudgetWindow extends BudgetWindow {
  /** `all`, `provider`, `pool`, `client`, `team`, `tag` or `user`. */
  readonly scope: string;
  /** The name of the provider, pool, team or tag, the identity of the client, the hash of the end user; empty for all. */
  readonly id: string;
  /** The name of the client, unless it is the id. */
  readonly name?: string | undefined;
}

/** The state of one mesh. Every map is bounded by the configuration. Times are monotonic ms. */
export class MeshState {
  readonly #models = new Map<string, CircuitBreaker>();
  readonly #providers = new Map<string, CircuitBreaker>();
  readonly #budgets = new Map<string, RetryBudget>();
  readonly #memberIndex = new MemberIndex<MemberState>(({ pool, state: { name: model, provider } }) => ({
    pool,
    model,
    provider,
  }));
  /** Breakers by their owner, in order of creation. */
  readonly #byOwner = new Map<string, CircuitBreaker[]>();
  /** Every breaker. */
  readonly breakers: CircuitBreaker[] = [];
  /** Every model in every pool. */
  readonly members: MemberState[] = [];
  /** Restores owners that are created from now on. */
  mapper?: StateRestorer;
  /** Budgets of clients, teams, tags and end users, by the ids of their scopes. */
  readonly budgetScopes: Map<string, OwnedBudget> = new Map();
  /** Limits of clients, teams, tags and end users; undefined if there are none. */
  scopes?: LimitedScopes;
  /** Conversations with prompt-cache affinity; undefined unless a pool has it. */
  conversations?: Conversations;
  /** Manual overrides. */
  readonly overrides: ManualOverrides = new ManualOverrides({
    members: this.#memberIndex,
    register: (breaker) => this.#register(breaker),
  });
  readonly #trackers: UsageTrackers;
  #onTransition: (transition: Transition) => void;
  readonly #onPolicyFailure: (pool: string) => void;

  constructor({ settings, clock, onTransition, onPolicyFailure = () => {}, onBudgetSteps, before }: MeshStateParts) {
    this.#trackers = new UsageTrackers(settings, clock, before && before.#trackers);
    if (onBudgetSteps !== undefined) this.#trackers.onBudgetSteps = onBudgetSteps;
    if (before?.conversations !== undefined) this.conversations = before.conversations;
    this.#onTransition = onTransition;
    this.#onPolicyFailure = onPolicyFailure;
  }

  /** Creates the state of a model in a pool. It is active unless an earlier state is restored. */
  add(
    request: TrackedModel & {
      /** Weight, for weighted strategies. */
      readonly weight: number;
      /** Policies of the pool's rotation connector, which replace the built-in policy. */
      readonly policies?: OwnPolicies;
    },
  ): ModelState {
    const { pool, name, provider: { id: provider }, weight, routing, policies = {} } = request;
    const policy = createPolicy(policies, routing.deactivation, () => this.#onPolicyFailure(pool));
    const state = new ModelState({
      name,
      provider,
      weight,
      poolBreaker: this.#breaker({ pool, model: name, provider }),
      modelBreaker: this.modelBreaker(name, provider),
      providerBreaker: this.providerBreaker(provider),
      cooldownMs: routing.recovery.cooldownMs,
      policy,
      onTransition: (transition) => this.#onTransition(transition),
      tracker: this.#trackers.getTracker(policy.isOwn ? { ...request, routing: withoutErrorRate(routing) } : request),
    });
    const member = { pool, state };
    this.members.push(member);
    this.#memberIndex.add(member);
    this.overrides.attach(member);
    this.mapper?.member(member);
    return state;
  }

  /** Registers the budget of a client, team, tag or end user, to be persisted with the state. */
  addBudgetScope(scope: OwnedBudget): void {
    this.budgetScopes.set(scope.id, scope);
    this.mapper?.budget(scope);
  }

  /** Forgets such a budget. What is persisted of it is kept until its windows have ended. */
  removeBudgetScope(id: string): void {
    this.budgetScopes.delete(id);
  }

  /**
   * Returns the limits of all budgets.
   *
   * @param wallTimeMs Wall-clock ms.
   */
  listBudgets(wallTimeMs: number): readonly ScopedBudgetWindow[] {
    const ofMembers = this.members.flatMap(({ state }) => state.tracker.budgetScopes);
    this.scopes?.open();
    const scopes: readonly OwnedBudget[] = [
      ...ofMembers.map(({ id, budget }) => ({ id, budget })),
      ...this.budgetScopes.values(),
    ];
    return [...new Map(scopes.map((scope) => [scope.id, scope]))].flatMap(([key, { budget, name }]) => {
      const [, scope = key, id = ""] = /^(\S+) (.*)$/.exec(key) ?? [];
      return budget.windows(wallTimeMs).map((window) => ({
        scope,
        id,
        ...(name !== undefined && { name }),
        ...window,
      }));
    });
  }

  /** API keys of providers that have several keys and a model in a pool, by provider id. */
  get keyPools(): ReadonlyMap<string, ApiKeyPool> {
    return new Map(
      this.members.flatMap(({ state }) =>
        state.tracker.keys === undefined ? [] : [[state.provider, state.tracker.keys]]
      ),
    );
  }

  /** Counters shared with other processes. */
  get sharedCounters(): SharedCounters {
    return this.#trackers.sharedCounters;
  }

  /** Returns the retry budget of a provider. */
  retryBudget(provider: string, settings: RetryBudgetSettings): RetryBudget {
    return getOrCreate(this.#budgets, provider, () => new RetryBudget(settings));
  }

  /** Returns when the next standby ends, monotonic ms; undefined when none ends by itself. */
  nextRecovery(): number | undefined {
    let soonest: number | undefined;
    for (const { standby } of [...this.breakers, ...this.mapper?.pending ?? []]) {
      if (standby !== undefined && standby.until < (soonest ?? Infinity)) soonest = standby.until;
    }
    return soonest;
  }

  /** Whether a standby ends at a date. */
  get hasEndDates(): boolean {
    return [...this.breakers, ...this.mapper?.pending ?? []].some(({ standby }) => standby?.end !== undefined);
  }

  /**
   * Makes breakers half-open whose standby has ended, so that recoveries are reported in time and not with the next
   * request.
   */
  halfOpenDue(now: number): void {
    for (const { state } of this.members) state.refresh(now); // extends standbys whose limit is still exhausted
    for (const breaker of this.breakers) this.report(breaker.halfOpenIfDue(now));
  }

  /** Returns the breaker of a provider. */
  providerBreaker(provider: string): CircuitBreaker {
    return getOrCreate(this.#providers, provider, () => this.#breaker({ provider }));
  }

  /** Returns the breaker of a model across all pools. */
  modelBreaker(name: string, provider: string): CircuitBreaker {
    return getOrCreate(this.#models, name, () => this.#breaker({ model: name, provider }));
  }

  /**
   * Retires the state: another state has replaced it. Requests in flight keep their models here; their transitions go
   * to the new listener.
   *
   * @param onTransition Replaces the listener.
   */
  retire(onTransition: (transition: Transition) => void): void {
    this.breakers.length = 0;
    this.members.length = 0;
    this.#memberIndex.clear();
    this.#byOwner.clear();
    this.#onTransition = onTransition;
  }

  /**
   * Puts the owner of another state's transition in standby, if it is known here.
   *
   * @param transition The transition; a recovery is ignored.
   */
  follow({ owner, to, reason, standbyMs = Infinity, end }: Transition, now: number): void {
    if (to !== "standby") return;
    this.report(this.#byOwner.get(recordKey(owner))?.[0]?.open(reason, now, end ?? standbyMs));
  }

  /**
   * Checks the limits of all models of an owner.
   *
   * @param owner A model in a pool, a model across all pools, or a provider.
   */
  review(owner: BreakerOwner, now: number): void {
    for (const { state } of this.#memberIndex.find(owner)) state.review(now);
  }

  /** Whether any breaker of an owner is open. */
  isInStandby(owner: BreakerOwner): boolean {
    return this.#byOwner.get(recordKey(owner))?.some(({ standby }) => standby !== undefined) ?? false;
  }

  /** Reports a transition of a breaker that was changed from outside. */
  report(transition: Transition | undefined): void {
    if (transition !== undefined) this.#onTransition(transition);
  }

  #breaker(owner: CircuitBreaker["owner"]): CircuitBreaker {
    const breaker = new CircuitBreaker(owner);
    this.#register(breaker);
    return breaker;
  }

  #register(breaker: CircuitBreaker): void {
    this.breakers.push(breaker);
    getOrCreate(this.#byOwner, recordKey(breaker.owner), () => []).push(breaker);
    this.mapper?.breaker(breaker);
  }
}

/** Removes the error-rate setting, since the pool's own policy decides on failures. */
function withoutErrorRate({ deactivation, ...routing }: RoutingSettings): RoutingSettings {
  const { errorRate: _, ...others } = deactivation;
  return { ...routing, deactivation: others };
}
