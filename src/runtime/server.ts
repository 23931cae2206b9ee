/**
 * The port to the outside wherever the package runs: Deno, Node and what behaves like it, or what only has `fetch`.
 * @module
 */
import type { Runtime, UpstreamRequest } from "../contracts/runtime.ts";
import { isIncoming } from "../util/chunks.ts";
import { readableFrom } from "../util/readable_from.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { nodeProcess } from "./_node_builtin.ts";
import { browserRuntime } from "./browser.ts";
import { denoRuntime } from "./deno.ts";
import { nodeRuntime } from "./node.ts";

/** Whether this is Deno, which has Node's `process` too. */
export function isDeno(): boolean {
  return "Deno" in globalThis;
}

/**
 * The runtime port of this process.
 *
 * @throws {MeshError} `unsupported_runtime` on a Node that is too old.
 */
export function serverRuntime(): Runtime {
  if (isDeno()) return denoRuntime();
  return nodeProcess() === undefined ? browserRuntime() : nodeRuntime();
}

/** The upstream client over a `fetch` that the program gives. */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  const bodyOf = (body: NonNullable<UpstreamRequest["body"]>) =>
    (isIncoming(body) ? readableFrom(body) : Array.isArray(body) ? new Blob(body) : body) as BodyInit;
  return fetchSender(classifyFetchFault, fetcher, bodyOf);
}
