/**
 * State that a mesh inherits from the previous configuration. Imported with the first reload.
 * @module
 */
import type { BudgetSettings, ProviderEntry, Settings } from "../config/settings/settings.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Engine } from "../engine/engine.ts";
import { NoActiveModelError } from "../errors.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import type { MeshSnapshot, SavedBreaker } from "../state/persistence/snapshot.ts";

export { SnapshotMapper };

/** Retry delay of requests that have waited in a pool that was removed, ms. */
const removedRetryMs = 1_000;

/**
 * Returns the state of a mesh that remains valid under another configuration. Standby and failures of a provider are
 * dropped if its API key or address has changed; standby due to a budget is dropped if the budget has changed. Standby
 * due to an operator, a maintenance window or a probe is kept.
 */
export function statesFor(before: Engine, next: Settings): MeshSnapshot {
  const { settings, state, runtime: { clock } } = before;
  const snapshot = new SnapshotMapper(state, clock, { hasUsage: false }).snapshot();
  const isSame = (id: string) => isSameProvider(settings.providers.get(id), next.providers.get(id));
  return {
    ...snapshot,
    breakers: snapshot.breakers.filter((breaker) =>
      breaker.cause !== undefined ||
      isSame(breaker.provider) && !(isForBudget(breaker) && hasOtherBudget(breaker, { before: settings, next }))
    ),
    failures: snapshot.failures.filter(({ provider }) => isSame(provider)),
  };
}

/**
 * Applies a transition, caused by a request in progress, to the next mesh: the transition itself if the provider is the
 * same; an exhausted limit according to the limits of the next mesh.
 *
 * @param transition A transition of the previous mesh.
 * @param meshes The mesh that sent the request, and the next mesh.
 */
export function handOver(transition: Transition, { before, next }: { before: Engine; next: Engine }): void {
  const { owner, reason } = transition;
  const now = next.runtime.clock.monotonic();
  const [first, second] = [before, next].map(({ settings }) => settings.providers.get(owner.provider));
  if (limitReasons.has(reason)) next.state.review(owner, now);
  else if (isSameProvider(first, second)) next.state.follow(transition, now);
}

/** Refuses requests that wait for models of pools which the next mesh does not have. */
export function closeQueues({ registry: { pools } }: Engine, next: Engine): void {
  for (const { name, queue } of pools) {
    if (queue === undefined || next.registry.pool(name) !== undefined) continue;
    const message = `The pool "${name}" has been removed from the configuration`;
    queue.close(new NoActiveModelError(message, { retryAfterMs: removedRetryMs, reasons: {} }));
  }
}

function isSameProvider(first: ProviderEntry | undefined, second: ProviderEntry | undefined): boolean {
  return first?.connector === second?.connector && first?.baseUrl === second?.baseUrl &&
    first?.apiKeys.join("\n") === second?.apiKeys.join("\n") &&
    JSON.stringify(first?.tokens) === JSON.stringify(second?.tokens);
}

/** Reasons that depend on configured limits. */
const limitReasons: ReadonlySet<StandbyReason> = new Set([
  "request_limit",
  "token_limit",
  "budget_limit",
  "quota_window",
  "provider_budget",
]);

function isForBudget({ standby }: SavedBreaker): boolean {
  return standby?.reason === "budget_limit" || standby?.reason === "provider_budget";
}

function hasOtherBudget(breaker: SavedBreaker, { before, next }: { before: Settings; next: Settings }): boolean {
  const [first, second] = [findBudgetSettings(breaker, before), findBudgetSettings(breaker, next)];
  return first.some((budget, index) => describeLimits(budget) !== describeLimits(second[index]));
}

function describeLimits(budget: BudgetSettings = []): string {
  return budget.map(({ id, limitNanoUsd }) => `${id} ${limitNanoUsd}`).sort().join();
}

/** The budgets that may have caused a standby. */
function findBudgetSettings(
  { pool = "", provider }: SavedBreaker,
  settings: Settings,
): readonly (BudgetSettings | undefined)[] {
  const { budget, providers, pools, defaultBudget } = settings;
  return [budget, providers.get(provider)?.budget, pools.has(pool) ? pools.get(pool)!.budget : defaultBudget];
}
