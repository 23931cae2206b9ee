/**
 * Pools and models as OpenAI's model list has them.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Registry } from "./registry.ts";
import { statusOf } from "./status.ts";

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
  /** For a pool: what it is and how it does. */
  readonly mesh?: {
    readonly type: "pool";
    readonly capability: string | null;
    readonly strategy: string;
    readonly active: number;
    readonly standby: number;
  };
}

/** The body of `GET /v1/models`. */
export interface ModelList {
  /** Always `list`. */
  readonly object: "list";
  /** Pools first, then models. */
  readonly data: readonly ListedEntry[];
}

/**
 * The list of everything a request may name.
 *
 * @param registry What exists.
 * @param clock For the pools' states.
 */
export function modelList(registry: Registry, clock: Clock): ModelList {
  const pools = registry.pools.map((pool): ListedEntry => {
    const { capability, strategy, active, standby } = statusOf(pool, clock);
    return {
      id: pool.name,
      object: "model",
      created: 0,
      owned_by: "mesh",
      mesh: { type: "pool", capability, strategy, active, standby },
    };
  });
  const models = registry.models.map((model): ListedEntry => ({
    id: model.name,
    object: "model",
    created: 0,
    owned_by: model.home.vendor,
  }));
  return { object: "list", data: [...pools, ...models] };
}
