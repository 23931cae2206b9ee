/**
 * The proxy's paths.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import { findAddress, methods as geminiMethods, modelsPath } from "../dialects/gemini/address.ts";
import { geminiConventions } from "../dialects/gemini/conventions.ts";
import { messagesConventions } from "../dialects/messages/conventions.ts";
import { responsesConventions } from "../dialects/responses/conventions.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { CheckedOperation } from "../pipeline/operation.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { onceResolved } from "../util/once.ts";
import { version } from "../version.ts";
import { metadataPath } from "./authenticator.ts";
import type { Caller } from "./client.ts";
import { findClientsRoute } from "./clients_route.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { findObjectRoute, findResponsesRoute } from "./object_routes.ts";
import { operationRoute } from "./perform_request.ts";
import { isStream } from "../util/bytes.ts";
import { HttpError } from "./error_body.ts";

const prefix = "/v1/";
/** The endpoint that lists models; headers determine in which dialect. */
const modelList = "models";
/** The name of all of Gemini's dialect in `proxy.endpoints`. */
const geminiEndpoint = modelsPath.slice(1);

/** Paths that perform requests. */
const work = { methods: ["POST"], isWork: true } as const;
const messagesWork = { ...work, dialect: messagesConventions };
const administrative = { methods: ["POST"], isAdministrative: true } as const;

/** Paths below `/v1/`, which `proxy.endpoints` may restrict. All except chat are imported with their first request. */
const endpoints: Readonly<Record<string, RouteEntry>> = {
  "chat/completions": operationRoute(chat),
  "messages": imported(messagesWork, async () => (await import("./messages_routes.ts")).messagesRoute),
  "messages/count_tokens": imported(messagesWork, async () => (await import("./messages_routes.ts")).messagesCount),
  "responses": imported(
    {
      ...work,
      dialect: responsesConventions,
      upgrade: async (...received) => await (await import("./responses_socket.ts")).upgradeToResponses(...received),
    },
    async () => (await import("./responses_route.ts")).responsesRoute,
  ),
  "responses/compact": imported(
    { ...work, dialect: responsesConventions },
    async () => ({ handle: (await import("./compact_route.ts")).handleCompact }),
  ),
  "responses/input_tokens": imported(
    { ...work, dialect: responsesConventions },
    async () => (await import("./responses_route.ts")).responsesCount,
  ),
  "completions": imported(work, async () => ({ handle: (await import("./completions_route.ts")).handleCompletion })),
  "embeddings": operation(async () => (await import("../pipeline/operations/embeddings.ts")).embeddings),
  "images/edits": operation(async () => (await import("../pipeline/operations/image_edit.ts")).imageEdit),
  "images/generations": operation(async () => (await import("../pipeline/operations/image.ts")).image),
  "moderations": operation(async () => (await import("../pipeline/operations/moderation.ts")).moderation),
  "rerank": operation(async () => (await import("../pipeline/operations/rerank.ts")).rerank),
  "audio/speech": operation(async () => (await import("../pipeline/operations/speech.ts")).speech),
  "search": operation(async () => (await import("../pipeline/operations/search.ts")).search),
  "documents/parse": operation(async () => (await import("../pipeline/operations/documents.ts")).documents),
  "audio/transcriptions": operation(
    async () => (await import("../pipeline/operations/transcription.ts")).transcription,
  ),
  "audio/translations": operation(
    async () => (await import("../pipeline/operations/audio_translation.ts")).audioTranslation,
  ),
  "models": imported(
    { methods: ["GET"] },
    async () => ({ handle: (await import("./models_routes.ts")).respondWithModelList }),
  ),
};

/** Paths below `/v1/`. */
export const servedEndpoints: readonly string[] = [...Object.keys(endpoints), "files", "batches", "fine_tuning/jobs"];

const oneModel = imported(
  { methods: ["GET"] },
  async () => ({ handle: (await import("./models_routes.ts")).oneListedModel }),
);

/** Lists in Anthropic's shape, for clients that name a version of its API. */
const anthropicModels = imported(
  { methods: ["GET"], dialect: messagesConventions },
  async () => ({ handle: (await import("./models_routes.ts")).anthropicModels }),
);

const geminiRoute = (facts: Omit<RouteEntry, "handle" | "dialect">): RouteEntry =>
  imported(
    { ...facts, dialect: geminiConventions },
    async () => ({ handle: (await import("./gemini_routes.ts")).handleGemini }),
  );
const geminiList = geminiRoute({ methods: ["GET"] });
const geminiUnknown = geminiRoute({ methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] });
const geminiMethod = geminiRoute(work);

const others: Readonly<Record<string, RouteEntry>> = {
  "/": { methods: ["GET"], isPublic: true, handle: root },
  "/health": { methods: ["GET"], isPublic: true, showsMore: true, handle: health },
  "/ready": { methods: ["GET"], isPublic: true, handle: readiness },
  "/metrics": imported({ methods: ["GET"] }, async () => ({ handle: (await import("./mesh_routes.ts")).metrics })),
  "/mesh/status": imported({ methods: ["GET"] }, async () => ({ handle: (await import("./mesh_routes.ts")).status })),
  "/mesh/events": imported({ methods: ["GET"] }, async () => ({ handle: (await import("./mesh_routes.ts")).events })),
  "/mesh/usage": imported(
    { methods: ["GET"] },
    async () => ({ handle: (await import("./usage/usage_route.ts")).handleUsage }),
  ),
  "/mesh/processes": imported(
    { methods: ["GET"], isAdministrative: true },
    async () => ({ handle: (await import("./processes/processes_route.ts")).handleProcesses }),
  ),
  "/mesh/cache": imported(
    { methods: ["GET", "DELETE"], isAdministrative: true },
    async () => ({ handle: (await import("./cache_route.ts")).handleCache }),
  ),
  "/mesh/teams": imported(
    { methods: ["GET"], isAdministrative: true },
    async () => ({ handle: (await import("./teams_route.ts")).listTeams }),
  ),
  "/mesh/activate": imported(
    administrative,
    async () => ({ handle: (await import("./override_route.ts")).override("activate") }),
  ),
  "/mesh/deactivate": imported(
    administrative,
    async () => ({ handle: (await import("./override_route.ts")).override("deactivate") }),
  ),
  "/ui": imported(
    { methods: ["GET"], isPublic: true },
    async () => ({ handle: (await import("./ui.ts")).dashboard }),
  ),
  "/live": { methods: ["GET"], isPublic: true, handle: ({ headers }) => json({ status: "ok" }, { headers }) },
};

const metadata = imported(
  { methods: ["GET"], isPublic: true },
  async () => ({ handle: (await import("./jwt/resource_metadata.ts")).respondWithMetadata }),
);

/** A route whose handler is imported with its first request. */
function imported(
  facts: Omit<RouteEntry, "handle">,
  load: () => Promise<Pick<RouteEntry, "handle">>,
): RouteEntry {
  const loaded = onceResolved(load);
  return { ...facts, handle: async (exchange) => await (await loaded()).handle(exchange) };
}

/** The route of an operation that is imported with its first request. */
function operation<Body extends RequestBody, Response>(
  load: () => Promise<CheckedOperation<Body, Response>>,
): RouteEntry {
  return imported(work, async () => operationRoute(await load()));
}

/** Finds the routes that a configuration exposes. */
export class Routes {
  /** Those that depend on nothing but their path. */
  readonly #fixed: ReadonlyMap<string, RouteEntry>;
  readonly #storesResponses: boolean;
  readonly #hasIssuers: boolean;
  readonly #isExposed: (endpoint: string) => boolean;

  /** @param proxy `endpoints` are without `/v1/`; `v1beta/models` stands for all of Gemini's dialect. All by default. */
  constructor({ endpoints: own, responses, jwt }: Pick<ProxySettings, "endpoints" | "responses" | "jwt">) {
    const exposed: readonly string[] | undefined = own;
    this.#storesResponses = responses.state;
    this.#hasIssuers = jwt !== undefined;
    this.#isExposed = (endpoint) => exposed?.includes(endpoint) ?? true;
    const served = Object.entries(endpoints).filter(([name]) => name !== modelList && this.#isExposed(name));
    this.#fixed = new Map([
      ...Object.entries(others),
      ...served.map(([name, entry]) => [prefix + name, entry] as const),
    ]);
  }

  /**
   * Returns the route of a path; undefined for a path that is unknown or not exposed.
   *
   * @param path Case-sensitive; a trailing slash is ignored.
   */
  find(path: string, headers: PlainRequest["headers"]): RouteEntry | undefined {
    const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
    return this.#fixed.get(plain) ?? this.#findOther(plain, headers);
  }

  #findOther(path: string, headers: PlainRequest["headers"]): RouteEntry | undefined {
    const isExposed = this.#isExposed;
    if (path.startsWith("/v1beta/")) return isExposed(geminiEndpoint) ? createGeminiRoute(path) : undefined;
    if (path === metadataPath) return this.#hasIssuers ? metadata : undefined;
    if (!path.startsWith(prefix)) return findClientsRoute(path);
    const name = path.slice(prefix.length);
    if (name.startsWith(modelList)) {
      const entry = isExposed(geminiEndpoint) ? geminiRouteIn(path, headers) : undefined;
      if (entry !== undefined) return entry;
      if (headers.has("anthropic-version") && isExposed(modelList) && /^models(\/.|$)/.test(name)) {
        return anthropicModels;
      }
    }
    if (Object.hasOwn(endpoints, name)) return name === modelList && isExposed(name) ? endpoints[name] : undefined;
    if (name.startsWith("responses/")) return this.#storesResponses ? findResponsesRoute(name, isExposed) : undefined;
    return name.startsWith("models/") && isExposed(modelList) ? oneModel : findObjectRoute(name, isExposed);
  }
}

function createGeminiRoute(path: string): RouteEntry {
  const address = findAddress(path);
  if (address === undefined) return geminiUnknown;
  return address.method === undefined ? geminiList : geminiMethod;
}

/** Newer Gemini clients use `/v1`, too. Their methods are recognized by name, their lists by header. */
function geminiRouteIn(path: string, headers: PlainRequest["headers"]): RouteEntry | undefined {
  const address = findAddress(path);
  if (geminiMethods.some((name) => name === address?.method)) return geminiMethod;
  return address?.method === undefined && headers.has("x-goog-api-key") ? geminiList : undefined;
}

/** `GET /`: the dashboard for people, a few facts for programs. */
function root({ request, headers }: Exchange): PlainResponse {
  if (/\btext\/html\b/i.test(request.headers.get("accept") ?? "")) {
    return { status: 302, headers: { ...headers, location: "/ui" }, body: null };
  }
  const documentation = "jsr:@modelmesh/core";
  return json({ name: "modelmesh", version, documentation, dashboard: "/ui", base_url: "/v1" }, { headers });
}

async function health(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, overview, headers } = exchange;
  const pools = Object.entries(mesh.poolStatus()).filter(([, { total }]) => total > 0);
  const up = pools.filter(([, { status }]) => status === "ok").length;
  const status = up === pools.length ? "ok" : up > 0 ? "degraded" : "unavailable";
  const sender = exchange.caller();
  const client = sender?.client;
  const shown = client?.findOwnModels === undefined
    ? pools.filter(([name]) => client?.pools?.has(name) ?? true)
    : (await import("./own_view.ts")).listShownPools(mesh, client);
  const counts = Object.fromEntries(shown.map(([name, { active, standby }]) => [name, { active, standby }]));
  const uptime = async () => ({ uptime_seconds: Math.floor((await overview.read("uptime")).uptimeMs / 1000) });
  const details = sender !== undefined ? { version, ...await uptime(), pools: counts } : {};
  return json({ status, ...details }, { headers, status: status === "unavailable" ? 503 : 200 });
}

function readiness({ isDraining: isDrained, isStopping, headers }: Exchange): PlainResponse {
  const isDraining = isDrained() || isStopping();
  return json({ status: isDraining ? "draining" : "ok" }, { headers, status: isDraining ? 503 : 200 });
}

/**
 * Checks the method of a request.
 *
 * @param route The route of its path.
 * @throws {HttpError} 405 for an unsupported method.
 */
export function checkMethod({ methods }: RouteEntry, { method }: PlainRequest): void {
  if (methods.includes(method === "HEAD" ? "GET" : method)) return;
  const allow = methods.join(", ");
  throw new HttpError(`The method ${method} is not allowed here: use ${allow}`, {
    status: 405,
    code: "method_not_allowed",
    headers: { allow },
  });
}

/** The error for a target that a reverse proxy may understand differently. */
export function invalidUrl(): HttpError {
  const message = 'A URL must not have a backslash, "#", a control character or dot segments in it, encoded or not';
  return new HttpError(message, { status: 400, code: "invalid_url" });
}

/**
 * Checks that a caller without administrator access may call a path.
 *
 * @throws {HttpError} 403 otherwise.
 */
export function checkRights(
  { isAdministrative, isWork }: RouteEntry,
  caller: Caller | undefined,
  { method }: PlainRequest,
): void {
  const isReader = caller?.isViewer === true && (method === "GET" || method === "HEAD");
  if (isAdministrative && !isReader) {
    const message = "This path is for administrators: see proxy.auth.admin_tokens";
    throw new HttpError(message, { status: 403, code: "not_an_administrator" });
  }
  if (isWork && caller?.isViewer && caller.client === undefined && caller.team === undefined) {
    throw new HttpError("A viewer without a client or a team sends no requests", {
      status: 403,
      code: "access_denied",
    });
  }
}

/** The response to HEAD: the headers of GET, including its length if known. */
export function withoutBody({ body, ...response }: PlainResponse): PlainResponse {
  if (body === null) return { ...response, body };
  if (isStream(body)) {
    body.cancel();
    return { ...response, body: null };
  }
  const { length } = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { ...response, headers: { ...response.headers, "content-length": String(length) }, body: null };
}
