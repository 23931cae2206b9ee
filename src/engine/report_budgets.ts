/**
 * Reports of the steps that budgets reach.
 * @module
 */
import type { Hub } from "../observe/hub.ts";
import type { BudgetStep } from "../state/limits/budget.ts";
import type { Replication } from "../state/counters/shared_counters.ts";
import { followWork } from "../util/failure.ts";

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
export function reportBudgets(steps: readonly BudgetStep[], parts: BudgetReportParts): void {
  const { replication } = parts;
  for (const step of steps) {
    if (replication === undefined) reportBudget(step, parts);
    else {
      const name = `budget ${step.id} ${step.window} ${step.end} ${step.step}`;
      const reported = replication.acquireOnce(name, step.end).then((isFirst) => {
        if (isFirst) reportBudget(step, parts);
      });
      followWork(reported, { hub: parts.hub, component: "budget", task: "The report of a budget" });
    }
  }
}

/** Emits the event of a budget that has reached one of its steps, and a trace. */
function reportBudget(
  { id, window, step, spent, limit, end }: BudgetStep,
  { provider, hub, findClientName: nameOf }: BudgetReportParts,
): void {
  const [scope = id] = id.split(" ", 1);
  const owner = id.slice(scope.length + 1);
  const client = nameOf(id);
  const amounts = { spent: spent / 1e9, limit: limit / 1e9, window_end: new Date(end).toISOString() };
  const metadata = { scope, id: owner, ...(client !== undefined && { name: client }), step, window, ...amounts };
  hub.event({ event: "budget", ...(scope === "pool" && { pool: owner }), provider, reason: "alert_at", metadata });
  const scopeLabel = scope === "all" ? "of all" : `of the ${scope} "${client ?? owner}"`;
  const message = `The budget ${scopeLabel} has spent ${Math.round(step * 100)} % of its limit of this ${window}`;
  hub.trace({ severity: step < 1 ? "info" : "warning", component: "mesh", message });
}
