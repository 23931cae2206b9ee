/**
 * Pools and models in the shape of OpenAI's model list.
 * @module
 */
import type { DatedPricing } from "../contracts/provider.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { ModelEntry, Pool, Registry } from "./registry.ts";
import { listModels, toPoolStatus } from "./status.ts";

/** An entry of the list. */
export interface ListedEntry {
  /** The value to use as `model` in a request. */
  readonly id: string;
  /** Always `model`. */
  readonly object: "model";
  /** Creation time, Unix seconds; 0 when unknown. */
  readonly created: number;
  /** `mesh` for a pool or an alias, the vendor for a model. */
  readonly owned_by: string;
  /** Kind and status. */
  readonly mesh: PoolFacts | ModelFacts | AliasFacts;
}

/** Status of a pool. */
export interface PoolFacts {
  /** Always `pool`. */
  readonly type: "pool";
  /** The capability node it targets; null when its models share none. */
  readonly capability: string | null;
  /** Id of its strategy. */
  readonly strategy: string;
  /** `standby` when all its models are in standby. */
  readonly status: "active" | "standby";
  /** Number of active models. */
  readonly active: number;
  /** Number of models in standby. */
  readonly standby: number;
}

/** Status of a model. */
export interface ModelFacts {
  /** Always `model`. */
  readonly type: "model";
  /** The provider's id in the configuration. */
  readonly provider: string;
  /** Full paths of its capabilities (leaves of the tree). */
  readonly capabilities: readonly string[];
  /** `standby` when it is in standby in all its pools. */
  readonly status: "active" | "standby";
  /** Its prices, in USD, in the order of their conditions; omitted when unknown. */
  readonly pricing?: readonly DatedPricing[];
}

/** The target of an alias. */
export interface AliasFacts {
  /** Always `alias`. */
  readonly type: "alias";
  /** The pool or model that it stands for. */
  readonly target: string;
}

/** The body of `GET /v1/models`. */
export interface ModelList {
  /** Always `list`. */
  readonly object: "list";
  /** Pools first, then aliases, then models. */
  readonly data: readonly ListedEntry[];
}

/** Lists every name that a request may use. */
export function modelList(registry: Registry, clock: Clock): ModelList {
  const pools = registry.pools.map((pool) => toListedPool(pool, clock));
  const aliases = [...registry.aliases].filter(([name]) => registry.pool(name) === undefined).map(
    ([name, target]): ListedEntry => ({
      id: name,
      object: "model",
      created: 0,
      owned_by: "mesh",
      mesh: { type: "alias", target },
    }),
  );
  const listed = listModels(registry, clock.monotonic());
  const models = registry.models.map((model, index) => toListedModel(model, listed[index]!.status));
  return { object: "list", data: [...pools, ...aliases, ...models] };
}

/** The entry of a pool. */
export function toListedPool(pool: Pool, clock: Clock): ListedEntry {
  const { capability, strategy, active, standby } = toPoolStatus(pool, clock);
  return {
    id: pool.name,
    object: "model",
    created: 0,
    owned_by: "mesh",
    mesh: { type: "pool", capability, strategy, status: active > 0 ? "active" : "standby", active, standby },
  };
}

/** The entry of a model; by default of one that is in no pool, and so in no standby. */
export function toListedModel(
  { name, instance, leaves, info }: ModelEntry,
  status: ModelFacts["status"] = "active",
): ListedEntry {
  return {
    id: name,
    object: "model",
    created: 0,
    owned_by: instance.vendor,
    mesh: {
      type: "model",
      provider: instance.entry.id,
      capabilities: leaves,
      status,
      ...(info.pricing && { pricing: info.pricing }),
    },
  };
}
