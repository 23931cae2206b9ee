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
 * @param bindings Variables that an edge runtime passes with a request.
 * @throws {MeshError} `unsupported_runtime` if Node is too old.
 */
export function serverRuntime(bindings?: object): Runtime {
  if (isDeno()) return denoRuntime();
  return nodeProcess() === undefined || closesSockets() ? plainRuntime(bindings) : nodeRuntime();
}

/** Whether sockets end with the request that has opened them, which only a runtime with this global does (workerd). */
function closesSockets(): boolean {
  return "WebSocketPair" in globalThis;
}

/** The port of a runtime that has `fetch` and timers only, as a page has; its variables are bindings, or Node's. */
function plainRuntime(bindings?: object): Runtime {
  const send = sendOnDemand(async () => (await import("./browser.ts")).browserRuntime().send);
  const { process } = globalThis as { readonly process?: { readonly env?: object } };
  const env = (name: string) => readVariable(bindings, name) ?? readVariable(process?.env, name);
  return { clock: systemClock(), random: Math.random, send, env };
}

function readVariable(variables: object | undefined, name: string): string | undefined {
  const value: unknown = variables && Reflect.get(variables, name);
  return typeof value === "string" ? value : undefined;
}

/** The upstream client over a `fetch` that the program supplies. */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  return sendOnDemand(async () => (await import("./_fetch_send.ts")).sendOver(fetcher));
}
