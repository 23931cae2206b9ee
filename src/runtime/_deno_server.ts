/**
 * The server of Deno, `Deno.serve`. It has no time limit for heads, and reports a client that leaves before its response
 * has begun only if head and body arrived in one read (2.9.6).
 * @module
 */
import type { Cancel, StopSignal } from "../contracts/runtime.ts";
import type {
  Peer,
  PlainRequest,
  PlainResponse,
  RequestHandler,
  RunningServer,
  ServeOptions,
} from "../contracts/shell.ts";
import { encodePooled } from "../util/bytes.ts";
import { once } from "../util/once.ts";
import { isSocketRequest } from "../util/request_id.ts";
import { toResponse } from "../util/to_response.ts";
import type { DenoUpgrade } from "./_deno_upgrade.ts";
import { listenError } from "./_listen_error.ts";
import { OpenResponses, type PlainCall } from "./_open_responses.ts";
import { copyHeaders, type ReadHeaders } from "./_read_headers.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";

/** Time for the last responses after the grace period, ms. */
const lastWaitMs = 1_000;

/** Delay before a server that has failed is started again, ms. */
const restartMs = 100;

/**
 * Starts a server.
 *
 * @throws {MeshError} `port_in_use`, `port_not_permitted` or `cannot_listen`.
 */
export function serveOnDeno(handler: RequestHandler, { host, port, onListen }: ServeOptions): RunningServer {
  const open = new OpenResponses(handler);
  const respond = createResponder(handler, open);
  const listen = (port: number): Deno.HttpServer<Deno.NetAddr> =>
    Deno.serve({
      hostname: host,
      port,
      automaticCompression: false, // it would hold back the events of a stream
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }), // Deno would print the error
    }, respond);
  let server: RestartedServer;
  try {
    server = new RestartedServer(listen, port);
  } catch (error) {
    throw listenError(error, `${host}:${port}`);
  }
  onListen?.({ host, port: server.port });
  return { port: server.port, listener: "deno", stop: createStop(server, open) };
}

/**
 * Returns a handler as one for `Deno.serve`. It looks for the disconnect of a client only while that may matter.
 *
 * @param open Tracks its responses.
 */
export function createResponder(
  handler: RequestHandler,
  open: OpenResponses = new OpenResponses(handler),
): Deno.ServeHandler<Deno.NetAddr> {
  const { plain } = handler;
  if (plain === undefined) return (request) => open.respond(request);
  return (request, info) => {
    if (request.method === "GET" && isSocketRequest(request)) return respondToUpgrade(plain, open, { request, info });
    return open.respondPlain(plain, new DenoCall(request, info));
  };
}

/** Responds to a request that asks for a WebSocket. */
async function respondToUpgrade(
  plain: NonNullable<RequestHandler["plain"]>,
  open: OpenResponses,
  { request, info }: { readonly request: Request; readonly info: Deno.ServeHandlerInfo<Deno.NetAddr> },
): Promise<Response> {
  const { DenoUpgrade } = await import("./_deno_upgrade.ts");
  const upgrade = new DenoUpgrade(request, info, open.sockets);
  return await open.respondPlain(plain, new DenoCall(request, info, upgrade));
}

/**
 * A request, and what the server knows of its connection. Its head has been read from the runtime once: every access to a
 * `Request` is an operation, or a check.
 */
class DenoCall implements PlainCall<Response> {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadHeaders;
  readonly signal: Stop = new Stop();
  readonly peer: Peer;
  readonly upgrade?: NonNullable<PlainRequest["upgrade"]>;
  readonly #request: Request;
  readonly #info: Deno.ServeHandlerInfo<Deno.NetAddr>;
  readonly #upgrade: DenoUpgrade | undefined;

  constructor(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>, upgrade?: DenoUpgrade) {
    this.#request = request;
    this.#info = info;
    this.#upgrade = upgrade;
    if (upgrade !== undefined) this.upgrade = upgrade.upgrade;
    this.method = request.method;
    this.url = request.url;
    this.headers = copyHeaders(request.headers);
    this.peer = upgrade?.peer ?? (() => info.remoteAddr.hostname);
  }

  get body(): AsyncIterable<Uint8Array> | null {
    return this.#request.body;
  }

  bytes(): Promise<Uint8Array> {
    return this.#request.bytes();
  }

  left(): StopSignal {
    return this.#request.signal;
  }

  untilOver(): Promise<unknown> {
    return this.#info.completed;
  }

  toSent(response: PlainResponse): Response {
    return this.#upgrade?.response ?? toResponse(response, encodePooled);
  }
}

/** `Deno.serve` (2.9.6) ends when it cannot accept a connection, such as for lack of descriptors: it is started again. */
class RestartedServer {
  readonly port: number;
  readonly #listen: (port: number) => Deno.HttpServer<Deno.NetAddr>;
  #server: Deno.HttpServer<Deno.NetAddr>;
  #isStopping = false;
  #isDown = false;
  #cancelRestart: Cancel = () => {};

  constructor(listen: (port: number) => Deno.HttpServer<Deno.NetAddr>, port: number) {
    this.#listen = listen;
    this.#server = listen(port);
    this.port = this.#server.addr.port;
    this.#keepUp();
  }

  shutdown(): Promise<void> {
    this.#isStopping = true;
    this.#cancelRestart();
    return this.#isDown ? Promise.resolve() : this.#server.shutdown();
  }

  #keepUp(): void {
    this.#server.finished.catch(() => this.#restartLater());
  }

  #restartLater(): void {
    this.#isDown = true;
    if (this.#isStopping) return;
    this.#cancelRestart = callAfter(restartMs, () => {
      try {
        this.#server = this.#listen(this.port);
        this.#isDown = false;
        this.#keepUp();
      } catch {
        this.#restartLater(); // still no descriptors
      }
    });
  }
}

/**
 * `shutdown` ends no response, and aborting the server's signal after it throws, so open responses are ended here. It
 * closes WebSockets at once, so it waits for theirs; until then, the handler rejects requests.
 */
function createStop(server: RestartedServer, open: OpenResponses): (graceMs: number) => Promise<void> {
  const shutDown = once(() => server.shutdown());
  let closed: Promise<void> | undefined;
  return async (graceMs) => {
    const socketsClosed = open.sockets.stop();
    closed ??= socketsClosed === undefined ? shutDown() : socketsClosed.then(shutDown);
    const cancel = callAfter(graceMs, () => {
      open.endAll();
      shutDown().catch(() => {}); // reported by `closed`
    });
    let cancelLast: Cancel = () => {};
    // a client that does not read must not block the stop
    const atLast = new Promise<void>((resolve) => cancelLast = callAfter(graceMs + lastWaitMs, resolve));
    await Promise.race([closed, atLast]);
    cancel();
    cancelLast();
    open.close();
  };
}
