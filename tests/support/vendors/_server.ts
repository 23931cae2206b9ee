/**
 * Simulated vendor APIs on loopback, with strict authentication and in-memory state.
 * @module
 */
import { serverShell } from "../../../src/runtime/server_shell.ts";

/** A running simulated vendor. */
export interface SimulatedVendor extends AsyncDisposable {
  /** URL without a trailing slash. */
  readonly url: string;
  /** Method and path of every request, oldest first. */
  readonly requests: readonly string[];
  /** Sets the response to every request; undefined restores its own. */
  respond(response: (() => Response) | undefined): void;
}

/** A request whose body has been read. */
export interface VendorRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  /** Returns the body as a JSON object. */
  json(): Record<string, unknown>;
}

/**
 * Starts a simulated vendor.
 *
 * @param handle Handles requests.
 */
export async function startVendor(
  handle: (request: VendorRequest) => Response | Promise<Response>,
): Promise<SimulatedVendor> {
  const requests: string[] = [];
  let instead: (() => Response) | undefined;
  const server = await serverShell().serve(async (request) => {
    const text = await request.text();
    const url = new URL(request.url);
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    if (instead !== undefined) return instead();
    const { method, headers } = request;
    return await handle({ method, url, headers, text, json: () => JSON.parse(text) });
  }, { host: "127.0.0.1", port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    respond: (response) => instead = response,
    [Symbol.asyncDispose]: () => server.stop(0),
  };
}

/**
 * Returns a page of a list. Pages have two items, so that tests need several.
 *
 * @param items All items.
 * @param token Token of the previous page.
 */
export function page<Item>(items: readonly Item[], token: unknown): { items: readonly Item[]; next?: string } {
  const from = token === undefined || token === null ? 0 : Number(token);
  const next = from + 2;
  return { items: items.slice(from, next), ...(next < items.length ? { next: String(next) } : {}) };
}
