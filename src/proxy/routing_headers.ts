/**
 * Response headers about the routing of a request.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { TokenCount } from "../pipeline/count_tokens.ts";
import { formatUsd } from "../util/cost.ts";

const maxNames = 32;
const maxNameLength = 64;

/** Adds the `x-mesh-*` headers to a response. */
export function addRoutingHeaders(headers: Record<string, string>, facts: {
  readonly routing: RoutingRecord;
  /** Parameters that the model does not support. */
  readonly dropped?: readonly string[];
  readonly costNanoUsd?: number;
  /** Whether the response is from the cache; undefined if the cache was not asked. */
  readonly cacheStatus?: string;
}): void {
  const { pool, model, provider, attempts, fallback_chain, routing_latency_ms } = facts.routing;
  let fallbacks = 0;
  for (const step of fallback_chain) {
    if (step.outcome === "hedge_lost") continue; // asked besides, not left
    if (step.model !== model || (step.outcome !== "ok" && step.outcome !== "empty")) fallbacks++;
  }
  headers["x-mesh-pool"] = headerText(pool);
  headers["x-mesh-attempts"] = String(attempts);
  headers["x-mesh-fallbacks"] = String(fallbacks);
  headers["x-mesh-overhead-ms"] = routing_latency_ms.toFixed(2);
  if (model !== null) headers["x-mesh-model"] = headerText(model);
  if (provider !== null) headers["x-mesh-provider"] = headerText(provider);
  if (facts.costNanoUsd !== undefined) headers["x-mesh-cost-usd"] = formatUsd(facts.costNanoUsd);
  if (facts.cacheStatus !== undefined) headers["x-mesh-cache"] = facts.cacheStatus;
  if (facts.dropped !== undefined && facts.dropped.length > 0) {
    headers["x-mesh-dropped-params"] = namesText(facts.dropped);
  }
}

/** Adds the headers of a token count: the model that it is of, and whether it is estimated. */
export function addCountHeaders(headers: Record<string, string>, { pool, model, isEstimated }: TokenCount): void {
  headers["x-mesh-pool"] = headerText(pool);
  if (model !== undefined) {
    headers["x-mesh-model"] = headerText(model.name);
    headers["x-mesh-provider"] = headerText(model.instance.entry.id);
  }
  if (isEstimated) headers["x-mesh-estimated"] = "true";
}

/** Names sent by a client, which may be numerous and long. */
function namesText(names: readonly string[]): string {
  const shown = names.slice(0, maxNames).map((name) => {
    const isLong = name.length > maxNameLength;
    const text = (isLong ? name.slice(0, maxNameLength) : name).replace(/\p{Surrogate}/gu, "\ufffd");
    return (/^[\x21-\x2b\x2d-\x7e]+$/.test(text) ? text : encodeURIComponent(text)) + (isLong ? "..." : "");
  });
  return (names.length > maxNames ? [...shown, "..."] : shown).join(", ");
}

/** Escapes a name: configured names may contain characters that headers may not. */
function headerText(name: string): string {
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return encodeURIComponent(name);
  }
  return name;
}
