/**
 * Interrupted responses.
 * @module
 */
import type { RouteDeps } from "./deps.ts";
import type { RoutedRequest } from "./request.ts";
import type { Routed } from "./routed.ts";

/** Traces that a provider failed midway. */
export function createInterrupt(
  request: RoutedRequest,
  { pool, member: { state } }: Routed<unknown>,
  { hub }: RouteDeps,
): () => void {
  return () =>
    hub.trace({
      severity: "warning",
      component: "router",
      message: "Stream interrupted midway",
      request_id: request.id,
      pool: pool.name,
      model: state.name,
      provider: state.provider,
    });
}
