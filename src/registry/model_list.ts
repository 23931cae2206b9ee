/**
 * Pools and models as OpenAI's model list has them.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Registry } from "./registry.ts";
import { listModels, statusOf } from "./status.ts";

/** One entry of the list. */
export interface ListedEntry {
  /** What a request may name. */
  readonly id: string;
  /** Always `model`. */
  readonly object: "model";
  /** Unix time, seconds; 0: not known. */
  readonly created: number;
  /** `mesh` for a pool, the vendor for a model. */
  readonly owned_by: string;
  /** What it is and how it does. */
  readonly mesh: PoolFacts | ModelFacts;
}

/** A pool in the list. */
export interface PoolFacts {
  /** Always `pool`. */
  readonly type: "pool";
  /** The node it targets; null for a list of models with nothing in common. */
  readonly capability: string | null;
  /** Its strategy's id. */
  readonly strategy: string;
  /** `standby` when all its models are. */
  readonly status: "active" | "standby";
  /** Models that may be asked. */
  readonly active: number;
  /** Models in standby. */
  readonly standby: number;
}

/** A model in the list. */
export interface ModelFacts {
  /** Always `model`. */
  readonly type: "model";
  /** Its provider's entry id. */
  readonly provider: string;
  /** Its capability leaves, full paths. */
  readonly capabilities: readonly string[];
  /** `standby` when it is in every pool it is in. */
  readonly status: "active" | "standby";
}

/** The body of `GET /v1/models`. */
export interface ModelList {
  /** Always `list`. */
  readonly object: "list";
  /** Pools first, then models. */
  readonly data: readonly ListedEntry[];
}

/** Lists every name that a request may use. */
export function modelList(registry: Registry, clock: Clock): ModelList {
  const pools = registry.pools.map((pool): ListedEntry => {
    const { capability, strategy, active, standby } = statusOf(pool, clock);
    return {
      id: pool.name,
      object: "model",
      created: 0,
      owned_by: "mesh",
      mesh: { type: "pool", capability, strategy, status: active > 0 ? "active" : "standby", active, standby },
    };
  });
  const listed = listModels(registry, clock.monotonic());
  const models = registry.models.map((model, index): ListedEntry => ({
    id: model.name,
    object: "model",
    created: 0,
    owned_by: model.instance.vendor,
    mesh: {
      type: "model",
      provider: model.instance.entry.id,
      capabilities: model.leaves,
      status: listed[index]!.status,
    },
  }));
  return { object: "list", data: [...pools, ...models] };
}
