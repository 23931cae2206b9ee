/**
 * Makes registry and state from settings, before and after providers have been opened. Imported when an engine starts.
 * @module
 */
import { buildRegistry } from "../registry/build.ts";
import { MeshState } from "../state/model/mesh_state.ts";
import type { Assembly, AssemblyContext, AssemblyPlan, Known } from "./assembly.ts";
import { reportBudgets } from "./report_budgets.ts";

/**
 * Makes registry and state. Sends nothing.
 *
 * @param plan Settings and pools.
 * @param context Dependencies.
 * @param known What providers report about their models.
 */
export function assemble({ settings, addPools }: AssemblyPlan, context: AssemblyContext, known: Known = {}): Assembly {
  const { runtime, hub, redact, catalogue, onTransition } = context;
  const state = new MeshState({
    settings,
    clock: runtime.clock,
    onTransition,
    onPolicyFailure: (pool) => {
      const message = `The rotation policy of the pool "${pool}" failed`;
      hub.trace({ severity: "error", component: "pool", message });
    },
    onBudgetSteps: (steps, provider) => {
      const findClientName = (id: string) => state.budgetScopes.find((scope) => scope.id === id)?.name;
      reportBudgets(steps, {
        provider,
        hub,
        replication: state.sharedCounters.replication,
        findClientName: findClientName,
      });
    },
    before: context.stateBefore(settings),
  });
  const registry = buildRegistry({ settings, catalogue, state, runtime, ...known });
  addPools(registry);
  return { settings, state, registry, addPools, deps: { registry, runtime, hub, redact } };
}
