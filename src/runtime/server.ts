/**
 * The port to the outside wherever the package runs: Deno, Node and what behaves like it, or what only has `fetch`.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { nodeProcess } from "./_node_builtin.ts";
import { browserRuntime, sendWith as sendWithInBrowser } from "./browser.ts";
import { denoRuntime, sendWith as sendWithOnDeno } from "./deno.ts";
import { nodeRuntime, sendWith as sendWithOnNode } from "./node.ts";

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

/**
 * The upstream client over a `fetch` that the program gives.
 *
 * @param fetcher The `fetch` to use.
 */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  if (isDeno()) return sendWithOnDeno(fetcher);
  return nodeProcess() === undefined ? sendWithInBrowser(fetcher) : sendWithOnNode(fetcher);
}
