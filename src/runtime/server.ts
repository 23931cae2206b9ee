/**
 * The runtime port of servers: Deno, Node and compatible runtimes, or those with only `fetch`.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { nodeProcess } from "./_node_builtin.ts";
import { denoRuntime } from "./deno.ts";
import { nodeRuntime } from "./node.ts";
import { sendOnDemand } from "./_send_on_demand.ts";
import { systemClock } from "./_timers.ts";

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
  return nodeProcess() === undefined ? plainRuntime() : nodeRuntime();
}

/** The port of a runtime that has `fetch` and timers only, as a page has. */
function plainRuntime(): Runtime {
  const send = sendOnDemand(async () => (await import("./browser.ts")).browserRuntime().send);
  return { clock: systemClock(), random: Math.random, send, env: () => undefined };
}

/** The upstream client over a `fetch` that the program supplies. */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  return sendOnDemand(async () => (await import("./_fetch_send.ts")).sendOver(fetcher));
}
