/**
 * The runtime port of servers: Deno, Node and compatible runtimes, or those with only `fetch`.
 * @module
 */
import type { Runtime, UpstreamRequest } from "../contracts/runtime.ts";
import { isIncoming } from "../util/bytes.ts";
import { readableFrom } from "../util/readable_from.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { nodeProcess } from "./_node_builtin.ts";
import { browserRuntime } from "./browser.ts";
import { denoRuntime } from "./deno.ts";
import { nodeRuntime } from "./node.ts";
import { withUserAgent } from "./_user_agent.ts";

/** Whether this is Deno, which also has Node's `process`. */
export function isDeno(): boolean {
  return "Deno" in globalThis;
}

/**
 * Returns the runtime port of this process.
 *
 * @throws {MeshError} `unsupported_runtime` if Node is too old.
 */
export function serverRuntime(): Runtime {
  if (isDeno()) return denoRuntime();
  return nodeProcess() === undefined ? browserRuntime() : nodeRuntime();
}

/** The upstream client over a `fetch` that the program supplies. */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  const toFetchBody = (body: NonNullable<UpstreamRequest["body"]>) =>
    (isIncoming(body) ? readableFrom(body) : Array.isArray(body) ? new Blob(body) : body) as BodyInit;
  return withUserAgent(fetchSender(classifyFetchFault, fetcher, toFetchBody));
}
