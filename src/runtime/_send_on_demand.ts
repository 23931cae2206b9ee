/**
 * An upstream client that is imported with the first request: a program may send none, and a page has another.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";

/** Sends a request. */
type Send = Runtime["send"];

/**
 * Returns the client.
 *
 * @param load Imports it.
 */
export function sendOnDemand(load: () => Promise<Send>): Send {
  let send: Send | undefined;
  return (request) => send === undefined ? load().then((loaded) => (send = loaded)(request)) : send(request);
}
