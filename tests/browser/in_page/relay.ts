/**
 * A page's way to the sockets that are played for it elsewhere.
 * @module
 */
import type { RelayCall } from "../_relay.ts";

/** The relay, as the page has it; calls are done in their order. */
export function relay<Result = void>(call: RelayCall): Promise<Result> {
  return (globalThis as unknown as { relay(call: RelayCall): Promise<Result> }).relay(call);
}
