/**
 * The proxy under one configuration: access control, and the limit of concurrent requests.
 * @module
 */
import { builtInProxy } from "../config/build/proxy.ts";
import type { PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { MeshError } from "../errors.ts";
import type { LogFacts } from "../observe/hub.ts";
import { toClientFacts } from "../pipeline/request.ts";
import { isStream } from "../util/bytes.ts";
import { readUrl } from "../util/request_path.ts";
import { isSocketRequest } from "../util/request_id.ts";
import { type Authenticator, createAuthenticator, requireToken } from "./authenticator.ts";
import { ClientDisconnectedError } from "./body_reader.ts";
import { checkMethod, checkRights, invalidUrl, Routes, servedEndpoints, withoutBody } from "./routes.ts";
import { createNamedClients } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import { type HttpError, toErrorRow } from "./error_body.ts";
import { Exchange, type ExchangeParts, type RequestFacts, type RouteEntry, shuttingDown } from "./exchange.ts";
import type { ProxyOptions } from "./handler_options.ts";
import { errorResponse, isRouted } from "./error_response.ts";
import { OriginPolicy, withOrigins } from "./origin_policy.ts";
import { ProcessCounts } from "./process_counts.ts";

/** Maximum length of a path in logs, characters. */
const maxLoggedPath = 200;

const no = () => false;

export class ProxyInstance {
  readonly #parts: ExchangeParts & { readonly authenticator: Authenticator; readonly shared: ProcessCounts };
  readonly #routes: Routes;
  readonly #originPolicy: OriginPolicy;
  readonly #serveNow: NonNullable<RequestHandler["plain"]>;

  /** @throws {ConfigError} If the configuration requires tokens and there is none. */
  constructor(
    mesh: Engine,
    options: ProxyOptions & {
      readonly runtimeClients: ClientSlot;
      /** Handles a request at the current instance. */
      readonly serve: NonNullable<RequestHandler["plain"]>;
      readonly before?: ProxyInstance;
    },
  ) {
    const { tokens = [], origins, host, isDraining = no, isStopping = no, runtimeClients, serve, before } = options;
    this.#serveNow = serve;
    const shared = before === undefined ? new ProcessCounts(mesh, options) : before.#parts.shared;
    const { proxy = builtInProxy() } = mesh.settings;
    requireToken(proxy, tokens);
    for (const token of tokens) mesh.redactor.add(token);
    shared.overview.follow(mesh);
    mesh.addSink(shared.overview.sink);
    const clients = createNamedClients(proxy.clients, mesh.state.scopes, before && before.#parts.mesh.state.scopes);
    runtimeClients.configured = clients;
    const senders = { tokens, clients, runtime: runtimeClients, mesh };
    const authenticator = createAuthenticator(proxy, senders, shared.signingKeys);
    shared.authenticator = authenticator;
    this.#originPolicy = new OriginPolicy({
      cors: withOrigins(proxy.cors, origins),
      hasToken: !authenticator.isOpen,
      host: host ?? proxy.host,
      allowedHosts: proxy.allowedHosts,
      onRefused: (origin) => shared.refusedOrigins.report(origin, mesh),
    });
    this.#routes = new Routes(proxy);
    const underWay = { count: 0, onIdle: undefined };
    this.#parts = { mesh, proxy, authenticator, runtimeClients, shared, isDraining, isStopping, underWay };
  }

  /** Resolves when no requests are left. No new ones may be added. */
  untilIdle(): Promise<void> {
    const { underWay } = this.#parts;
    return new Promise((resolve) => {
      underWay.onIdle = resolve;
      if (underWay.count === 0) resolve();
    });
  }

  /** Resolves when the work that goes on after its request was answered has ended. */
  async untilBackgroundEnded(): Promise<void> {
    await Promise.all(this.#parts.shared.background);
  }

  /** Handles a request. Never rejects. */
  async serve(request: PlainRequest, { requestId, peer }: RequestFacts): Promise<PlainResponse> {
    const { path } = readUrl(request.url);
    const exchange = new Exchange(this.#parts, { request, requestId, path, peer });
    try {
      const preflight = this.#open(exchange);
      if (preflight !== undefined) return preflight;
      const { route } = exchange;
      const sender = this.#parts.authenticator.authenticate(request, route);
      exchange.sender = sender instanceof Promise ? await sender : sender;
      exchange.client = exchange.sender?.client;
      if (route === undefined) throw await this.#unknown(exchange);
      if (!exchange.sender?.isAdministrator) checkRights(route, exchange.sender, request);
      if (route.upgrade !== undefined && isSocketRequest(request)) return await this.#upgrade(route.upgrade, exchange);
      checkMethod(route, request);
      if (route.isWork) exchange.startWork();
      const response = await route.handle(exchange);
      if (!exchange.isDetached && !isStream(response.body)) exchange.end();
      return request.method === "HEAD" ? withoutBody(response) : response;
    } catch (error) {
      exchange.end();
      return this.#refuse(error, exchange);
    }
  }

  /**
   * Determines the route of a request, and checks its origin.
   *
   * @returns The response to a preflight; undefined for other requests.
   */
  #open(exchange: Exchange): PlainResponse | undefined {
    const { request, path, requestId } = exchange;
    const route = exchange.route = this.#routes.find(path, request.headers);
    const headers = exchange.headers = this.#originPolicy.check(request);
    headers["x-request-id"] = requestId;
    if (readUrl(request.url).isAmbiguous) throw invalidUrl();
    if (route?.isAdministrative) this.#originPolicy.refuseForeign(request);
    const preflight = this.#originPolicy.preflight(request, route);
    return preflight && { status: 204, headers: { ...headers, ...preflight }, body: null };
  }

  #refuse(error: unknown, { request, requestId, client, headers, route }: Exchange): PlainResponse {
    const { signal } = request;
    const isStopped = signal.aborted && MeshError.isInstance(signal.reason); // the shutdown of the server, not a disconnect of the client
    const hasDisconnected = signal.aborted && !isStopped || error instanceof ClientDisconnectedError;
    if (hasDisconnected) return { status: 499, headers: {}, body: null };
    const reason = isStopped ? signal.reason : error;
    this.#log(reason, request, { request_id: requestId, ...(client && toClientFacts(client)) });
    return errorResponse(reason, { mesh: this.#parts.mesh, requestId, headers, client, dialect: route?.dialect });
  }

  /** Logs a request that was rejected before routing; routed requests have their own record. */
  #log(
    error: unknown,
    { method, url }: PlainRequest,
    facts: Pick<LogFacts, "request_id" | "client" | "client_id">,
  ): void {
    const { status, body } = toErrorRow(error, facts.request_id);
    if (isRouted(error)) return;
    const { mesh: { hub, redact, runtime: { clock } }, shared } = this.#parts;
    hub.publish("request_refused", { status, client: facts.client, client_id: facts.client_id });
    if (status === 500) return;
    const suppressed = shared.lines.take(clock.monotonic());
    if (suppressed === undefined) return;
    const path = redact(readUrl(url).path.slice(0, maxLoggedPath));
    const line = { level: "warning", ...facts, method, path, status, code: body.error.code ?? "" } as const;
    hub.log(suppressed === 0 ? line : { ...line, suppressed });
  }

  async #unknown({ request, path }: Exchange): Promise<HttpError> {
    const { unknownPath } = await import("./unknown_path.ts");
    const isServed = (other: string) => this.#routes.find(other, request.headers) !== undefined;
    return unknownPath({ method: request.method, path }, {
      isServed,
      served: this.#parts.proxy.endpoints ?? servedEndpoints,
    });
  }

  async #upgrade(upgrade: NonNullable<RouteEntry["upgrade"]>, exchange: Exchange): Promise<PlainResponse> {
    if (this.#parts.isStopping()) throw shuttingDown();
    const serve = this.#serveNow;
    const { peer } = exchange;
    return await upgrade(exchange, { // none of it keeps this instance in memory
      serve: (request) => serve(request, peer),
      reserve: exchange.createReservation(),
    });
  }
}
