/**
 * The port to the outside on Deno.
 * @module
 */
import type { FileSystem, Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { fetchSender, type NetworkFault } from "./_fetch.ts";
import { systemClock, type Timer } from "./_timers.ts";

/** The texts of Deno's `fetch`, the first that fits counts. They carry no code to go by. */
const faults: readonly (readonly [text: RegExp, message: string, neverSent: boolean])[] = [
  [/client error \(Connect\): dns error/, "Cannot find the provider's host: its name does not resolve", true],
  [/client error \(Connect\): tcp connect error: .*refused/is, "Cannot connect to the provider: refused", true],
  [/client error \(Connect\): tcp connect error/, "Cannot connect to the provider: unreachable", true],
  [/client error \(Connect\)/, "Cannot connect to the provider: no secure connection (TLS) came about", true],
  [
    /^(Invalid (URL|header)|Url scheme|Fetch failed: Requests to port|Failed to construct|Method is)/,
    "Cannot make the request: bad address or header",
    true,
  ],
  [
    /invalid HTTP|invalid content-length|invalid chunk|head is too large/i,
    "The provider answered in no valid HTTP",
    false,
  ],
  [/unexpected end of file|invalid gzip|corrupt|brotli/i, "The provider's answer cannot be decompressed", false],
];

function classify(text: string): NetworkFault | undefined {
  const fault = faults.find(([pattern]) => pattern.test(text));
  return fault && { message: fault[1], neverSent: fault[2] };
}

/**
 * The upstream client: Deno's `fetch`, redirects not followed. It cannot tell the phase of connecting from the wait
 * for an answer, so `connectTimeoutMs` has no effect.
 */
export const send: (request: UpstreamRequest) => Promise<UpstreamResponse> = fetchSender(
  classify,
  fetch,
  // texts and bytes Deno sends again by itself when a pooled connection dies, although the provider may have read them
  (body) => new Blob([body as BlobPart]),
);

/**
 * The same over a `fetch` that the program gives.
 *
 * @param fetcher The `fetch` to use.
 */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  return fetchSender(classify, fetcher);
}

const files: FileSystem = {
  readText: (path) => Deno.readTextFile(path),
  writeText: (path, text, options = {}) => Deno.writeTextFile(path, text, { createNew: options.createNew ?? false }),
};

function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined; // not allowed to look, or no possible name: to the rest of the program it is unset
  }
}

/** The runtime port on Deno. */
export function denoRuntime(): Runtime {
  return { clock: systemClock((timer: Timer) => Deno.unrefTimer(timer)), random: Math.random, files, send, env };
}
