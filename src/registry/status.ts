/**
 * Status of pools, models and providers, as plain objects.
 * @module
 */
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Member, ModelEntry, Pool, Registry } from "./registry.ts";

/** Status of a model in a pool. */
export interface ModelStatus {
  /** Name of the model. */
  readonly name: string;
  /** The provider's id in the configuration. */
  readonly provider: string;
  /** Whether it receives requests. */
  readonly status: "active" | "standby";
  /** Reason of the standby. */
  readonly reason?: StandbyReason;
  /** Start of the standby, ISO 8601. */
  readonly since?: string;
  /** End of the standby, ISO 8601; absent if it does not end by itself. */
  readonly retryAt?: string;
}

/** Status of a pool. */
export interface PoolStatus {
  /** The capability node it targets. */
  readonly capability: string | null;
  /** Id of its strategy. */
  readonly strategy: string;
  /** `ok` while at least one of its models is active. */
  readonly status: "ok" | "unavailable";
  /** Number of active models. */
  readonly active: number;
  /** Number of models in standby. */
  readonly standby: number;
  /** Number of models. */
  readonly total: number;
  /** Number of requests that wait for a model in this process; absent if the pool has no queue. */
  readonly waiting?: number;
  /** Status of each model. */
  readonly models: readonly ModelStatus[];
}

/** A model of the mesh. */
export interface ListedModel {
  /** Name of the model. */
  readonly name: string;
  /** The provider's id in the configuration. */
  readonly provider: string;
  /** Full paths of its capabilities (leaves of the tree). */
  readonly capabilities: readonly string[];
  /** `standby` when it is in standby in all its pools. */
  readonly status: "active" | "standby";
}

/** Returns the current status of a pool. */
export function toPoolStatus(pool: Pool, clock: Clock): PoolStatus {
  const models = pool.members.map((member) => modelStatus(member, clock));
  const active = models.filter(({ status }) => status === "active").length;
  return {
    capability: pool.capability,
    strategy: pool.strategyId,
    status: active > 0 ? "ok" : "unavailable",
    active,
    standby: models.length - active,
    total: models.length,
    ...(pool.routing.queue === undefined ? {} : { waiting: pool.queue?.length ?? 0 }),
    models,
  };
}

function modelStatus({ state }: Member, clock: Clock): ModelStatus {
  const now = clock.monotonic();
  state.refresh(now);
  const toWallTime = (at: number) => new Date(clock.now() + Math.round(at - now)).toISOString();
  const { name, provider, status, reason, since, retryAt } = state;
  return {
    name,
    provider,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(since === undefined ? {} : { since: toWallTime(since) }),
    ...(retryAt === undefined ? {} : { retryAt: toWallTime(retryAt) }),
  };
}

/** Returns all models of a registry, with their status over all pools. */
export function listModels(registry: Registry, now: number): ListedModel[] {
  const listed = new Set<ModelEntry>();
  const active = new Set<ModelEntry>();
  for (const { members } of registry.allPools) {
    for (const { model, state } of members) {
      state.refresh(now);
      listed.add(model);
      if (state.status === "active") active.add(model);
    }
  }
  return registry.models.map((model) => ({
    name: model.name,
    provider: model.instance.entry.id,
    capabilities: model.leaves,
    status: active.has(model) || !listed.has(model) ? "active" : "standby", // nothing deactivates a model without a pool
  }));
}

/**
 * Returns the ids of providers with at least one active model, in order.
 *
 * @param now Monotonic ms.
 */
export function activeProviders(registry: Registry, now: number): string[] {
  const active = new Set(
    listModels(registry, now).flatMap(({ provider, status }) => status === "active" ? provider : []),
  );
  return registry.instances.map(({ entry }) => entry.id).filter((id) => active.has(id));
}
