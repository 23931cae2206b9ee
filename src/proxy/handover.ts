/**
 * What a mesh under another configuration takes up of the one before it.
 * @module
 */
import type { BudgetSettings, ProviderEntry, Settings } from "../config/settings.ts";
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Mesh } from "../mesh.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";
import type { MeshSnapshot, SavedBreaker } from "../state/persistence/snapshot.ts";

/**
 * The states of a mesh as far as they still hold: what is known of a provider by another key or at another address says
 * nothing, and where more money may be spent nobody rests for that which is spent. What was set aside by hand, by the
 * calendar or by probes stays so.
 *
 * @param before Whose states they are.
 * @param next The configuration they are taken up under.
 */
export function statesFor(before: Mesh, next: Settings): MeshSnapshot {
  const { settings, state, runtime: { clock } } = before;
  const snapshot = new SnapshotMapper(state, clock).snapshot();
  const isSame = (id: string) => isSameProvider(settings.providers.get(id), next.providers.get(id));
  return {
    ...snapshot,
    breakers: snapshot.breakers.filter((rest) =>
      rest.cause !== undefined || isSame(rest.provider) && !(isForMoney(rest) && hasOtherMoney(rest, settings, next))
    ),
    failures: snapshot.failures.filter(({ provider }) => isSame(provider)),
  };
}

/**
 * Hands over what a request under way finds out: a fact about a provider that is the same, and that something was used up,
 * which the next mesh judges by its own limits.
 *
 * @param transition What the request found out.
 * @param before The mesh it was sent by.
 * @param next The one that has taken over.
 */
export function handOver(transition: Transition, before: Mesh, next: Mesh): void {
  const { owner, reason } = transition;
  const now = next.runtime.clock.monotonic();
  const [one, other] = [before, next].map(({ settings }) => settings.providers.get(owner.provider));
  if (usedUp.has(reason)) next.state.review(owner, now);
  else if (isSameProvider(one, other)) next.state.follow(transition, now);
}

function isSameProvider(one: ProviderEntry | undefined, other: ProviderEntry | undefined): boolean {
  return one?.connector === other?.connector && one?.baseUrl === other?.baseUrl &&
    one?.apiKeys.join("\n") === other?.apiKeys.join("\n") &&
    JSON.stringify(one?.tokens) === JSON.stringify(other?.tokens);
}

/** Reasons of which a configuration says what they are. */
const usedUp: ReadonlySet<StandbyReason> = new Set([
  "request_limit",
  "token_limit",
  "budget_limit",
  "quota_window",
  "provider_budget",
]);

function isForMoney({ standby }: SavedBreaker): boolean {
  return standby?.reason === "budget_limit" || standby?.reason === "provider_budget";
}

function hasOtherMoney(rest: SavedBreaker, before: Settings, next: Settings): boolean {
  const [one, other] = [budgetsOf(rest, before), budgetsOf(rest, next)];
  return one.some((budget, place) =>
    budget?.dailyNano !== other[place]?.dailyNano || budget?.monthlyNano !== other[place]?.monthlyNano
  );
}

/** All that a rest may be for. */
function budgetsOf({ pool = "", provider }: SavedBreaker, settings: Settings): readonly (BudgetSettings | undefined)[] {
  const { budget, providers, pools, defaultBudget } = settings;
  return [budget, providers.get(provider)?.budget, pools.has(pool) ? pools.get(pool)!.budget : defaultBudget];
}
