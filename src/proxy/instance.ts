/**
 * The proxy under one configuration: access control, and the limit of concurrent requests.
 * @module
 */
import { builtInProxy } from "../config/build/proxy.ts";
import type { ProxySettings } from "../config/settings/settings.ts";
import type { PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { MeshError } from "../errors.ts";
import type { LogFacts } from "../observe/hub.ts";
import { toClientFacts } from "../pipeline/request.ts";
import { isStream } from "../util/bytes.ts";
import { isAmbiguous, readPath } from "../util/request_path.ts";
import { isSocketRequest } from "../util/request_id.ts";
import { type Authenticator, createAuthenticator, requireToken } from "./authenticator.ts";
import { type BodyBounds, ClientDisconnectedError, readRequestBody } from "./body_reader.ts";
import { checkedRoute, checkRights, findRoute, invalidUrl, servedEndpoints, withoutBody } from "./routes.ts";
import { type Caller, type Client, createNamedClients, findBodyOwner } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import { HttpError, toErrorRow, waitHeaders } from "./error_body.ts";
import type { Exchange, IncomingRequest, ReadOptions, RequestFacts, RouteEntry, SocketAccess } from "./exchange.ts";
import type { ProxyOptions } from "./handler_options.ts";
import { errorResponse, isRouted } from "./error_response.ts";
import { OriginPolicy, withOrigins } from "./origin_policy.ts";
import { ProcessCounts } from "./process_counts.ts";

/** Maximum length of a path in logs, characters. */
const maxLoggedPath = 200;

const no = () => false;

export class ProxyInstance {
  readonly #mesh: Engine;
  readonly #proxy: ProxySettings;
  readonly #authenticator: Authenticator;
  readonly #originPolicy: OriginPolicy;
  readonly #isDraining: () => boolean;
  readonly #isStopping: () => boolean;
  readonly #clients: ReadonlyMap<string, Client>;
  readonly #runtimeClients: ClientSlot;
  readonly #serveNow: NonNullable<RequestHandler["plain"]>;
  /** Requests in progress, with or without a slot. */
  #underWay = 0;
  /** Shared with earlier and later instances. */
  readonly #shared: ProcessCounts;
  #onIdle: (() => void) | undefined;

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
    this.#runtimeClients = runtimeClients;
    this.#shared = before === undefined ? new ProcessCounts(mesh, options) : before.#shared;
    const { proxy = builtInProxy() } = mesh.settings;
    requireToken(proxy, tokens);
    for (const token of tokens) mesh.redactor.add(token);
    this.#proxy = proxy;
    this.#mesh = mesh;
    this.#shared.overview.follow(mesh);
    mesh.addSink(this.#shared.overview.sink);
    this.#clients = createNamedClients(proxy.clients, mesh.state.scopes, before && before.#mesh.state.scopes);
    runtimeClients.configured = this.#clients;
    const senders = { tokens, clients: this.#clients, runtime: runtimeClients, mesh };
    this.#authenticator = createAuthenticator(proxy, senders, this.#shared.signingKeys);
    this.#shared.authenticator = this.#authenticator;
    this.#originPolicy = new OriginPolicy({
      cors: withOrigins(proxy.cors, origins),
      hasToken: !this.#authenticator.isOpen,
      host: host ?? proxy.host,
      allowedHosts: proxy.allowedHosts,
      onRefused: (origin) => this.#shared.refusedOrigins.report(origin, mesh),
    });
    this.#isDraining = isDraining;
    this.#isStopping = isStopping;
  }

  /** Resolves when no requests are left. No new ones may be added. */
  untilIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.#underWay === 0) resolve();
    });
  }

  /** Resolves when the work that goes on after its request was answered has ended. */
  async untilBackgroundEnded(): Promise<void> {
    await Promise.all(this.#shared.background);
  }

  /** Handles a request. Never rejects. */
  async serve(request: PlainRequest, { requestId, peer }: RequestFacts): Promise<PlainResponse> {
    let headers: Record<string, string> = {};
    let caller: Caller | undefined;
    let entry: RouteEntry | undefined;
    try {
      const path = readPath(request.url);
      entry = this.#findRoute(path, request);
      headers = this.#originPolicy.check(request);
      headers["x-request-id"] = requestId;
      if (isAmbiguous(request.url, path)) throw invalidUrl();
      if (entry?.isAdministrative) this.#originPolicy.refuseForeign(request);
      const preflight = this.#originPolicy.preflight(request, entry);
      if (preflight !== undefined) return { status: 204, headers: { ...headers, ...preflight }, body: null };
      const sender = this.#authenticator.authenticate(request, entry);
      caller = sender instanceof Promise ? await sender : sender;
      if (entry !== undefined && !caller?.isAdministrator) checkRights(entry, caller, request);
      const incoming = { request, requestId, path, headers, client: caller?.client, from: { caller, peer } };
      if (entry === undefined) throw await this.#unknown(incoming);
      if (entry.upgrade !== undefined && isSocketRequest(request)) {
        return await this.#upgrade(entry.upgrade, incoming);
      }
      const response = await this.#respond(checkedRoute(entry, request), incoming);
      return request.method === "HEAD" ? withoutBody(response) : response;
    } catch (error) {
      const { signal } = request;
      const isStopped = signal.aborted && MeshError.isInstance(signal.reason); // the shutdown of the server, not a disconnect of the client
      const hasDisconnected = signal.aborted && !isStopped || error instanceof ClientDisconnectedError;
      if (hasDisconnected) return { status: 499, headers: {}, body: null };
      const reason = isStopped ? signal.reason : error;
      const client = caller?.client;
      this.#log(reason, request, { request_id: requestId, ...(client && toClientFacts(client)) });
      return errorResponse(reason, { mesh: this.#mesh, requestId, headers, client, dialect: entry?.dialect });
    }
  }

  /** Logs a request that was rejected before routing; routed requests have their own record. */
  #log(
    error: unknown,
    { method, url }: PlainRequest,
    facts: Pick<LogFacts, "request_id" | "client" | "client_id">,
  ): void {
    const { status, body } = toErrorRow(error, facts.request_id);
    if (isRouted(error)) return;
    const { hub, redact, runtime: { clock } } = this.#mesh;
    hub.publish("request_refused", { status, client: facts.client, client_id: facts.client_id });
    if (status === 500) return;
    const suppressed = this.#shared.lines.take(clock.monotonic());
    if (suppressed === undefined) return;
    const path = redact(readPath(url).slice(0, maxLoggedPath));
    const line = { level: "warning", ...facts, method, path, status, code: body.error.code ?? "" } as const;
    hub.log(suppressed === 0 ? line : { ...line, suppressed });
  }

  async #unknown({ request, path }: Pick<IncomingRequest, "request" | "path">): Promise<HttpError> {
    const { unknownPath } = await import("./unknown_path.ts");
    const isServed = (other: string) => this.#findRoute(other, request) !== undefined;
    return unknownPath({ method: request.method, path }, {
      isServed,
      served: this.#proxy.endpoints ?? servedEndpoints,
    });
  }

  #findRoute(path: string, { headers }: PlainRequest): RouteEntry | undefined {
    const { endpoints: exposed, responses: { state: storesResponses }, jwt } = this.#proxy;
    return findRoute(path, { exposed, storesResponses, hasIssuers: jwt !== undefined, headers });
  }

  async #respond(entry: RouteEntry, incoming: IncomingRequest): Promise<PlainResponse> {
    if (!entry.isWork) return await entry.handle(this.#exchange(incoming));
    const { slots } = this.#shared;
    const { maxConcurrent } = this.#proxy;
    let isOver = false;
    let hasSlot = false;
    let release = () => {};
    const hold = (task: () => void) => void (release = task);
    let exchange: Exchange | undefined;
    const onEnd = () => {
      if (isOver) return;
      isOver = true;
      release();
      exchange?.scopes?.end();
      if (hasSlot) slots.give(maxConcurrent);
      if (--this.#underWay === 0) this.#onIdle?.();
    };
    const begin = (): Promise<void> | undefined => {
      this.#checkSlots();
      const taken = slots.take(maxConcurrent);
      if (taken instanceof Promise) {
        return taken.then((isTaken) => {
          hasSlot = isTaken;
          if (!isTaken) throw this.#overloaded();
        });
      }
      if (!taken) throw this.#overloaded();
      hasSlot = true;
      return undefined;
    };
    const body = async (options: ReadOptions) => {
      const bytes = await this.#read(incoming, { ...options, hold });
      const beginning = begin();
      if (beginning !== undefined) await beginning;
      return bytes;
    };
    this.#checkSlots(); // before the body is read
    this.#underWay++;
    try {
      exchange = this.#exchange(incoming, { body, begin, onEnd });
      const response = await entry.handle(exchange);
      if (!exchange.isDetached && !isStream(response.body)) onEnd();
      return response;
    } catch (error) {
      onEnd();
      throw error;
    }
  }

  async #upgrade(upgrade: NonNullable<RouteEntry["upgrade"]>, incoming: IncomingRequest): Promise<PlainResponse> {
    if (this.#isStopping()) throw unavailable("The proxy is shutting down", "shutting_down");
    const serve = this.#serveNow;
    const { peer } = incoming.from;
    return await upgrade(this.#exchange(incoming), { // none of it keeps this instance in memory
      serve: (request) => serve(request, peer),
      reserve: this.#reservation(incoming),
    });
  }

  /** Reserves memory like that of a body of the same sender. */
  #reservation({ from }: IncomingRequest): SocketAccess["reserve"] {
    const { bodies } = this.#shared;
    const bounds = {
      memoryBytes: this.#proxy.bodyMemory,
      client: findBodyOwner(from, this.#authenticator.isOpen),
    };
    return (bytes) => bodies.reserve(bytes, bounds) ? () => bodies.release(bytes, bounds.client) : undefined;
  }

  #exchange(incoming: IncomingRequest, work?: Pick<Exchange, "body" | "begin" | "onEnd">): Exchange {
    const { request, requestId, path, headers, client, from } = incoming;
    // no spread: V8 of Node 20 gives each object that begins with one, and goes on, a hidden class of its own
    return {
      request,
      requestId,
      path,
      headers,
      client,
      mesh: this.#mesh,
      proxy: this.#proxy,
      caller: () => incoming.from.caller ?? this.#authenticator.findSender(request),
      callerNow: () => this.#shared.authenticator?.findSender(request),
      isDraining: this.#isDraining,
      isStopping: this.#isStopping,
      runtimeClients: this.#runtimeClients.clients,
      usage: this.#runtimeClients.usage,
      processes: this.#runtimeClients.processes,
      overview: this.#shared.overview,
      recordReaders: this.#shared.recordReaders,
      body: work?.body ?? ((time) => this.#read(incoming, time)),
      sender: from.caller,
      scopes: undefined,
      begin: work?.begin ?? (() => undefined),
      reserve: this.#proxy.responses.state ? this.#reservation(incoming) : undefined,
      background: this.#shared.background,
      isDetached: false,
      onEnd: work?.onEnd ?? (() => {}),
    };
  }

  #read(
    { request, from }: IncomingRequest,
    { isUpload = false, hold, startedAt, limitMs }: ReadOptions,
  ): Promise<Uint8Array> {
    const { bodyLimit, bodyMemory, uploadLimit } = this.#proxy;
    const { bodies, uploads } = this.#shared;
    // no spread: see #exchange
    const bounds: BodyBounds = {
      maxBytes: isUpload ? uploadLimit : bodyLimit,
      limitKey: isUpload ? "upload_limit" : "body_limit",
      memoryKey: isUpload ? "upload_limit" : "body_memory",
      memory: isUpload ? uploads : bodies,
      memoryBytes: isUpload ? uploadLimit : bodyMemory,
      // one upload may use all of the memory
      client: isUpload ? undefined : findBodyOwner(from, this.#authenticator.isOpen),
      isParsed: !isUpload,
      hold,
      clock: this.#mesh.runtime.clock,
      startedAt,
      limitMs,
    };
    return request.headers.has("content-encoding")
      ? this.#readCompressed(request, bounds)
      : readRequestBody(request, bounds);
  }

  async #readCompressed(request: PlainRequest, bounds: BodyBounds): Promise<Uint8Array> {
    const { readCompressed } = await import("./compressed_body.ts");
    return await readCompressed(request, bounds, this.#mesh.runtime);
  }

  /** Rejects requests during shutdown, and when all slots are taken. */
  #checkSlots(): void {
    if (this.#isStopping()) throw unavailable("The proxy is shutting down", "shutting_down");
    if (this.#shared.slots.isFull(this.#proxy.maxConcurrent)) throw this.#overloaded();
  }

  #overloaded(): HttpError {
    const { maxConcurrent } = this.#proxy;
    return unavailable(`The proxy is at its limit of ${maxConcurrent} requests at once`, "overloaded");
  }
}

function unavailable(message: string, code: "overloaded" | "shutting_down"): HttpError {
  return new HttpError(message, { status: 503, type: "server_error", code, headers: waitHeaders(1000, false) });
}
