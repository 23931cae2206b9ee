/**
 * The URL of a request that a server receives.
 * @module
 */

/** Host of the last valid URL. Most requests have the same one and a plain path, and need no parsing. */
let latestHost: string | undefined;

/**
 * Returns the absolute URL of a request. An invalid host is replaced, but remains in its header for the handler to
 * reject.
 *
 * @param target Path and query, or an absolute URL.
 * @param host Value of the `host` header.
 */
export function requestUrl(target: string, host = "localhost"): string {
  if (host === latestHost && /^\/[\w/-]*$/.test(target)) return `http://${host}${target}`;
  const path = target.startsWith("/") ? target : URL.canParse(target) ? pathAndQuery(new URL(target)) : `/${target}`;
  const whole = `http://${host}${path}`;
  // credentials are not part of a host, and `Request` rejects them
  if (!URL.canParse(whole) || host.includes("@")) return `http://localhost${path}`;
  latestHost = host;
  return whole;
}

function pathAndQuery({ pathname, search }: URL): string {
  return pathname + search;
}
