/**
 * The `User-Agent` of requests from servers. Web pages cannot set it.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { version } from "../version.ts";

/** Product and version (RFC 9110, section 10.1.5). */
export const userAgent: string = `modelmesh/${version}`;

/** Adds the header to requests without one. */
export function withUserAgent(send: Runtime["send"]): Runtime["send"] {
  return (request) => send({ ...request, headers: { "user-agent": userAgent, ...request.headers } });
}
