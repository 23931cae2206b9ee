/**
 * The port to the outside in browsers: `fetch`, timers, no environment, no files.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { fetchSender } from "./_fetch.ts";
import { systemClock } from "./_timers.ts";

/** A page is told no more than that: a refused connection, no network, or an answer without CORS headers. */
const blocked = {
  message: "The request did not get through: no network, nobody listening, or no CORS headers for this page's origin",
  neverSent: false,
};

/**
 * The same over a `fetch` that the program gives.
 *
 * @param fetcher The `fetch` to use.
 */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  return fetchSender((text) => /fetch|network/i.test(text) ? blocked : undefined, fetcher);
}

/** The runtime port in browsers. */
export function browserRuntime(): Runtime {
  const send = sendWith((input, init) => fetch(input, init));
  return { clock: systemClock(), random: Math.random, send, env: () => undefined };
}
