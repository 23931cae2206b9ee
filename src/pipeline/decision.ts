/**
 * The routing decision record.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";
import type { ServedBy } from "../contracts/provider.ts";
import type { Member } from "../registry/registry.ts";
import type { RouteDeps } from "./request.ts";
import type { RotatePlan } from "./rotate.ts";
import type { RequestContext } from "./request_context.ts";

/** Who answered. */
export interface Served {
  readonly member: Member;
  /** The one behind it, where it is a proxy. */
  readonly by?: ServedBy | undefined;
}

/**
 * Writes down why a request went where it went.
 *
 * @param plan What was asked, of which pool.
 * @param context Where it has been.
 * @param deps For the time.
 * @param served Who answered; undefined when nobody did.
 */
export function recordOf<T>(
  { request, pool }: RotatePlan<T>,
  context: RequestContext,
  { hub, runtime }: RouteDeps,
  served?: Served,
): RoutingRecord {
  const last = context.chain.at(-1);
  const { member, by } = served ?? {};
  const left = member && context.chain.findLast(({ model }) => model !== member.model.name);
  return {
    type: "routing",
    timestamp: hub.timestamp(),
    request_id: request.id,
    capability: pool.capability,
    pool: pool.name,
    model: member?.model.name ?? last?.model ?? null,
    provider: member?.model.instance.entry.id ?? last?.provider ?? null,
    delivery: request.delivery,
    fallback_chain: context.chain,
    routing_latency_ms: Math.max(0, runtime.clock.monotonic() - context.startedAt - context.awayMs),
    attempts: context.attempts,
    // at the end: what follows a spread is added to the object bit by bit
    ...(by && { served_by: by }),
    ...(left && { replaced_provider: left.provider, rotation_reason: left.outcome }),
    ...(context.possiblyBilled && { possibly_billed: true }),
    ...(request.client && { client: request.client.name }),
  };
}
