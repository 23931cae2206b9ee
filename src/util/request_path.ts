/**
 * The URL of a request, and its path, as received. `new URL` resolves dot segments and turns `\` into `/`, which a reverse proxy with
 * rules for paths may not do: such targets are ambiguous.
 * @module
 */

/** Scheme and authority. */
const origin = /^[a-z][a-z\d+.-]*:\/\/[^/?#\\]*/i;

/** Characters that no valid URL contains; `new URL` replaces or drops them. */
// deno-lint-ignore no-control-regex -- control characters are what it looks for
const invalidCharacter = /[\\#\x00-\x20\x7f]/;

/** The same characters in a path, percent-encoded. */
const encodedCharacter = /%(?:[01][\da-f]|23|5c|7f)/i;

/** `.` or `..` between slashes, each possibly percent-encoded. */
const dotSegment = /(?:^|\/|%2f)(?:\.|%2e){1,2}(?:$|\/|%2f)/i;

/**
 * Returns what follows the host of an absolute URL, without changing it; undefined if it is not absolute.
 *
 * @param url The URL of a request.
 */
export function readTarget(url: string): string | undefined {
  const [start] = origin.exec(url) ?? [];
  return start === undefined ? undefined : url.slice(start.length);
}

/**
 * Returns the path of an absolute URL without changing it.
 *
 * @param url The URL of a request.
 */
export function readPath(url: string): string {
  const target = readTarget(url) ?? url;
  const end = target.search(/[?#]/);
  return (end < 0 ? target : target.slice(0, end)) || "/";
}

/**
 * Returns the query of a URL, with its question mark; empty if it has none. Unlike `new URL`, it does not require a
 * valid host: the target of a request is the client's.
 *
 * @param url The URL of a request.
 */
export function readSearch(url: string): string {
  const start = url.indexOf("?");
  return start < 0 ? "" : url.slice(start);
}

/** The latest URL that was read: most requests have the same one. */
let latest = { url: "", path: "/", isAmbiguous: false };

/**
 * Reads the path of an absolute URL without changing it, and whether parsers of URLs may disagree about it: it has dot
 * segments, or an encoded backslash, `#` or control character; or the URL contains such a character as it is.
 *
 * @param url The URL of a request.
 */
export function readUrl(url: string): { readonly path: string; readonly isAmbiguous: boolean } {
  if (url !== latest.url) {
    const path = readPath(url);
    const isAmbiguous = invalidCharacter.test(url) ||
      /[.%]/.test(path) && (encodedCharacter.test(path) || dotSegment.test(path));
    latest = { url, path, isAmbiguous };
  }
  return latest;
}

/** Host of the last valid URL. Most requests have the same one and a plain path, and need no parsing. */
let latestHost: string | undefined;

/** The last plain target at this host, with its URL. */
let latestPlain: { readonly target: string | undefined; readonly url: string } = { target: undefined, url: "" };

/**
 * Returns the absolute URL of a request, with the path as received. An invalid host is replaced, but remains in its
 * header for the handler to reject.
 *
 * @param target Path and query, or an absolute URL.
 * @param host Value of the `host` header.
 */
export function requestUrl(target = "/", host = "localhost"): string {
  if (host === latestHost) {
    if (target === latestPlain.target) return latestPlain.url;
    if (/^\/[\w/-]*$/.test(target)) {
      latestPlain = { target, url: `http://${host}${target}` };
      return latestPlain.url;
    }
  }
  const received = readTarget(target) ?? target;
  const path = received.startsWith("/") ? received : `/${received}`;
  const url = `http://${host}${path}`;
  // credentials are not part of a host, and `Request` rejects them
  if (!URL.canParse(url) || host.includes("@")) return `http://localhost${path}`;
  latestHost = host;
  latestPlain = { target: undefined, url: "" };
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

/** Percent-decodes a path segment. A malformed segment is returned as it is. */
export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
