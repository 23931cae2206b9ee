/**
 * The port to the outside on Node.
 * @module
 */
import type { FileSystem, Runtime } from "../contracts/runtime.ts";
import { fetchSender, type NetworkFault } from "./_fetch.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { send } from "./_node_client.ts";
import { systemClock } from "./_timers.ts";

/** The texts of Node's `fetch` and of its causes, the first that fits counts. */
const faults: readonly (readonly [text: RegExp, message: string, neverSent: boolean])[] = [
  [/ENOTFOUND|EAI_/, "Cannot find the provider's host: its name does not resolve", true],
  [/ECONNREFUSED/, "Cannot connect to the provider: refused", true],
  [/EHOSTUNREACH|ENETUNREACH|connect ETIMEDOUT|Connect Timeout/, "Cannot connect to the provider: unreachable", true],
  [
    /certificate|before secure TLS|SSL routines|wrong version number/i,
    "Cannot connect to the provider: no secure connection (TLS) came about",
    true,
  ],
  [
    /^(Failed to parse URL|Invalid URL|Headers\.|Cannot convert argument)|unknown scheme|bad port/i,
    "Cannot make the request: bad address or header",
    true,
  ],
];

function classify(text: string): NetworkFault | undefined {
  const fault = faults.find(([pattern]) => pattern.test(text));
  return fault && { message: fault[1], neverSent: fault[2] };
}

/**
 * The upstream client over a `fetch` that the program gives.
 *
 * @param fetcher The `fetch` to use.
 */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  return fetchSender(classify, fetcher);
}

const files: FileSystem = {
  readText: (path) => builtin("node:fs").promises.readFile(path, "utf8"),
  writeText: (path, text, options = {}) =>
    builtin("node:fs").promises.writeFile(path, text, { flag: options.createNew ? "wx" : "w" }),
};

/** The runtime port on Node. */
export function nodeRuntime(): Runtime {
  builtin("node:fs"); // says at once that this Node is too old, if it is
  return {
    clock: systemClock((timer: unknown) => void (timer as { unref(): unknown }).unref()),
    random: Math.random,
    files,
    send,
    env: (name) => nodeProcess()?.env[name],
  };
}
