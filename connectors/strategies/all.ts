/**
 * All strategies, each imported when a configuration names it.
 * @module
 */
import type { Connector, LazyConnector } from "../../src/contracts/connector.ts";

/** All strategies. */
export function allStrategies(): readonly LazyConnector<"strategy">[] {
  return [
    lazy(
      "mesh.stick-until-failure.v1",
      async () => (await import("./stick_until_failure.ts")).stickUntilFailure,
    ),
    lazy("mesh.round-robin.v1", async () => (await import("./round_robin.ts")).roundRobin),
    lazy("mesh.cost-first.v1", async () => (await import("./cost_first.ts")).costFirst),
    lazy("mesh.latency-first.v1", async () => (await import("./latency_first.ts")).latencyFirst),
    lazy(
      "mesh.priority-selection.v1",
      async () => (await import("./priority_selection.ts")).prioritySelection,
    ),
    lazy("mesh.rate-limit-aware.v1", async () => (await import("./rate_limit_aware.ts")).rateLimitAware),
    lazy("mesh.load-balanced.v1", async () => (await import("./load_balanced.ts")).loadBalanced),
    lazy(
      "mesh.session-stickiness.v1",
      async () => (await import("./session_stickiness.ts")).sessionStickiness,
    ),
  ];
}

function lazy(id: string, load: () => Promise<Connector<"strategy">>): LazyConnector<"strategy"> {
  return { kind: "strategy", id, load };
}
