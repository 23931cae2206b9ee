/**
 * Vendors' APIs in small, on loopback: strict about who asks and how, and with a state that lasts as long as they run.
 * @module
 */
import { serverShell } from "../../../src/runtime/server_shell.ts";

/** A simulated vendor that runs. */
export interface SimulatedVendor extends AsyncDisposable {
  /** Its address, without a slash at its end. */
  readonly url: string;
  /** Method and path of every request, oldest first. */
  readonly requests: readonly string[];
  /** From now on every request gets this answer; undefined: its own again. */
  answer(response: (() => Response) | undefined): void;
}

/** A request, its body read. */
export interface VendorRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly text: string;
  /** The body as a JSON object. */
  json(): Record<string, unknown>;
}

/**
 * Starts one.
 *
 * @param handle Answers.
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
    answer: (response) => instead = response,
    [Symbol.asyncDispose]: () => server.stop(0),
  };
}

/**
 * The n-th page of a list, two to a page, so that one is never enough.
 *
 * @param items All of them.
 * @param token As the page before gave it out.
 */
export function page<Item>(items: readonly Item[], token: unknown): { items: readonly Item[]; next?: string } {
  const from = token === undefined || token === null ? 0 : Number(token);
  const next = from + 2;
  return { items: items.slice(from, next), ...(next < items.length ? { next: String(next) } : {}) };
}
