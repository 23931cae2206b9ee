/**
 * The registry: providers, models and pools, by name.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import type {
  BatchSettings,
  BudgetSettings,
  ProviderEntry,
  RoutingSettings,
  Settings,
} from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { Delivery, FailureKind, ModelInfo, OperationName, Provider, RateLimits } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import { ReportedRotations } from "../rotation/reported_rotations.ts";
import { findNamedModels, resolvePriority } from "./named_models.ts";
import type { QueriedFacts } from "./queried_facts.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { ModelState } from "../state/model/model_state.ts";
import type { HedgeBudget } from "../state/limits/hedge_budget.ts";
import type { RetryBudget } from "../state/limits/retry_budget.ts";
import type { LatencyPercentiles } from "../state/metrics/latency_percentiles.ts";

/** A provider of a mesh. */
export interface ProviderInstance {
  /** Settings of the provider, configured or detected. */
  readonly entry: ProviderEntry;
  /** Undefined for a provider instance supplied by the program. */
  readonly connector?: ProviderDeclaration;
  readonly vendor: string;
  /** The vendor's name in telemetry. */
  readonly telemetryName: string;
  /** Why its models could not be listed: `did not list its models: …`. */
  listProblem?: string;
  /** The failure of its last call; undefined once a call has succeeded. */
  lastError?: ProviderLastError | undefined;
  /** Causes of failures about which a warning was logged, with the time of the latest, monotonic ms. */
  warnedCauses?: Map<string, number>;
  /** Upstream ids of the models that it listed at startup; undefined if it was not queried or listed none. */
  listed?: ReadonlySet<string>;
  readonly retryBudget: RetryBudget;
  /** Reported metadata by the provider's model ids; undefined before it was queried. */
  queried?: ReadonlyMap<string, QueriedFacts>;
  /** Undefined before the mesh is initialized. */
  provider?: Provider;
  /** Set when the mesh is initialized, and when it takes over from another one. */
  credential?: string;
  /** Headers that its calls have in addition. Set with the credential. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Settles when a key that is being resolved again is available. */
  ready?: Promise<void>;
}

/** Gives an instance what opening an earlier instance of the same provider has set. */
export function adoptOpened(instance: ProviderInstance, { provider, credential, headers }: ProviderInstance): void {
  Object.assign(instance, { provider, credential, headers });
}

/** The failure of a provider's last call. */
export interface ProviderLastError {
  /** Class of the failure. */
  readonly kind: FailureKind;
  /** HTTP status, if a response was received. */
  readonly status?: number;
  /** Time of the failure, ISO 8601. */
  readonly at: string;
}

/** A model of a mesh. */
export interface ModelEntry {
  /** The name that requests and pools use. */
  readonly name: string;
  /** Metadata; `id` is the provider's own. */
  readonly info: ModelInfo;
  /** Full paths of its capabilities (leaves of the tree). */
  readonly leaves: readonly string[];
  /** Whether capability pools include it. Other models are reached by name only. */
  readonly pooled: boolean;
  /** Whether it supports a delivery mode. */
  readonly delivers: (delivery: Delivery) => boolean;
  /** Batch settings as configured. */
  readonly batch?: BatchSettings;
  /** Weight, for weighted strategies. */
  readonly weight: number;
  /** Declared rate limits. */
  readonly limits?: RateLimits;
  readonly instance: ProviderInstance;
}

/** A model as a member of a pool. */
export interface Member {
  readonly model: ModelEntry;
  readonly state: ModelState;
  /** How often the model had entered standby when the pool's strategy last selected it. */
  standbysSeen?: number;
}

/** Requests that wait for a model of a pool. */
export interface PoolQueue {
  /** Number of waiting requests. */
  readonly length: number;
  /** Ends the wait of all requests with an error, also of those to come. */
  close(error: Error): void;
}

/** How a pool selects one of its models. */
export interface PoolStrategy {
  /** Id of the strategy, for status and messages. */
  readonly strategyId: string;
  readonly strategy: SelectionStrategy;
  /** Used when no model of the priority lists is a candidate, and when the strategy selects no model. */
  readonly fallback?: SelectionStrategy;
}

/** A group of models with a common capability, and the strategy that selects one of them. */
export interface Pool extends PoolStrategy {
  readonly name: string;
  /** The capability node it targets; for a fixed list, the common ancestor of its models; null if there is none. */
  readonly capability: string | null;
  readonly members: readonly Member[];
  readonly routing: RoutingSettings;
  /** Whether it is configured or detected, and not created on demand for a name in a request. */
  readonly listed: boolean;
  /** The current model: the one its strategy stays with, else the one selected or used last. */
  current?: Member;
  /** Rotations caused by failed attempts. */
  readonly rotations: ReportedRotations;
  /** The pool of which it has some of the members. Their requests wait in one queue, and share one budget of hedges. */
  readonly base?: Pool;
  /** Created with the first request that may be hedged. */
  hedging?: PoolHedging;
  /** Waiting requests; undefined before the first one, and if the pool has no queue. */
  queue?: PoolQueue;
  /** Computed on first use. */
  readonly membersByDelivery: Map<OperationName, { readonly [delivery in Delivery]?: readonly Member[] }>;
}

/** What a pool has measured, and spent on hedging. */
export interface PoolHedging {
  readonly budget: HedgeBudget;
  /** Time to the first content of streams, and to complete responses: of the pool and of each model. */
  readonly latencies: Map<string, LatencyPercentiles>;
}

export interface PoolPlan {
  readonly name: string;
  readonly capability: string | null;
  readonly models: readonly ModelEntry[];
  readonly routing: RoutingSettings;
  readonly budget?: BudgetSettings | undefined;
  readonly listed: boolean;
}

/** What a registry needs of the state. */
export type RegistryState = Pick<MeshState, "add" | "retryBudget">;

interface RegistryParts {
  readonly settings: Settings;
  readonly tree: CapabilityTree;
  readonly state: RegistryState;
  readonly makeStrategy: (routing: RoutingSettings) => PoolStrategy;
}

/** Providers, models and pools by name. */
export class Registry {
  readonly tree: CapabilityTree;
  readonly instances: readonly ProviderInstance[];
  /** Whether callers authorize the requests of any provider. */
  readonly takesCallerKeys: boolean;
  /** Called when pools have got members after the registry was built. */
  onMembersChanged: (added?: Pool) => void = () => {};
  /**
   * Lists the models of providers again whose list could not be had, unless that was done a moment ago; absent if there
   * are none. Never rejects.
   */
  relist?: () => Promise<void> | undefined;
  readonly #parts: RegistryParts;
  readonly #models = new Map<string, ModelEntry>();
  readonly #byCatalogueName = new Map<string, ModelEntry>();
  readonly #byUpstreamId = new Map<string, ModelEntry[]>();
  readonly #pools = new Map<string, Pool>();
  readonly #implicit = new Map<string, Pool>();
  /** Implicit pools as far as a client may use them. */
  readonly #narrowed = new Map<string, Pool>();

  /** @param instances Providers, in the order of the settings. */
  constructor(parts: RegistryParts, instances: readonly ProviderInstance[]) {
    this.#parts = parts;
    this.tree = parts.tree;
    this.instances = instances;
    this.takesCallerKeys = instances.some(({ entry: { credentials } }) => credentials === "header");
  }

  /** Maps aliases to pools or models. */
  get aliases(): ReadonlyMap<string, string> {
    return this.#parts.settings.aliases;
  }

  /** Upstream model ids, plain and prefixed by their vendor. */
  get upstreamIds(): Iterable<string> {
    return this.#byUpstreamId.keys();
  }

  get models(): readonly ModelEntry[] {
    return [...this.#models.values()];
  }

  /** Configured or detected pools, in order. */
  get pools(): readonly Pool[] {
    return [...this.#pools.values()];
  }

  /** Adds a model. If its name is taken, the first model keeps it. */
  addModel(model: ModelEntry): void {
    if (this.#models.has(model.name)) return;
    this.#models.set(model.name, model);
    const catalogueName = `${model.instance.vendor}.${model.info.id}`;
    if (!this.#byCatalogueName.has(catalogueName)) this.#byCatalogueName.set(catalogueName, model);
    for (const id of [model.info.id, `${model.instance.vendor}/${model.info.id}`]) {
      const existing = this.#byUpstreamId.get(id);
      if (existing === undefined) this.#byUpstreamId.set(id, [model]);
      else existing.push(model);
    }
  }

  /** Configured and detected pools, and those created on demand. */
  get allPools(): readonly Pool[] {
    return [...this.#pools.values(), ...this.#implicit.values()];
  }

  addPool(plan: PoolPlan): Pool {
    const { makeStrategy, state } = this.#parts;
    const { name, budget } = plan;
    const routing = resolvePriority(plan.routing, this);
    const chosen = makeStrategy(routing);
    const pool: Pool = {
      ...plan,
      routing,
      members: plan.models.map((model) => ({
        model,
        state: state.add({
          ...model,
          pool: name,
          provider: model.instance.entry,
          routing,
          budget,
          policies: chosen.strategy,
        }),
      })),
      ...chosen,
      rotations: new ReportedRotations(),
      membersByDelivery: new Map(),
    };
    if (plan.listed) this.#pools.set(name, pool);
    return pool;
  }

  /** Returns a configured or detected pool. */
  pool(name: string): Pool | undefined {
    return this.#pools.get(name);
  }

  /** Returns a model by its name, or by its catalogue name. */
  model(name: string): ModelEntry | undefined {
    return this.#models.get(name) ?? this.#byCatalogueName.get(name);
  }

  /** Returns models by `<vendor>/<id>` or by upstream id. */
  modelsByUpstreamId(id: string): readonly ModelEntry[] {
    return this.#byUpstreamId.get(id) ?? [];
  }

  /** Returns the pool of a capability node, created on first use. */
  poolAt(path: string, listed = false): Pool {
    const name = this.tree.shortName(path);
    const existing = this.#pools.get(name) ?? this.#implicit.get(path);
    if (existing === undefined) {
      return this.#onDemand(path, { name, capability: path, models: this.pooledAt(path), listed });
    }
    if (listed && this.#implicit.delete(path)) this.#pools.set(name, Object.assign(existing, { listed }));
    return existing;
  }

  /**
   * Returns the pool of the models that a name stands for, created on first use.
   *
   * @param own Those that the caller may use. Their states are the same for all callers.
   */
  getPool(name: string, models: readonly ModelEntry[], own: readonly ModelEntry[] = models): Pool {
    const pool = this.#implicit.get(name) ?? this.#onDemand(name, {
      name,
      capability: this.tree.commonAncestor(models.flatMap(({ leaves }) => leaves)),
      models,
      listed: false,
    });
    return own.length < models.length ? this.getPoolWithin(pool, own) : pool;
  }

  /** Returns a pool of some of another pool's members, with a strategy of its own; that pool itself for all of them. */
  getPoolWithin(pool: Pool, models: readonly ModelEntry[]): Pool {
    if (models.length === pool.members.length) return pool;
    const key = JSON.stringify([pool.name, ...models.map(({ name }) => name)]);
    const existing = this.#narrowed.get(key);
    if (existing !== undefined) return existing;
    const narrowed: Pool = {
      ...pool,
      base: pool,
      members: pool.members.filter(({ model }) => models.includes(model)),
      ...this.#parts.makeStrategy(pool.routing),
      rotations: new ReportedRotations(),
      membersByDelivery: new Map(),
    };
    delete narrowed.current;
    delete narrowed.hedging;
    delete narrowed.queue;
    this.#narrowed.set(key, narrowed);
    return narrowed;
  }

  /** Returns the models of a capability pool, in the order of the `models` option, else of the providers. */
  pooledAt(path: string): ModelEntry[] {
    const { only } = this.#parts.settings;
    const models = only?.flatMap((name) => findNamedModels(name, this)?.models ?? []) ??
      this.models.filter(({ pooled }) => pooled);
    return models.filter(({ leaves }) => leaves.some((leaf) => this.tree.contains(path, leaf)));
  }

  #onDemand(key: string, plan: Omit<PoolPlan, "routing">): Pool {
    const { defaultRouting: routing, defaultBudget: budget } = this.#parts.settings;
    const pool = this.addPool({ ...plan, routing, budget });
    if (plan.listed) return pool;
    this.#implicit.set(key, pool);
    this.onMembersChanged(pool);
    return pool;
  }
}
