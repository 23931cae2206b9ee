/**
 * The proxy's paths.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { Engine } from "../engine/engine.ts";
import { checkChatRequest, missing } from "../pipeline/check_request.ts";
import { sessionOf } from "../pipeline/session.ts";
import { ModelNotFoundError } from "../errors.ts";
import { metricFamilies } from "../observe/metric_families.ts";
import { readRoutingConstraints } from "../pipeline/routing_constraints.ts";
import { type ModelList, modelList } from "../registry/model_list.ts";
import { version } from "../version.ts";
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import type { Caller } from "./authenticator.ts";
import type { Client } from "./client.ts";
import { prometheusMediaType, prometheusText } from "../util/prometheus_text.ts";
import { json } from "./json.ts";
import { readJson } from "./body.ts";
import type { BodyBounds } from "./body_reader.ts";
import { addRoutingHeaders } from "./routing_headers.ts";
import { EventBody } from "./sse.ts";

/** One request at the proxy. */
export interface Exchange {
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly request: PlainRequest;
  readonly requestId: string;
  readonly path: string;
  /** Headers of every response to it. */
  readonly headers: Record<string, string>;
  /** The sender, where clients have names and the path needs a token. */
  readonly client: Client | undefined;
  /** The sender, on paths that need no token too: undefined without an accepted token where one is required. */
  readonly caller: () => Caller | undefined;
  /** When the proxy was started, monotonic ms. */
  readonly startedAt: number;
  readonly isDraining: boolean;
  /**
   * Reads the whole body within the proxy's bounds; the request has its slot from then on. To be called once.
   *
   * @param time When the request arrived, monotonic ms, and how long the body may take from then on, ms.
   */
  readonly body: (time: Pick<BodyBounds, "startedAt" | "limitMs">) => Promise<Uint8Array>;
  /** To be called at the end of a streamed response. */
  readonly onEnd: () => void;
}

export interface RouteEntry {
  readonly methods: readonly string[];
  /** Whether it needs no token. */
  readonly isPublic?: boolean;
  /** Whether it takes a slot of `max_concurrent` once its body is read, and is refused while stopping. */
  readonly isWork?: boolean;
  readonly handle: (exchange: Exchange) => PlainResponse | Promise<PlainResponse>;
}

const prefix = "/v1/";

/** Paths below `/v1/`, which `proxy.endpoints` may limit. */
const endpoints: Readonly<Record<string, RouteEntry>> = {
  "chat/completions": { methods: ["POST"], isWork: true, handle: chatCompletions },
  "models": { methods: ["GET"], handle: listModels },
};

const oneModel: RouteEntry = { methods: ["GET"], handle: oneListedModel };

const others: Readonly<Record<string, RouteEntry>> = {
  "/health": { methods: ["GET"], isPublic: true, handle: health },
  "/ready": { methods: ["GET"], isPublic: true, handle: readiness },
  "/metrics": { methods: ["GET"], handle: metrics },
  "/live": { methods: ["GET"], isPublic: true, handle: ({ headers }) => json({ status: "ok" }, { headers }) },
};

/**
 * The handler of a path; undefined for an unknown path and for one that is not exposed.
 *
 * @param path Case-sensitive; one trailing slash is ignored.
 * @param exposed Endpoints to serve, without `/v1/`.
 *   @default all
 */
export function routeOf(path: string, exposed: readonly string[] | undefined): RouteEntry | undefined {
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (Object.hasOwn(others, plain)) return others[plain];
  if (!plain.startsWith(prefix)) return undefined;
  const name = plain.slice(prefix.length);
  const isExposed = (endpoint: string) => exposed?.includes(endpoint) ?? true;
  if (Object.hasOwn(endpoints, name)) return isExposed(name) ? endpoints[name] : undefined;
  return name.startsWith("models/") && isExposed("models") ? oneModel : undefined;
}

async function chatCompletions(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, request, requestId, headers, onEnd, client } = exchange;
  const { clock } = mesh.runtime;
  const from = clock.monotonic();
  const limitMs = timeoutOf(request, mesh.settings.deadlineMs);
  const { value, text } = await readJson(request, () => exchange.body({ startedAt: from, limitMs }));
  const body = checkChatRequest(value);
  if (body.model === undefined) throw missing("model");
  const routingConstraints = readRoutingConstraints(request.headers.get("x-mesh-route"), body);
  const session = sessionOf(request.headers.get("x-mesh-session"), body);
  const answer = await mesh.chat({
    id: requestId,
    operation: "chat",
    delivery: body.stream === true ? "stream" : "sync",
    model: body.model,
    body,
    text,
    signal: request.signal,
    timeoutMs: Math.max(0, Math.min(limitMs, routingConstraints?.deadlineMs ?? Infinity) - (clock.monotonic() - from)),
    routingConstraints,
    client,
    ...(session === undefined ? {} : { session }),
  });
  addRoutingHeaders(headers, answer);
  if (answer.kind === "stream") {
    headers["content-type"] = "text/event-stream";
    headers["cache-control"] = "no-cache";
    return { status: 200, headers, body: new EventBody(answer.stream, { requestId, onEnd }) };
  }
  const { wire, body: parsed } = answer.response;
  headers["content-type"] = "application/json";
  return { status: 200, headers, body: wire ?? JSON.stringify(parsed) };
}

/** The shorter of the configured deadline and the one that official clients send in seconds, ms. */
function timeoutOf(request: PlainRequest, ownMs: number): number {
  const clientMs = Math.round(Number(request.headers.get("x-stainless-timeout") ?? NaN) * 1000);
  return clientMs > 0 ? Math.min(clientMs, ownMs) : ownMs;
}

function listModels(exchange: Exchange): PlainResponse {
  return json(listOf(exchange), { headers: exchange.headers });
}

/** The models and pools that a client may use: those of its own where it has any. */
function listOf({ mesh, client }: Exchange): ModelList {
  const { object, data } = modelList(mesh.registry, mesh.runtime.clock);
  const pools = client?.pools;
  return {
    object,
    data: pools === undefined ? data : data.filter(({ id, mesh }) => mesh.type === "pool" && pools.has(id)),
  };
}

function oneListedModel(exchange: Exchange): PlainResponse {
  const { path, headers } = exchange;
  const id = decoded(path.slice(`${prefix}models/`.length));
  const entry = listOf(exchange).data.find((one) => one.id === id);
  if (entry === undefined) {
    throw new ModelNotFoundError(`The model or pool ${JSON.stringify(id.slice(0, 80))} does not exist`);
  }
  return json(entry, { headers });
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a stray percent sign: then it is part of the name
  }
}

function health({ mesh, caller, startedAt, headers }: Exchange): PlainResponse {
  const pools = Object.entries(mesh.poolStatus()).filter(([, { total }]) => total > 0);
  const up = pools.filter(([, { status }]) => status === "ok").length;
  const status = up === pools.length ? "ok" : up > 0 ? "degraded" : "unavailable";
  const sender = caller();
  const shown = pools.filter(([name]) => sender?.client?.pools?.has(name) ?? true);
  const counts = Object.fromEntries(shown.map(([name, { active, standby }]) => [name, { active, standby }]));
  const uptimeMs = mesh.runtime.clock.monotonic() - startedAt;
  const details = sender !== undefined ? { version, uptime_seconds: Math.floor(uptimeMs / 1000), pools: counts } : {};
  return json({ status, ...details }, { headers, status: status === "unavailable" ? 503 : 200 });
}

function metrics({ mesh, client, headers }: Exchange): PlainResponse {
  const isAdministrator = client === undefined || client.isUnlimited;
  const scope = isAdministrator ? undefined : { client: client.name, pools: client.pools };
  headers["content-type"] = prometheusMediaType;
  return { status: 200, headers, body: prometheusText(metricFamilies(mesh, scope)) };
}

function readiness({ isDraining, headers }: Exchange): PlainResponse {
  return json({ status: isDraining ? "draining" : "ok" }, { headers, status: isDraining ? 503 : 200 });
}
