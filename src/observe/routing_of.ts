/**
 * The routing decision of an answer, kept beside it so that the answer stays as its provider wrote it.
 * @module
 */
import type { RoutingRecord } from "../contracts/events.ts";

const records = new WeakMap<object, RoutingRecord>();

/**
 * Why an answer came from where it came from.
 *
 * @param response A response or stream that a client of this package returned, or an error it threw.
 * @returns The routing decision record; undefined for anything else, and for what failed before routing.
 *
 * @example
 * ```ts ignore
 * const answer = await client.chat.completions.create({ messages });
 * console.log(routingOf(answer)?.model);
 * ```
 */
export function routingOf(response: object): RoutingRecord | undefined {
  return records.get(response);
}

/**
 * Remembers an answer's record.
 *
 * @param response The answer.
 * @param record Its record.
 */
export function rememberRouting(response: object, record: RoutingRecord): void {
  records.set(response, record);
}
