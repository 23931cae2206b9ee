/**
 * The proxy as a function from request to response; a server is put around it elsewhere.
 * @module
 */
import { builtInProxy } from "../config/defaults.ts";
import type { ProxySettings } from "../config/settings.ts";
import type { PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import type { Mesh } from "../mesh.ts";
import { MeshError } from "../errors.ts";
import { routingOf } from "../observe/routing_of.ts";
import { isStream } from "../util/plain_stream.ts";
import { requestIdFrom } from "../util/request_id.ts";
import { responseOf } from "../util/response_of.ts";
import { Gate } from "./auth.ts";
import { Client } from "./client.ts";
import { errorAnswer, Refusal, waitHeaders } from "./error_body.ts";
import { Door } from "./origin.ts";
import { json } from "./json.ts";
import { type Exchange, type RouteEntry, routeOf } from "./routes.ts";
import { addRoutingHeaders } from "./routing_headers.ts";

/** Options of {@linkcode createHandler}. */
export interface HandlerOptions {
  /** Accepted tokens, beside those of the configuration. */
  readonly tokens?: readonly string[];
  /** Bind address, in place of the configuration's. */
  readonly host?: string;
  /** Whether the proxy is about to stop: `/ready` answers 503, all else is served. */
  readonly isDraining?: () => boolean;
  /** Whether it stops: new work is refused. */
  readonly isStopping?: () => boolean;
}

/** From request to response; never throws. */
export interface Handler extends RequestHandler {
  /** The same without the objects of the Fetch standard, for servers of ours. */
  readonly plain: (request: PlainRequest) => Promise<PlainResponse>;
  /**
   * Has new requests answered by another engine; those under way end where they began. What clients have sent and
   * spent goes with them.
   *
   * @param mesh The other engine, ready.
   * @returns Resolves once the one before has no request left.
   */
  readonly replace: (mesh: Mesh) => Promise<void>;
}

/**
 * Makes the proxy's handler.
 *
 * @param mesh Its engine, configured; it need not be ready yet.
 * @param options Tokens, address, draining.
 *
 * @example
 * ```ts ignore
 * import { ModelMesh } from "@modelmesh/core";
 * import { createHandler } from "@modelmesh/core/proxy";
 *
 * const mesh = new ModelMesh();
 * await mesh.initialize({ pools: { chat: { capability: "chat-completion" } } });
 * Deno.serve(createHandler(mesh));
 * ```
 */
export function createHandler(mesh: Mesh, options: HandlerOptions = {}): Handler {
  let site: Site | undefined;
  let current = mesh;
  const begin = async (request: PlainRequest, requestId: string) => {
    try {
      const early = current.isReady ? undefined : earlyAnswer(request, requestId);
      if (early !== undefined) return early;
      await current.ready();
      site ??= new Site(current, options);
      return await site.serve(request, requestId);
    } catch (error) {
      return errorResponse(current, error, requestId, {});
    }
  };
  const plain = (request: PlainRequest) => {
    const requestId = requestIdFrom(request.headers.get("x-request-id"));
    return site === undefined ? begin(request, requestId) : site.serve(request, requestId);
  };
  const replace = (next: Mesh) => {
    const before = site ??= new Site(current, options);
    site = new Site(current = next, options, before);
    return before.untilIdle();
  };
  return Object.assign(async (request: Request) => responseOf(await plain(request)), { plain, replace });
}

/** Probes are answered while secrets are still being read; everything else waits. */
function earlyAnswer({ url }: PlainRequest, requestId: string): PlainResponse | undefined {
  const headers = { "x-request-id": requestId };
  if (/^[^?#]*:\/\/[^/]*\/live$/.test(url)) return json({ status: "ok" }, headers);
  if (!/^[^?#]*:\/\/[^/]*\/ready$/.test(url)) return undefined;
  return json({ status: "starting" }, headers, 503);
}

const no = () => false;

/** One proxy: who may come in, and how many at once. */
class Site {
  readonly #mesh: Mesh;
  readonly #proxy: ProxySettings;
  readonly #gate: Gate;
  readonly #door: Door;
  readonly #isDraining: () => boolean;
  readonly #isStopping: () => boolean;
  readonly #clients: ReadonlyMap<string, Client>;
  readonly #startedAt: number;
  #inFlight = 0;
  /** Requests under way, those of sites before this one included; one count for all, so that none holds another. */
  readonly #total: { inFlight: number };
  #onIdle: (() => void) | undefined;

  constructor(mesh: Mesh, { tokens = [], host, isDraining = no, isStopping = no }: HandlerOptions, before?: Site) {
    this.#total = before === undefined ? { inFlight: 0 } : before.#total;
    this.#startedAt = before === undefined ? mesh.startedAt : before.#startedAt;
    const { proxy = builtInProxy() } = mesh.settings;
    this.#proxy = proxy;
    this.#mesh = mesh;
    const { state } = mesh;
    this.#clients = new Map(proxy.clients.flatMap((client) => {
      const { name } = client;
      if (name === undefined) return [];
      return [[name, new Client(name, client, { before: before && before.#clients.get(name), state })]];
    }));
    this.#gate = new Gate([
      ...proxy.clients.map(({ token, name = "" }) => ({ token, client: this.#clients.get(name) })),
      ...tokens.map((token) => ({ token })),
    ]);
    this.#door = new Door({
      cors: proxy.cors,
      hasToken: !this.#gate.isOpen,
      host: host ?? proxy.host,
      allowedHosts: proxy.allowedHosts,
    });
    this.#isDraining = isDraining;
    this.#isStopping = isStopping;
  }

  /** Resolves once it has no request left, when it gets no new ones. */
  untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#inFlight === 0) resolve();
    });
  }

  /** Never throws. */
  async serve(request: PlainRequest, requestId: string): Promise<PlainResponse> {
    let headers: Record<string, string> = {};
    let client: Client | undefined;
    try {
      headers = this.#door.check(request);
      headers["x-request-id"] = requestId;
      const path = pathOf(request.url);
      const entry = routeOf(path, this.#proxy.endpoints);
      const preflight = this.#door.preflight(request, entry);
      if (preflight !== undefined) return { status: 204, headers: { ...headers, ...preflight }, body: null };
      if (entry?.isPublic !== true) client = this.#gate.check(request).client;
      const arrival = { request, requestId, path, headers, client };
      const response = await this.#answer(this.#check(request, path, entry), arrival);
      return request.method === "HEAD" ? { ...response, body: null } : response;
    } catch (error) {
      const { signal } = request;
      const isStopped = signal.aborted && MeshError.isInstance(signal.reason); // the server's end, not the client's
      if (signal.aborted && !isStopped) return { status: 499, headers: {}, body: null }; // nobody is there to read it
      const told = client?.retell(error, this.#mesh.runtime.clock.now()) ?? error;
      return errorResponse(this.#mesh, isStopped ? signal.reason : told, requestId, headers);
    }
  }

  #check(request: PlainRequest, path: string, entry: RouteEntry | undefined): RouteEntry {
    if (entry === undefined) {
      throw new Refusal(`Unknown request URL: ${request.method} ${path}`, { status: 404, code: "unknown_url" });
    }
    const method = request.method === "HEAD" ? "GET" : request.method;
    if (entry.methods.includes(method)) return entry;
    const allow = entry.methods.join(", ");
    throw new Refusal(`The method ${request.method} is not allowed here: use ${allow}`, {
      status: 405,
      code: "method_not_allowed",
      headers: { allow },
    });
  }

  async #answer(entry: RouteEntry, arrival: Arrival): Promise<PlainResponse> {
    let isOver = !entry.isWork;
    const onEnd = () => {
      if (isOver) return;
      isOver = true;
      this.#total.inFlight--;
      if (--this.#inFlight === 0) this.#onIdle?.();
    };
    const exchange: Exchange = {
      ...arrival,
      mesh: this.#mesh,
      proxy: this.#proxy,
      holder: () => this.#gate.holderOf(arrival.request),
      startedAt: this.#startedAt,
      isDraining: this.#isDraining() || this.#isStopping(),
      onEnd,
    };
    if (entry.isWork) this.#admit();
    try {
      if (entry.isWork) arrival.client?.admit(this.#mesh.runtime.clock.monotonic());
      const response = await entry.handle(exchange);
      if (!isStream(response.body)) onEnd();
      return response;
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  #admit(): void {
    const refuse = (message: string, code: string) =>
      new Refusal(message, { status: 503, type: "server_error", code, headers: waitHeaders(1000, false) });
    if (this.#isStopping()) throw refuse("The proxy is shutting down", "shutting_down");
    const { maxConcurrent } = this.#proxy;
    if (this.#total.inFlight >= maxConcurrent) {
      throw refuse(`The proxy is at its limit of ${maxConcurrent} requests at once`, "overloaded");
    }
    this.#total.inFlight++;
    this.#inFlight++;
  }
}

/** What is known of a request before anybody serves it. */
type Arrival = Pick<Exchange, "request" | "requestId" | "path" | "headers" | "client">;

/** The path of a URL; only one that is not plain is worth a parser. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const path = start < 0 ? "" : url.slice(start);
  return /^[\w/-]+$/.test(path) ? path : new URL(url).pathname;
}

function errorResponse(
  mesh: Mesh,
  error: unknown,
  requestId: string,
  known: Record<string, string>,
): PlainResponse {
  const answer = errorAnswer(error, requestId);
  if (answer.status === 500) {
    const name = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    mesh.hub.trace({
      severity: "error",
      component: "proxy",
      message: mesh.redact(name),
      request_id: requestId,
      ...(error instanceof Error && !MeshError.isInstance(error) ? { stack: mesh.redact(error.stack ?? "") } : {}),
    });
  }
  const headers = { ...known };
  const record = typeof error === "object" && error !== null ? routingOf(error) : undefined;
  if (record !== undefined) addRoutingHeaders(headers, record);
  Object.assign(headers, answer.headers, { "x-request-id": requestId });
  return json(answer.body, headers, answer.status);
}
