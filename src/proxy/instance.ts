/**
 * The proxy under one configuration: access control, and the limit of concurrent requests.
 * @module
 */
import { builtInProxy } from "../config/settings/defaults.ts";
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { MeshError } from "../errors.ts";
import type { LogFacts } from "../observe/hub.ts";
import { isStream } from "../util/plain_stream.ts";
import { acceptedTokens, Authenticator } from "./authenticator.ts";
import { BodyMemory, ClientDisconnectedError } from "./body_reader.ts";
import { checkedRoute, notAdministrator, withoutBody } from "./checked_route.ts";
import { type Client, namedClients } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import { errorRowOf } from "./error_body.ts";
import type { RouteEntry } from "./exchange.ts";
import { errorResponse, isRouted } from "./error_response.ts";
import { OriginPolicy } from "./origin_policy.ts";
import { OwnOverview, type ProxyOverview } from "./overview/overview.ts";
import { LogRateLimit } from "./log_rate_limit.ts";
import { type InstanceParts, ProxyExchange, type RequestFacts } from "./proxy_exchange.ts";
import { routeOf } from "./routes.ts";
import { Slots } from "./slots.ts";

/** Maximum length of a path in logs, characters. */
const maxLoggedPath = 200;

const no = () => false;

/** Options of `createHandler`. */
export interface HandlerOptions {
  /** Accepted tokens, in addition to those of the configuration. */
  readonly tokens?: readonly string[];
  /** Bind address; overrides the configuration's. */
  readonly host?: string;
  /** Whether the proxy is about to stop: `/ready` returns 503, other paths are still served. */
  readonly isDraining?: () => boolean;
  /** Whether it is stopping: new requests are rejected. */
  readonly isStopping?: () => boolean;
}

/** Options of a handler that is one of several processes. */
export interface ProxyOptions extends HandlerOptions {
  /** Limits concurrent requests; local by default. */
  readonly slots?: Slots | undefined;
  /** The overview of all processes; of this process by default. */
  readonly overview?: ProxyOverview | undefined;
}

/** Options of a handler, and the previous instance. */
interface InstanceOptions extends ProxyOptions {
  readonly runtimeClients: ClientSlot;
  readonly before?: ProxyInstance;
}

export class ProxyInstance {
  readonly #parts: InstanceParts;
  readonly #originPolicy: OriginPolicy;
  readonly #clients: ReadonlyMap<string, Client>;
  /** Requests in progress, with or without a slot. */
  #underWay = 0;
  #onIdle: (() => void) | undefined;

  constructor(mesh: Engine, options: InstanceOptions) {
    const {
      tokens = [],
      host,
      isDraining = no,
      isStopping = no,
      slots = new Slots(),
      overview,
      runtimeClients,
      before,
    } = options;
    const shared = before === undefined
      ? {
        slots,
        bodies: new BodyMemory(),
        uploads: new BodyMemory(),
        lines: new LogRateLimit(),
        overview: overview ?? new OwnOverview(mesh),
      }
      : before.#parts.shared;
    const { proxy = builtInProxy() } = mesh.settings;
    shared.overview.follow(mesh);
    mesh.addSink(shared.overview.sink);
    this.#clients = namedClients(proxy.clients, { state: mesh.state, before: before && before.#clients });
    runtimeClients.configured = this.#clients;
    const authenticator = new Authenticator(acceptedTokens(proxy, { tokens, clients: this.#clients }), runtimeClients);
    shared.authenticator = authenticator;
    this.#originPolicy = new OriginPolicy({
      cors: proxy.cors,
      hasToken: !authenticator.isOpen,
      host: host ?? proxy.host,
      allowedHosts: proxy.allowedHosts,
    });
    const onWork = (change: 1 | -1) => {
      this.#underWay += change;
      if (this.#underWay === 0) this.#onIdle?.();
    };
    this.#parts = { mesh, proxy, authenticator, runtimeClients, shared, isDraining, isStopping, onWork };
  }

  /** Resolves when no requests are left. No new ones may be added. */
  untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#underWay === 0) resolve();
    });
  }

  /** Handles a request. Never rejects. */
  async serve(request: PlainRequest, facts: RequestFacts): Promise<PlainResponse> {
    const exchange = new ProxyExchange(this.#parts, request, facts);
    let entry: RouteEntry | undefined;
    try {
      const path = exchange.path = pathOf(request.url);
      entry = routeOf(path, { exposed: this.#parts.proxy.endpoints, headers: request.headers });
      const headers = exchange.headers = this.#originPolicy.check(request);
      headers["x-request-id"] = facts.requestId;
      if (entry?.isAdministrative) this.#originPolicy.refuseForeign(request);
      const preflight = this.#originPolicy.preflight(request, entry);
      if (preflight !== undefined) return { status: 204, headers: { ...headers, ...preflight }, body: null };
      if (entry?.isPublic !== true) {
        exchange.sender = this.#parts.authenticator.authenticate(request, entry?.dialect);
      }
      if (entry?.isAdministrative && !exchange.sender?.isAdministrator) throw notAdministrator();
      const route = checkedRoute(entry, exchange);
      if (route.isWork) exchange.beginWork();
      const response = await route.handle(exchange);
      if (!isStream(response.body)) exchange.onEnd();
      return request.method === "HEAD" ? withoutBody(response) : response;
    } catch (error) {
      exchange.onEnd();
      return this.#errorResponse(error, exchange, entry);
    }
  }

  #errorResponse(error: unknown, exchange: ProxyExchange, entry: RouteEntry | undefined): PlainResponse {
    const { request, requestId, headers, client } = exchange;
    const { signal } = request;
    const isStopped = signal.aborted && MeshError.isInstance(signal.reason); // the shutdown of the server, not a disconnect of the client
    const hasDisconnected = signal.aborted && !isStopped || error instanceof ClientDisconnectedError;
    if (hasDisconnected) return { status: 499, headers: {}, body: null };
    const reason = isStopped ? signal.reason : error;
    this.#log(reason, request, { request_id: requestId, ...(client && { client: client.name }) });
    return errorResponse(reason, { mesh: this.#parts.mesh, requestId, headers, client, dialect: entry?.dialect });
  }

  /** Logs a request that was rejected before routing; routed requests have their own record. */
  #log(error: unknown, { method, url }: PlainRequest, facts: Pick<LogFacts, "request_id" | "client">): void {
    const { status, body } = errorRowOf(error, facts.request_id);
    if (isRouted(error)) return;
    const { hub, redact, runtime: { clock } } = this.#parts.mesh;
    hub.publish("request_refused", { status, client: facts.client });
    if (status === 500) return;
    const suppressed = this.#parts.shared.lines.take(clock.monotonic());
    if (suppressed === undefined) return;
    const path = redact(pathOf(url).slice(0, maxLoggedPath));
    const line = { level: "warning", ...facts, method, path, status, code: body.error.code ?? "" } as const;
    hub.log(suppressed === 0 ? line : { ...line, suppressed });
  }
}

/** The path of a URL. Simple URLs need no parser. */
function pathOf(url: string): string {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const path = start < 0 ? "" : url.slice(start);
  return /^[\w/-]+$/.test(path) ? path : new URL(`http://host${path}`).pathname; // the actual host may be malformed
}
