/**
 * Proof that a provider's call ends when nobody waits for its answer any more.
 * @module
 */
import { assert } from "@std/assert";
import type { ReceivedRequest } from "./upstream.ts";

/** The contract's limit, ms. */
const limitMs = 100;

/**
 * Fails unless the provider sees its connection close within 100 ms of leaving.
 *
 * @param request What the provider was asked.
 * @param leave What the client does.
 */
export async function assertCloses(request: ReceivedRequest, leave: () => unknown): Promise<void> {
  assert(!request.isClosed, "The connection was closed before the client left");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<"open">((resolve) => timer = setTimeout(() => resolve("open"), limitMs));
  leave();
  const end = await Promise.race([request.closed, limit]);
  clearTimeout(timer);
  assert(end !== "open", `The provider's connection is still open ${limitMs} ms after the client left`);
}
