/**
 * What is there and how it does, as plain objects for people and programs.
 * @module
 */
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { Member, ModelEntry, Pool, Registry } from "./registry.ts";

/** One model of a pool. */
export interface ModelStatus {
  /** Its name. */
  readonly name: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** Whether requests may go to it. */
  readonly status: "active" | "standby";
  /** Why it is in standby. */
  readonly reason?: StandbyReason;
  /** Since when, ISO 8601. */
  readonly since?: string;
  /** When it will be reconsidered, ISO 8601. */
  readonly retryAt?: string;
}

/** One pool. */
export interface PoolStatus {
  /** The node it targets. */
  readonly capability: string | null;
  /** Its strategy's id. */
  readonly strategy: string;
  /** Whether any of its models is active. */
  readonly status: "ok" | "unavailable";
  /** Models that may be asked. */
  readonly active: number;
  /** Models in standby. */
  readonly standby: number;
  /** Both. */
  readonly total: number;
  /** Each of them. */
  readonly models: readonly ModelStatus[];
}

/** One model of the mesh. */
export interface ListedModel {
  /** Its name. */
  readonly name: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** Its capability leaves, full paths. */
  readonly capabilities: readonly string[];
  /** `standby` when it is in standby in all of its pools. */
  readonly status: "active" | "standby";
}

/** The current state of a pool. */
export function statusOf(pool: Pool, clock: Clock): PoolStatus {
  const models = pool.members.map((member) => modelStatus(member, clock));
  const active = models.filter(({ status }) => status === "active").length;
  return {
    capability: pool.capability,
    strategy: pool.strategyId,
    status: active > 0 ? "ok" : "unavailable",
    active,
    standby: models.length - active,
    total: models.length,
    models,
  };
}

function modelStatus({ state }: Member, clock: Clock): ModelStatus {
  const now = clock.monotonic();
  state.refresh(now);
  const timeOf = (at: number) => new Date(clock.now() + Math.round(at - now)).toISOString();
  const { name, provider, status, reason, since, retryAt } = state;
  return {
    name,
    provider,
    status,
    ...(reason === undefined ? {} : { reason }),
    ...(since === undefined ? {} : { since: timeOf(since) }),
    ...(retryAt === undefined ? {} : { retryAt: timeOf(retryAt) }),
  };
}

/** All models of a registry, with their state over all pools. */
export function listModels(registry: Registry, now: number): ListedModel[] {
  const members = registry.allPools.flatMap((pool) => pool.members);
  return registry.models.map((model) => ({
    name: model.name,
    provider: model.instance.entry.id,
    capabilities: model.leaves,
    status: isActive(model, members, now) ? "active" : "standby",
  }));
}

/**
 * Entry ids of the providers that have an active model, in order.
 *
 * @param registry All there are.
 * @param now Monotonic ms.
 */
export function activeProviders(registry: Registry, now: number): string[] {
  const active = listModels(registry, now).flatMap(({ provider, status }) => status === "active" ? provider : []);
  return registry.instances.map(({ entry }) => entry.id).filter((id) => active.includes(id));
}

function isActive(model: ModelEntry, members: readonly Member[], now: number): boolean {
  const states = members.flatMap((member) => member.model === model ? member.state : []);
  for (const state of states) state.refresh(now);
  return states.length === 0 || states.some(({ status }) => status === "active");
}
