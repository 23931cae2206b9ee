/**
 * What exists: providers, models, pools, and the names they go by.
 * @module
 */
import type { CapabilityTree } from "../capability/tree.ts";
import type { BudgetSettings, ProviderEntry, RoutingSettings, Settings } from "../config/settings/settings.ts";
import type { ProviderDeclaration } from "../contracts/connector.ts";
import type { Delivery, ModelInfo, Provider, RateLimits } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { BackedUp } from "../rotation/fallback.ts";
import { ReportedRotations } from "../rotation/reported_rotations.ts";
import type { ModelAnswers } from "./provider_answers.ts";
import type { Operation } from "../capability/operations.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { ModelState } from "../state/model_state.ts";
import type { RetryBudget } from "../state/limits/retry_budget.ts";

/** One provider of a mesh. */
export interface ProviderInstance {
  /** As configured or detected. */
  readonly entry: ProviderEntry;
  /** The vendor's facts; undefined for an instance given by the program. */
  readonly connector?: ProviderDeclaration;
  /** Short vendor name. */
  readonly vendor: string;
  /** Why it could not be asked for its models: `did not list its models: …`. */
  readonly listProblem?: string;
  /** Same-model retries its traffic allows. */
  readonly retryBudget: RetryBudget;
  /** What it answered about its models, by the id it knows them by; undefined before it was asked. */
  answers?: ReadonlyMap<string, ModelAnswers>;
  /** Made when the mesh is initialised. */
  provider?: Provider;
  /** Resolved when the mesh is initialised, and again when it takes over from another. */
  credential?: string;
  /** Settles once a key that is being looked up again is there. */
  ready?: Promise<void>;
}

/** One model of a mesh. */
export interface ModelEntry {
  /** The name it goes by here. */
  readonly name: string;
  /** What is known of it; `id` is what its provider calls it. */
  readonly info: ModelInfo;
  /** Capability leaves, full paths. */
  readonly leaves: readonly string[];
  /** Whether pools that target a capability take it in; others reach it by name. */
  readonly pooled: boolean;
  /** Whether it offers a delivery mode. */
  readonly delivers: (delivery: Delivery) => boolean;
  /** Share under strategies that weigh. */
  readonly weight: number;
  /** What its vendor allows, as declared. */
  readonly limits?: RateLimits;
  /** Its provider. */
  readonly instance: ProviderInstance;
}

/** A model as a member of a pool. */
export interface Member {
  readonly model: ModelEntry;
  readonly state: ModelState;
  /** How often it had been in standby when the pool's strategy last chose it. */
  standbysSeen?: number;
}

/** A group of models that share a capability, and how one of them is chosen. */
export interface Pool {
  readonly name: string;
  /** The node it targets; the members' common ancestor for a fixed list; null when there is none. */
  readonly capability: string | null;
  readonly members: readonly Member[];
  readonly routing: RoutingSettings;
  /** The strategy's id, for people. */
  readonly strategyId: string;
  readonly strategy: SelectionStrategy;
  readonly fallback?: SelectionStrategy;
  /** Configured or detected, not made for a name that came along. */
  readonly listed: boolean;
  /** The model it is with: the one that its strategy stays with, else the one chosen or that served last. */
  current?: Member;
  /** Its rotations by failed attempts. */
  readonly rotations: ReportedRotations;
  /** Members by operation and delivery, worked out at first use. */
  readonly membersByDelivery: Map<`${Operation}:${Delivery}`, readonly Member[]>;
}

/** What a pool is made of. */
export interface PoolPlan {
  readonly name: string;
  readonly capability: string | null;
  readonly models: readonly ModelEntry[];
  readonly routing: RoutingSettings;
  /** Most that may be spent through it. */
  readonly budget?: BudgetSettings | undefined;
  readonly listed: boolean;
}

/** What a registry needs. */
export interface RegistryParts {
  readonly settings: Settings;
  readonly tree: CapabilityTree;
  readonly state: MeshState;
  readonly makeStrategy: (strategy: string | SelectionStrategy) => { id: string; instance: SelectionStrategy };
}

/** Providers, models and pools by name. */
export class Registry {
  readonly tree: CapabilityTree;
  readonly instances: readonly ProviderInstance[];
  /** Names that may have been meant by one that stands for nothing, where that is looked into. */
  suggest: (name: string) => readonly string[] = () => [];
  /** A pool's strategy with the one that stands in for it, where such are configured. */
  declare backUp?: (strategy: SelectionStrategy, routing: RoutingSettings) => Partial<BackedUp>;
  /** Called when pools got members after the registry was built. */
  onMembersChanged: () => void = () => {};
  readonly #parts: RegistryParts;
  readonly #models = new Map<string, ModelEntry>();
  readonly #byCatalogueName = new Map<string, ModelEntry>();
  readonly #byUpstreamId = new Map<string, ModelEntry[]>();
  readonly #pools = new Map<string, Pool>();
  readonly #implicit = new Map<string, Pool>();

  /**
   * @param parts What it is made of.
   * @param instances The providers, in order.
   */
  constructor(parts: RegistryParts, instances: readonly ProviderInstance[]) {
    this.#parts = parts;
    this.tree = parts.tree;
    this.instances = instances;
  }

  /** Names to pools or models. */
  get aliases(): ReadonlyMap<string, string> {
    return this.#parts.settings.aliases;
  }

  /** Ids that providers know models by, alone and after their vendor. */
  get upstreamIds(): Iterable<string> {
    return this.#byUpstreamId.keys();
  }

  /** All models, in order. */
  get models(): readonly ModelEntry[] {
    return [...this.#models.values()];
  }

  /** The configured or detected pools, in order. */
  get pools(): readonly Pool[] {
    return [...this.#pools.values()];
  }

  /** Takes in a model; a name that is there already keeps its first meaning. */
  addModel(model: ModelEntry): void {
    if (this.#models.has(model.name)) return;
    this.#models.set(model.name, model);
    const catalogueName = `${model.instance.vendor}.${model.info.id}`;
    if (!this.#byCatalogueName.has(catalogueName)) this.#byCatalogueName.set(catalogueName, model);
    for (const id of [model.info.id, `${model.instance.vendor}/${model.info.id}`]) {
      const known = this.#byUpstreamId.get(id);
      if (known === undefined) this.#byUpstreamId.set(id, [model]);
      else known.push(model);
    }
  }

  /** Those, and the ones made for names that came along. */
  get allPools(): readonly Pool[] {
    return [...this.#pools.values(), ...this.#implicit.values()];
  }

  /** Makes a pool. */
  addPool(plan: PoolPlan): Pool {
    const { makeStrategy, state } = this.#parts;
    const { name, routing, budget } = plan;
    const { id, instance } = makeStrategy(routing.strategy);
    const pool: Pool = {
      ...plan,
      members: plan.models.map((model) => ({
        model,
        state: state.add({ ...model, pool: name, provider: model.instance.entry, routing, budget, policies: instance }),
      })),
      strategyId: id,
      strategy: instance,
      ...this.backUp?.(instance, routing),
      rotations: new ReportedRotations(),
      membersByDelivery: new Map(),
    };
    if (plan.listed) this.#pools.set(name, pool);
    return pool;
  }

  /** A configured or detected pool. */
  pool(name: string): Pool | undefined {
    return this.#pools.get(name);
  }

  /** A model by its name here, or by the one the catalogue would give it. */
  model(name: string): ModelEntry | undefined {
    return this.#models.get(name) ?? this.#byCatalogueName.get(name);
  }

  /** Models by `<vendor>/<id>` or the id their provider knows them by. */
  modelsByUpstreamId(id: string): readonly ModelEntry[] {
    return this.#byUpstreamId.get(id) ?? [];
  }

  /** The pool of a capability node, made at first use and kept. */
  poolAt(path: string, listed = false): Pool {
    const name = this.tree.shortName(path);
    return this.#pools.get(name) ?? this.#implicit.get(path) ??
      this.#onDemand(path, { name, capability: path, models: this.pooledAt(path), listed });
  }

  /** The pool of the models a name stands for, made at first use and kept. */
  poolOf(name: string, models: readonly ModelEntry[]): Pool {
    return this.#implicit.get(name) ?? this.#onDemand(name, {
      name,
      capability: this.tree.commonAncestor(models.flatMap(({ leaves }) => leaves)),
      models,
      listed: false,
    });
  }

  /** What a pool at a node takes in, in the order asked for, else in the providers'. */
  pooledAt(path: string): ModelEntry[] {
    const { only } = this.#parts.settings;
    const models = only?.flatMap((name) => this.model(name) ?? []) ?? this.models.filter(({ pooled }) => pooled);
    return models.filter(({ leaves }) => leaves.some((leaf) => this.tree.contains(path, leaf)));
  }

  #onDemand(key: string, plan: Omit<PoolPlan, "routing">): Pool {
    const { defaultRouting: routing, defaultBudget: budget } = this.#parts.settings;
    const pool = this.addPool({ ...plan, routing, budget });
    if (plan.listed) return pool;
    this.#implicit.set(key, pool);
    this.onMembersChanged();
    return pool;
  }
}
