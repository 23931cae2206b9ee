/**
 * In place of `proxy.ts` in a page: the same handler over the page's engine. It listens to no port; `fetch` leads there.
 * @module
 */
import type { RequestHandler, RunningServer } from "../../../src/contracts/shell.ts";

export { createHandler, type Handler } from "../../../src/proxy/handler.ts";

/** The page's own `fetch`. */
export const sendToNetwork: typeof fetch = globalThis.fetch.bind(globalThis);
/** Handlers by ports of their own, below those that a system gives away. */
const handlers = new Map<string, { readonly handler: RequestHandler; readonly signal: AbortSignal }>();
let [count, sent] = [0, 0];

globalThis.fetch = (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  const local = handlers.get(url.port);
  if (local !== undefined) return answered(new Request(input, init), local);
  // a browser opens six connections to a host at most: each request has a name of its own for it
  if (url.hostname === "127.0.0.1") url.hostname = `request-${++sent}.example`;
  return sendToNetwork(input instanceof Request ? new Request(url, input) : url, init);
};

/** Puts a handler where `fetch` finds it. */
export function listen(handler: RequestHandler): Promise<RunningServer> {
  const port = 1_000 + ++count;
  const stopped = new AbortController();
  handlers.set(String(port), { handler, signal: stopped.signal });
  const stop = () => {
    handlers.delete(String(port));
    stopped.abort(new TypeError("The server has stopped"));
    return Promise.resolve();
  };
  return Promise.resolve({ port, host: "127.0.0.1", stop } as unknown as RunningServer);
}

/** What a client of HTTP sees: an abort, of it or of the server, ends what it waits for and what it reads. */
async function answered(
  request: Request,
  { handler, signal: stopped }: { handler: RequestHandler; signal: AbortSignal },
): Promise<Response> {
  const signal = AbortSignal.any([request.signal, stopped]);
  const ended = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
  ended.catch(() => {}); // what has come to its end is not waited for
  const { body, status, statusText, headers } = await Promise.race([handler(new Request(request, { signal })), ended]);
  return new Response(body && readUntil(body, ended), { status, statusText, headers });
}

/** The same stream until the request has ended otherwise. */
function readUntil(body: ReadableStream<Uint8Array>, ended: Promise<never>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  ended.catch((reason) => reader.cancel(reason).catch(() => {}));
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await Promise.race([reader.read(), ended]);
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 });
}

/** A page has no port to serve on. */
export function serve(): Promise<never> {
  return Promise.reject(new Error("A page serves nothing"));
}
