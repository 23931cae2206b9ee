/**
 * The URL of a request that a server receives.
 * @module
 */
import { readTarget } from "../util/request_path.ts";

/** Host of the last valid URL. Most requests have the same one and a plain path, and need no parsing. */
let latestHost: string | undefined;

/**
 * Returns the absolute URL of a request, with the path as received. An invalid host is replaced, but remains in its
 * header for the handler to reject.
 *
 * @param target Path and query, or an absolute URL.
 * @param host Value of the `host` header.
 */
export function requestUrl(target: string, host = "localhost"): string {
  if (host === latestHost && /^\/[\w/-]*$/.test(target)) return `http://${host}${target}`;
  const received = readTarget(target) ?? target;
  const path = received.startsWith("/") ? received : `/${received}`;
  const url = `http://${host}${path}`;
  // credentials are not part of a host, and `Request` rejects them
  if (!URL.canParse(url) || host.includes("@")) return `http://localhost${path}`;
  latestHost = host;
  return url;
}

/**
 * Creates a request whose URL is as received: `Request` would resolve dot segments and turn `\` into `/`.
 *
 * @param url Absolute URL.
 */
export function createRequest(url: string, init: RequestInit): Request {
  const request = new Request(url, init);
  return request.url === url ? request : Object.defineProperty(request, "url", { configurable: true, value: url });
}
