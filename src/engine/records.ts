/**
 * Records that the engine itself emits.
 * @module
 */
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Hub } from "../observe/hub.ts";
import type { Transition } from "../state/breaker/circuit_breaker.ts";

/** Returns a sink that calls a function with every event and routing record. */
export function listener(on: (record: MeshEvent | RoutingRecord) => void): Observability {
  return { emit: on, trace: () => {}, flush: () => Promise.resolve() };
}

/** Converts a transition between active and standby to an event. */
export function toTransitionEvent({ owner, to, reason, standbyMs, metadata }: Transition): Parameters<Hub["event"]>[0] {
  return {
    event: to === "standby" ? "deactivation" : "recovery",
    ...owner,
    from: to === "standby" ? "active" : "standby",
    to,
    reason,
    metadata: { ...(standbyMs === undefined ? {} : { standby_ms: Math.round(standbyMs) }), ...metadata },
  };
}
