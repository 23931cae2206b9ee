/**
 * The proxy as a function from request to response; a server is put around it elsewhere.
 * @module
 */
import { builtInProxy } from "../config/defaults.ts";
import type { ProxySettings } from "../config/settings.ts";
import type { Mesh } from "../mesh.ts";
import { MeshError } from "../errors.ts";
import { routingOf } from "../observe/routing_of.ts";
import { requestIdFrom } from "../util/request_id.ts";
import { Gate } from "./auth.ts";
import { errorAnswer, Refusal, waitHeaders } from "./error_body.ts";
import { Door } from "./origin.ts";
import { type Exchange, type RouteEntry, routeOf } from "./routes.ts";
import { routingHeaders } from "./routing_headers.ts";

/** Options of {@linkcode createHandler}. */
export interface HandlerOptions {
  /** Accepted tokens, beside those of the configuration. */
  readonly tokens?: readonly string[];
  /** Bind address, in place of the configuration's. */
  readonly host?: string;
  /** Whether the proxy is about to stop. */
  readonly isDraining?: () => boolean;
}

/** From request to response; never throws. */
export type Handler = (request: Request) => Promise<Response>;

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
  return async (request) => {
    const requestId = requestIdFrom(request.headers.get("x-request-id"));
    try {
      if (site === undefined) {
        const early = mesh.isReady ? undefined : earlyAnswer(request, requestId);
        if (early !== undefined) return early;
        await mesh.ready();
        site = new Site(mesh, options);
      }
      return await site.serve(request, requestId);
    } catch (error) {
      return respondError(mesh, error, requestId, {});
    }
  };
}

/** Probes are answered while secrets are still being read; everything else waits. */
function earlyAnswer({ url }: Request, requestId: string): Response | undefined {
  const headers = { "x-request-id": requestId };
  if (/^[^?#]*:\/\/[^/]*\/live$/.test(url)) return Response.json({ status: "ok" }, { headers });
  if (!/^[^?#]*:\/\/[^/]*\/ready$/.test(url)) return undefined;
  return Response.json({ status: "starting" }, { status: 503, headers });
}

/** One proxy: who may come in, and how many at once. */
class Site {
  readonly #mesh: Mesh;
  readonly #proxy: ProxySettings;
  readonly #gate: Gate;
  readonly #door: Door;
  readonly #isDraining: () => boolean;
  #inFlight = 0;

  constructor(mesh: Mesh, { tokens = [], host, isDraining = () => false }: HandlerOptions) {
    const { proxy = builtInProxy() } = mesh.settings;
    this.#proxy = proxy;
    this.#mesh = mesh;
    this.#gate = new Gate([...proxy.tokens, ...tokens]);
    this.#door = new Door({
      cors: proxy.cors,
      hasToken: !this.#gate.isOpen,
      host: host ?? proxy.host,
      allowedHosts: proxy.allowedHosts,
    });
    this.#isDraining = isDraining;
  }

  async serve(request: Request, requestId: string): Promise<Response> {
    let cors: Record<string, string> = {};
    try {
      cors = this.#door.check(request);
      const path = new URL(request.url).pathname;
      const entry = routeOf(path, this.#proxy.endpoints);
      const preflight = this.#door.preflight(request, entry?.methods.join(", ") ?? "GET, POST");
      if (preflight !== undefined) {
        return new Response(null, { status: 204, headers: { ...cors, ...preflight, "x-request-id": requestId } });
      }
      if (entry?.isPublic !== true) this.#gate.check(request);
      const response = await this.#answer(this.#check(request, path, entry), request, requestId, path);
      for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
      response.headers.set("x-request-id", requestId);
      return request.method === "HEAD" ? new Response(null, response) : response;
    } catch (error) {
      const { signal } = request;
      const isStopped = signal.aborted && MeshError.isInstance(signal.reason); // the server's end, not the client's
      if (signal.aborted && !isStopped) return new Response(null, { status: 499 }); // nobody is there to read it
      return respondError(this.#mesh, isStopped ? signal.reason : error, requestId, cors);
    }
  }

  #check(request: Request, path: string, entry: RouteEntry | undefined): RouteEntry {
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

  async #answer(entry: RouteEntry, request: Request, requestId: string, path: string): Promise<Response> {
    let isOver = !entry.isWork;
    const onEnd = () => {
      if (!isOver) this.#inFlight--;
      isOver = true;
    };
    const exchange: Exchange = {
      mesh: this.#mesh,
      proxy: this.#proxy,
      request,
      requestId,
      path,
      isTrusted: () => this.#gate.admits(request),
      isDraining: this.#isDraining(),
      onEnd,
    };
    if (entry.isWork) this.#admit();
    try {
      const response = await entry.handle(exchange);
      if (!isStream(response)) onEnd();
      return response;
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  #admit(): void {
    const refuse = (message: string, code: string) =>
      new Refusal(message, { status: 503, type: "server_error", code, headers: waitHeaders(1000, false) });
    if (this.#isDraining()) throw refuse("The proxy is shutting down", "shutting_down");
    const { maxConcurrent } = this.#proxy;
    if (this.#inFlight >= maxConcurrent) {
      throw refuse(`The proxy is at its limit of ${maxConcurrent} requests at once`, "overloaded");
    }
    this.#inFlight++;
  }
}

function isStream(response: Response): boolean {
  return response.headers.get("content-type") === "text/event-stream";
}

function respondError(mesh: Mesh, error: unknown, requestId: string, cors: Record<string, string>): Response {
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
  const record = typeof error === "object" && error !== null ? routingOf(error) : undefined;
  return Response.json(answer.body, {
    status: answer.status,
    headers: {
      ...cors,
      ...(record === undefined ? {} : routingHeaders(record)),
      ...answer.headers,
      "x-request-id": requestId,
    },
  });
}
