/**
 * The port to the outside on Deno.
 * @module
 */
import type { FileSystem, Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { replaceText } from "./_replace_text.ts";
import { systemClock, type Timer } from "./_timers.ts";

/**
 * The upstream client: Deno's `fetch`, redirects not followed. It cannot tell the phase of connecting from the wait
 * for an answer, so `connectTimeoutMs` has no effect.
 */
export const send: (request: UpstreamRequest) => Promise<UpstreamResponse> = fetchSender(
  classifyFetchFault,
  fetch,
  // texts and bytes Deno sends again by itself when a pooled connection dies, although the provider may have read them
  (body) => new Blob([body as BlobPart]),
);

const files: FileSystem = {
  readText: (path) => Deno.readTextFile(path),
  writeText: (path, text, options = {}) => Deno.writeTextFile(path, text, { createNew: options.createNew ?? false }),
  replaceText,
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
