/**
 * What exists: providers, models, pools, and the names they go by.
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
import type { Delivery, ModelInfo, OperationName, Provider, RateLimits } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import { ReportedRotations } from "../rotation/reported_rotations.ts";
import type { ModelAnswers } from "./provider_answers.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { ModelState } from "../state/model_state.ts";
import type { RetryBudget } from "../state/limits/retry_budget.ts";

/** One provider of a mesh. */
export interface ProviderInstance {
  /** Configured or detected. */
  readonly entry: ProviderEntry;
  /** Undefined for an instance given by the program. */
  readonly connector?: ProviderDeclaration;
  readonly vendor: string;
  /** Why it could not be asked for its models: `did not list its models: …`. */
  readonly listProblem?: string;
  /** Upstream ids of the models that it listed at the start; undefined: it was not asked, or did not list any. */
  readonly listed?: ReadonlySet<string>;
  readonly retryBudget: RetryBudget;
  /** By the provider's own model ids; undefined before it was asked. */
  answers?: ReadonlyMap<string, ModelAnswers>;
  /** Undefined before the mesh is initialised. */
  provider?: Provider;
  /** Resolved when the mesh is initialised, and again when it takes over from another. */
  credential?: string;
  /** Settles once a key that is being looked up again is there. */
  ready?: Promise<void>;
}

/** One model of a mesh. */
export interface ModelEntry {
  /** As requests and pools name it. */
  readonly name: string;
  /** `id` is the provider's own. */
  readonly info: ModelInfo;
  /** Capability leaves, full paths. */
  readonly leaves: readonly string[];
  /** Whether capability pools include it; other models are reached by name. */
  readonly pooled: boolean;
  /** Whether it offers a delivery mode. */
  readonly delivers: (delivery: Delivery) => boolean;
  /** As configured. */
  readonly batch?: BatchSettings;
  /** For strategies that weigh models. */
  readonly weight: number;
  /** As declared, per vendor. */
  readonly limits?: RateLimits;
  readonly instance: ProviderInstance;
}

/** A model as a member of a pool. */
export interface Member {
  readonly model: ModelEntry;
  readonly state: ModelState;
  /** How often it had been in standby when the pool's strategy last chose it. */
  standbysSeen?: number;
}

/** How one of a pool's models is chosen. */
export interface PoolStrategy {
  /** For status and messages. */
  readonly strategyId: string;
  readonly strategy: SelectionStrategy;
  /** Asked when the strategy chooses none. */
  readonly fallback?: SelectionStrategy;
}

/** A group of models that share a capability, and how one of them is chosen. */
export interface Pool extends PoolStrategy {
  readonly name: string;
  /** The node it targets; the members' common ancestor for a fixed list; null when there is none. */
  readonly capability: string | null;
  readonly members: readonly Member[];
  readonly routing: RoutingSettings;
  /** Configured or detected, not made for a name that came along. */
  readonly listed: boolean;
  /** The model it is with: the one that its strategy stays with, else the one chosen or that served last. */
  current?: Member;
  /** Its rotations by failed attempts. */
  readonly rotations: ReportedRotations;
  /** Computed at first use. */
  readonly membersByDelivery: Map<`${OperationName}:${Delivery}`, readonly Member[]>;
}

export interface PoolPlan {
  readonly name: string;
  readonly capability: string | null;
  readonly models: readonly ModelEntry[];
  readonly routing: RoutingSettings;
  readonly budget?: BudgetSettings | undefined;
  readonly listed: boolean;
}

interface RegistryParts {
  readonly settings: Settings;
  readonly tree: CapabilityTree;
  readonly state: MeshState;
  readonly makeStrategy: (routing: RoutingSettings) => PoolStrategy;
}

/** Providers, models and pools by name. */
export class Registry {
  readonly tree: CapabilityTree;
  readonly instances: readonly ProviderInstance[];
  /** Called when pools got members after the registry was built. */
  onMembersChanged: () => void = () => {};
  readonly #parts: RegistryParts;
  readonly #models = new Map<string, ModelEntry>();
  readonly #byCatalogueName = new Map<string, ModelEntry>();
  readonly #byUpstreamId = new Map<string, ModelEntry[]>();
  readonly #pools = new Map<string, Pool>();
  readonly #implicit = new Map<string, Pool>();

  /**
   * @param instances In the order of the settings.
   */
  constructor(parts: RegistryParts, instances: readonly ProviderInstance[]) {
    this.#parts = parts;
    this.tree = parts.tree;
    this.instances = instances;
  }

  /** From alias to pool or model. */
  get aliases(): ReadonlyMap<string, string> {
    return this.#parts.settings.aliases;
  }

  /** Ids that providers know models by, alone and after their vendor. */
  get upstreamIds(): Iterable<string> {
    return this.#byUpstreamId.keys();
  }

  get models(): readonly ModelEntry[] {
    return [...this.#models.values()];
  }

  /** The configured or detected pools, in order. */
  get pools(): readonly Pool[] {
    return [...this.#pools.values()];
  }

  /** A name that is taken keeps its first model. */
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

  /** Configured and detected pools, and those made on demand. */
  get allPools(): readonly Pool[] {
    return [...this.#pools.values(), ...this.#implicit.values()];
  }

  addPool(plan: PoolPlan): Pool {
    const { makeStrategy, state } = this.#parts;
    const { name, routing, budget } = plan;
    const chosen = makeStrategy(routing);
    const pool: Pool = {
      ...plan,
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
