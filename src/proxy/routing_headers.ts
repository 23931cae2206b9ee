/**
 * The headers that tell where a request went.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import { formatUsd } from "../util/cost.ts";

/**
 * The `x-mesh-*` headers of an answer.
 *
 * @param record Its routing decision.
 * @param extras Parameters left out, and the cost in nano-dollars.
 */
export function routingHeaders(
  record: RoutingRecord,
  extras: { dropped?: readonly string[]; costNanoUsd?: number } = {},
): Record<string, string> {
  const { pool, model, provider, attempts, fallback_chain, routing_latency_ms } = record;
  const left = fallback_chain.filter((step) => step.model !== model || !["ok", "empty"].includes(step.outcome)).length;
  const headers: Record<string, string> = {
    "x-mesh-pool": headerText(pool),
    "x-mesh-attempts": String(attempts),
    "x-mesh-fallbacks": String(left),
    "x-mesh-overhead-ms": routing_latency_ms.toFixed(2),
  };
  if (model !== null) headers["x-mesh-model"] = headerText(model);
  if (provider !== null) headers["x-mesh-provider"] = headerText(provider);
  if (extras.costNanoUsd !== undefined) headers["x-mesh-cost-usd"] = formatUsd(extras.costNanoUsd);
  if (extras.dropped !== undefined && extras.dropped.length > 0) {
    headers["x-mesh-dropped-params"] = extras.dropped.join(", ");
  }
  return headers;
}

/** A configured name may hold any character; a header may not. */
function headerText(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name);
}
