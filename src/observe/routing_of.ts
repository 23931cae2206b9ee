/**
 * Associates responses with routing records, so that responses are left as the provider sent them.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";

const records = new WeakMap<object, RoutingRecord>();

/**
 * Returns the routing record of a response: which models were tried, and which one served it.
 *
 * @param response A response or stream that a client of this package returned, or an error that it threw.
 * @returns Undefined for any other object, and for a request that failed before routing.
 *
 * @example
 * ```ts
 * import { create, routingOf } from "@modelmesh/core";
 *
 * const client = create("chat-completion");
 * const response = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
 * console.log(routingOf(response)?.model);
 * ```
 */
export function routingOf(response: object): RoutingRecord | undefined {
  return records.get(response);
}

/** Stores the record that {@linkcode routingOf} returns. */
export function rememberRouting(response: object, record: RoutingRecord): void {
  records.set(response, record);
}
