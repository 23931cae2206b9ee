/**
 * A mesh's state with everything that counts: one model at 1 000 nano-dollars a token, a budget each for its provider,
 * its pool and all, and limits of its own.
 * @module
 */
import type { BudgetSettings, ProviderEntry, RoutingSettings } from "../../src/config/settings/settings.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { MeshState } from "../../src/state/model/mesh_state.ts";
import type { ModelState } from "../../src/state/model/model_state.ts";
import type { Transition } from "../../src/state/breaker/circuit_breaker.ts";

const budget: BudgetSettings = [
  { id: "day", window: "day", limitNanoUsd: 1_000_000 },
  { id: "month", window: "month", limitNanoUsd: 10_000_000 },
];
const routing = {
  deactivation: { retryLimit: 3, errorCodes: new Set<number>(), requestLimit: 1e6, quotaWindow: "daily" },
  recovery: { cooldownMs: 60_000 },
} as unknown as RoutingSettings;
const info = { id: "a", pricing: [{ input: 1, output: 1 }] } as unknown as ModelInfo;

/**
 * Makes one.
 *
 * @param onTransition Gets every change.
 */
export function addMetered(
  clock: Clock,
  onTransition: (transition: Transition) => void,
): { state: MeshState; add: (pool: string) => ModelState } {
  const state = new MeshState({ settings: { budget }, clock, onTransition });
  const provider = { id: "one", budget, apiKeys: [] } as unknown as ProviderEntry;
  return {
    state,
    add: (pool) => state.add({ pool, name: "a", info, provider, weight: 1, routing, budget }),
  };
}
