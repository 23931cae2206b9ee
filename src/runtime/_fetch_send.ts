/**
 * The upstream client over a `fetch` that a program on a server supplies.
 * @module
 */
import type { Runtime, UpstreamRequest } from "../contracts/runtime.ts";
import { isIncoming } from "../util/bytes.ts";
import { readableFrom } from "../util/readable_from.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { withUserAgent } from "./_user_agent.ts";

/** Creates the client. */
export function sendOver(fetcher: typeof fetch): Runtime["send"] {
  const toFetchBody = (body: NonNullable<UpstreamRequest["body"]>) =>
    (isIncoming(body) ? readableFrom(body) : Array.isArray(body) ? new Blob(body) : body) as BodyInit;
  return withUserAgent(fetchSender(classifyFetchFault, { fetcher, bodyOf: toFetchBody }));
}
