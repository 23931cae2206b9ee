/**
 * The owner of all that has happened: every model's state, every breaker, every provider's retry budget.
 * @module
 */
import type { RetryBudgetSettings, RoutingSettings, Settings } from "../config/settings/settings.ts";
import type { Clock } from "../contracts/runtime.ts";
import { type OwnPolicies, policyOf } from "../rotation/policy.ts";
import { ManualOverrides } from "./breaker/manual_override.ts";
import type { ApiKeyPool } from "./limits/api_key_pool.ts";
import type { Budget, BudgetStep } from "./limits/budget.ts";
import type { TrackedModel } from "./usage.ts";
import { type MemberState, ModelState } from "./model_state.ts";
import { CircuitBreaker, type Transition } from "./breaker/circuit_breaker.ts";
import type { CounterReplicator } from "./replication/counter_replicator.ts";
import { RetryBudget } from "./limits/retry_budget.ts";
import { UsageTrackers } from "./usage_trackers.ts";

/** What makes a model in a pool. */
interface ModelStateRequest extends TrackedModel {
  /** Share under strategies that weigh. */
  readonly weight: number;
  /** What the pool's rotation connector brings in place of the built-in policy. */
  readonly policies?: OwnPolicies;
}

/** What a {@linkcode MeshState} is made of. */
interface MeshStateParts {
  /** The mesh's budget. */
  readonly settings: Pick<Settings, "budget">;
  /** Wall clock for calendar windows, monotonic for rates. */
  readonly clock: Clock;
  /** Called for every change between active and standby. */
  readonly onTransition: (transition: Transition) => void;
  /** Called when the policy that a pool's rotation connector brings has thrown. */
  readonly onPolicyFailure?: (pool: string) => void;
  /** Called when calls to a provider bring a budget to one of its steps. */
  readonly onBudgetSteps?: (steps: readonly BudgetStep[], provider: string) => void;
  /** The state under the configuration before this one: what is in both counts on, for both. */
  readonly before?: MeshState | undefined;
}

/** Knows what was before this process, and gives it to whatever comes into being. */
export interface StateRestorer {
  /** Breakers of what has not come into being. */
  readonly pending: Iterable<CircuitBreaker>;
  breaker(breaker: CircuitBreaker): void;
  member(member: MemberState): void;
  budget(scope: { readonly id: string; readonly budget: Budget }): void;
}

/** All states of one mesh. Every map is bounded by what is configured. Times are monotonic ms. */
export class MeshState {
  readonly #models = new Map<string, CircuitBreaker>();
  readonly #providers = new Map<string, CircuitBreaker>();
  readonly #budgets = new Map<string, RetryBudget>();
  /** Every breaker there is. */
  readonly breakers: CircuitBreaker[] = [];
  /** Every model in every pool. */
  readonly members: MemberState[] = [];
  /** Asked for everything that comes into being from now on. */
  mapper?: StateRestorer;
  /** Budgets of clients. */
  readonly budgetScopes: { readonly id: string; readonly budget: Budget }[] = [];
  /** Manual overrides. */
  readonly overrides: ManualOverrides = new ManualOverrides({
    members: this.members,
    register: (breaker) => this.#register(breaker),
  });
  readonly #trackers: UsageTrackers;
  #onTransition: (transition: Transition) => void;
  readonly #onPolicyFailure: (pool: string) => void;

  constructor({ settings, clock, onTransition, onPolicyFailure = () => {}, onBudgetSteps, before }: MeshStateParts) {
    this.#trackers = new UsageTrackers(settings, clock, before && before.#trackers);
    if (onBudgetSteps !== undefined) this.#trackers.onBudgetSteps = onBudgetSteps;
    this.#onTransition = onTransition;
    this.#onPolicyFailure = onPolicyFailure;
  }

  /** The state of a model in a pool, active at first sight. */
  add(request: ModelStateRequest): ModelState {
    const { pool, name, provider: { id: provider }, weight, routing, policies = {} } = request;
    const policy = policyOf(policies, routing.deactivation, () => this.#onPolicyFailure(pool));
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
      tracker: this.#trackers.trackerOf(policy.isOwn ? { ...request, routing: withoutErrorRate(routing) } : request),
    });
    const member = { pool, state };
    this.members.push(member);
    this.overrides.attach(member);
    this.mapper?.member(member);
    return state;
  }

  /**
   * Has a client's budget saved with the state.
   *
   * @param scope Whose it is, and the budget.
   */
  addBudgetScope(scope: { readonly id: string; readonly budget: Budget }): void {
    this.budgetScopes.push(scope);
    this.mapper?.budget(scope);
  }

  /** API keys of providers that have several and a model in a pool, by entry id. */
  get keyPools(): ReadonlyMap<string, ApiKeyPool> {
    return new Map(this.members.flatMap(({ state }) => state.keys === undefined ? [] : [[state.provider, state.keys]]));
  }

  /** Counters shared with other processes. */
  get replicator(): CounterReplicator {
    return this.#trackers.replicator;
  }

  /** The same-model retries that a provider's traffic allows. */
  retryBudget(provider: string, settings: RetryBudgetSettings): RetryBudget {
    return this.#shared(this.#budgets, provider, () => new RetryBudget(settings));
  }

  /** When the soonest standby ends, monotonic ms; undefined when none does by itself. */
  nextRecovery(): number | undefined {
    let soonest: number | undefined;
    for (const { standby } of [...this.breakers, ...this.mapper?.pending ?? []]) {
      if (standby !== undefined && standby.until < (soonest ?? Infinity)) soonest = standby.until;
    }
    return soonest;
  }

  /** Half-opens breakers whose standby is over, so that recoveries are reported in time and not at the next request. */
  halfOpenDue(now: number): void {
    for (const { state } of this.members) state.refresh(now); // limits that still hold prolong a standby
    for (const breaker of this.breakers) this.report(breaker.halfOpenIfDue(now));
  }

  /** The breaker of a provider. */
  providerBreaker(provider: string): CircuitBreaker {
    return this.#shared(this.#providers, provider, () => this.#breaker({ provider }));
  }

  /** The breaker of a model in every pool. */
  modelBreaker(name: string, provider: string): CircuitBreaker {
    return this.#shared(this.#models, name, () => this.#breaker({ model: name, provider }));
  }

  /**
   * Another state has taken over. Requests under way still have their models here; what they find out belongs there.
   *
   * @param onTransition Called for every change that they cause, in place of the listener so far.
   */
  retire(onTransition: (transition: Transition) => void): void {
    this.breakers.length = 0;
    this.members.length = 0;
    this.#onTransition = onTransition;
  }

  /**
   * Goes into standby as another state did, as far as it knows the owner.
   *
   * @param transition What happened there; a recovery changes nothing.
   */
  follow({ owner, to, reason, standbyMs = Infinity }: Transition, now: number): void {
    if (to !== "standby") return;
    const isOwner = (breaker: CircuitBreaker) =>
      breaker.owner.pool === owner.pool && breaker.owner.model === owner.model &&
      breaker.owner.provider === owner.provider;
    this.report(this.breakers.find(isOwner)?.open(reason, now, standbyMs));
  }

  /**
   * Has models that share an owner look at what was used of their limits.
   *
   * @param owner A model in a pool, a model or a provider.
   */
  review({ pool, model, provider }: CircuitBreaker["owner"], now: number): void {
    for (const member of this.members) {
      const { name, provider: own } = member.state;
      if (own !== provider || (model ?? name) !== name || (pool ?? member.pool) !== member.pool) continue;
      member.state.review(now);
    }
  }

  /** Reports a change that was made to a breaker from outside. */
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
    this.mapper?.breaker(breaker);
  }

  #shared<T>(map: Map<string, T>, key: string, make: () => T): T {
    const known = map.get(key);
    if (known !== undefined) return known;
    const made = make();
    map.set(key, made);
    return made;
  }
}

/** The pool's own policy decides about failures. */
function withoutErrorRate({ deactivation, ...routing }: RoutingSettings): RoutingSettings {
  const { errorRate: _, ...others } = deactivation;
  return { ...routing, deactivation: others };
}
