/**
 * The runtime port for browsers: `fetch` and timers, without environment and files.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import { fetchSender } from "./_fetch.ts";
import { systemClock } from "./_timers.ts";

/** What a page knows about a failed request, for which browsers report no reason. */
interface PageFacts {
  /** Whether the browser is certainly offline. */
  readonly isOffline: boolean;
  /** The origin of the page; undefined in workers. */
  readonly page?: string;
}

/**
 * Explains why a request has failed, and what to do.
 *
 * @example
 * ```ts
 * explainBlocked("https://api.acme.example/v1", { isOffline: true }).message; // "The browser is offline: …"
 * ```
 */
export function explainBlocked(url: string, { isOffline, page }: PageFacts): NetworkError {
  const address = parsePageUrl(url, page);
  const isMixed = page?.startsWith("https:") && address?.protocol === "http:";
  const message = address === undefined
    ? "The provider's address is not a URL: check baseUrl, proxyUrl and what _getCompletionEndpoint returns"
    : isOffline
    ? "The browser is offline: try again later"
    : isMixed
    ? "A page that came over https may not call an http address, but this machine's own"
    : "The request did not get through: no network, no server listening there, no CORS headers for this page's origin, " +
      "or its Content-Security-Policy. Go through a proxy (proxyUrl); a ModelMesh proxy allows origins by proxy.cors.origins";
  return new NetworkError(message, { neverSent: address === undefined });
}

/** Creates an upstream client over a `fetch` that the program supplies. */
export function sendWith(fetcher: typeof fetch): Runtime["send"] {
  const send = fetchSender(() => undefined, { fetcher });
  return async (request) => {
    try {
      return await send({ ...request, headers: { ...request.headers } }); // a program may modify its own
    } catch (error) {
      throw NetworkError.isInstance(error) ? explainBlocked(request.url, pageFacts()) : error;
    }
  };
}

export function browserRuntime(): Runtime {
  const send = sendWith((input, init) => fetch(input, init));
  return { clock: systemClock(), random: Math.random, send, env: () => undefined };
}

function pageFacts(): PageFacts {
  const { navigator, location } = globalThis as {
    readonly navigator?: { readonly onLine?: boolean };
    readonly location?: { readonly href: string };
  };
  return { isOffline: navigator?.onLine === false, page: location?.href };
}

function parsePageUrl(url: string, page: string | undefined): URL | undefined {
  try {
    return new URL(url, page);
  } catch {
    return undefined;
  }
}
