/**
 * Selection strategies. Bundlers include only those that a page imports.
 * @module
 */
export { costFirst } from "../connectors/strategies/cost_first.ts";
export { latencyFirst } from "../connectors/strategies/latency_first.ts";
export { loadBalanced } from "../connectors/strategies/load_balanced.ts";
export { prioritySelection } from "../connectors/strategies/priority_selection.ts";
export { rateLimitAware } from "../connectors/strategies/rate_limit_aware.ts";
export { roundRobin } from "../connectors/strategies/round_robin.ts";
export { sessionStickiness } from "../connectors/strategies/session_stickiness.ts";
export { stickUntilFailure } from "../connectors/strategies/stick_until_failure.ts";
