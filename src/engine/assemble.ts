/**
 * Makes registry and state from settings, before and after providers have been opened. Imported when an engine starts.
 * @module
 */
import { buildRegistry } from "../registry/build.ts";
import { MeshState } from "../state/model/mesh_state.ts";
import type { Assembly, AssemblyContext, AssemblyPlan, Known } from "./assembly.ts";
import type { Hub } from "../observe/hub.ts";
import type { BudgetStep } from "../state/limits/budget.ts";
import type { Replication } from "../state/counters/shared_counters.ts";
import { describeSpan } from "../util/windows.ts";
import { followWork } from "../util/failure.ts";

/**
 * Makes registry and state. Sends nothing.
 *
 * @param plan Settings and pools.
 * @param context Dependencies.
 * @param reused What providers report about their models.
 */
export function assemble({ settings, addPools }: AssemblyPlan, context: AssemblyContext, reused: Known = {}): Assembly {
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
      const findClientName = (id: string) => state.budgetScopes.get(id)?.name;
      reportBudgets(steps, {
        provider,
        hub,
        replication: state.sharedCounters.replication,
        findClientName: findClientName,
      });
    },
    before: context.stateBefore(settings),
  });
  const registry = buildRegistry({ settings, catalogue, state, runtime, ...reused });
  addPools(registry);
  return { settings, state, registry, addPools, deps: { registry, state, runtime, hub, redact } };
}

interface BudgetReportParts {
  /** The provider whose call did it. */
  readonly provider: string;
  readonly hub: Hub;
  /** There where other processes spend the same money: the first one that sees a step reports it. */
  readonly replication: Replication | undefined;
  /** Returns the name of the client of a budget, unless it is in the budget's id. */
  readonly findClientName: (id: string) => string | undefined;
}

/** Reports the steps that budgets have reached. */
function reportBudgets(steps: readonly BudgetStep[], parts: BudgetReportParts): void {
  const { replication } = parts;
  for (const step of steps) {
    if (replication === undefined) reportBudget(step, parts);
    else {
      const { name, expiresAt } = step.claim;
      const reported = replication.acquireOnce(name, expiresAt).then((isFirst) => {
        if (isFirst) reportBudget(step, parts);
      });
      followWork(reported, { hub: parts.hub, component: "budget", task: "The report of a budget" });
    }
  }
}

/** Emits the event of a budget that has reached one of its steps, and a trace. */
function reportBudget(
  { id, window, timezone, step, spent, limit, end }: BudgetStep,
  { provider, hub, findClientName: nameOf }: BudgetReportParts,
): void {
  const [scope = id] = id.split(" ", 1);
  const owner = id.slice(scope.length + 1);
  const client = nameOf(id);
  const amounts = { spent: spent / 1e9, limit: limit / 1e9, window_end: new Date(end).toISOString() };
  const span = { window, ...(timezone !== undefined && { timezone }) };
  const metadata = { scope, id: owner, ...(client !== undefined && { name: client }), step, ...span, ...amounts };
  hub.event({ event: "budget", ...(scope === "pool" && { pool: owner }), provider, reason: "alert_at", metadata });
  const scopeLabel = scope === "all" ? "of all" : `of the ${scope} "${client ?? owner}"`;
  const message = `The budget ${scopeLabel} has spent ${Math.round(step * 100)} % of its limit of ${
    describeSpan(span)
  }`;
  hub.trace({ severity: step < 1 ? "info" : "warning", component: "mesh", message });
}
