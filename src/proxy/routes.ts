/**
 * The proxy's paths.
 * @module
 */
import type { PlainRequest, PlainResponse } from "../contracts/shell.ts";
import { addressOf, methods as geminiMethods, modelsPath } from "../dialects/gemini/address.ts";
import { geminiWords } from "../dialects/gemini/words.ts";
import { messages } from "../dialects/messages/messages.ts";
import { responses } from "../dialects/responses/responses.ts";
import { audioTranslation } from "../pipeline/operations/audio_translation.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { documents } from "../pipeline/operations/documents.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { image } from "../pipeline/operations/image.ts";
import { imageEdit } from "../pipeline/operations/image_edit.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { rerank } from "../pipeline/operations/rerank.ts";
import { speech } from "../pipeline/operations/speech.ts";
import { search } from "../pipeline/operations/search.ts";
import { transcription } from "../pipeline/operations/transcription.ts";
import { decodeSegment } from "../util/decode_segment.ts";
import { version } from "../version.ts";
import { clientsRouteOf } from "./clients_route.ts";
import { countRoute } from "./count_route.ts";
import { dialectRoute } from "./dialect_route.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { events, metrics, status } from "./mesh_routes.ts";
import { json } from "./json.ts";
import { listedFor, listFor } from "./listed_models.ts";
import { objectRouteOf } from "./object_routes.ts";
import { override } from "./override_route.ts";
import { operationRoute } from "./operation_route.ts";

const prefix = "/v1/";
/** What `proxy.endpoints` calls all of Gemini's dialect. */
const geminiEndpoint = modelsPath.slice(1);

/** Paths below `/v1/`, which `proxy.endpoints` may limit. */
const endpoints: Readonly<Record<string, RouteEntry>> = {
  "chat/completions": operationRoute(chat),
  "messages": dialectRoute(messages),
  "responses": dialectRoute(responses),
  "messages/count_tokens": countRoute(messages),
  // imported with the first request
  "completions": {
    methods: ["POST"],
    isWork: true,
    handle: async (exchange) => (await import("./completions_route.ts")).handleCompletion(exchange),
  },
  "embeddings": operationRoute(embeddings),
  "images/edits": operationRoute(imageEdit),
  "images/generations": operationRoute(image),
  "moderations": operationRoute(moderation),
  "rerank": operationRoute(rerank),
  "audio/speech": operationRoute(speech),
  "search": operationRoute(search),
  "documents/parse": operationRoute(documents),
  "audio/transcriptions": operationRoute(transcription),
  "audio/translations": operationRoute(audioTranslation),
  "models": { methods: ["GET"], handle: listModels },
};

const oneModel: RouteEntry = { methods: ["GET"], handle: oneListedModel };

/** Gemini's dialect: imported with its first request. */
const geminiRoute = {
  dialect: geminiWords,
  handle: async (exchange: Exchange) => (await import("./gemini_routes.ts")).handleGemini(exchange),
};
const geminiList: RouteEntry = { ...geminiRoute, methods: ["GET"] };
const geminiUnknown: RouteEntry = { ...geminiRoute, methods: ["GET", "POST", "PUT", "PATCH", "DELETE"] };
const geminiMethod: RouteEntry = { ...geminiRoute, methods: ["POST"], isWork: true };

const others: Readonly<Record<string, RouteEntry>> = {
  "/health": { methods: ["GET"], isPublic: true, handle: health },
  "/ready": { methods: ["GET"], isPublic: true, handle: readiness },
  "/metrics": { methods: ["GET"], handle: metrics },
  "/mesh/status": { methods: ["GET"], handle: status },
  "/mesh/events": { methods: ["GET"], handle: events },
  "/mesh/activate": override("activate"),
  "/mesh/deactivate": override("deactivate"),
  "/ui": {
    methods: ["GET"],
    isPublic: true,
    handle: async (exchange) => (await import("./ui.ts")).dashboard(exchange),
  },
  "/live": { methods: ["GET"], isPublic: true, handle: ({ headers }) => json({ status: "ok" }, { headers }) },
};

/**
 * The handler of a path; undefined for an unknown path and for one that is not exposed.
 *
 * @param path Case-sensitive; one trailing slash is ignored.
 * @param options Endpoints to serve, without `/v1/` (`v1beta/models` are all of Gemini's dialect; all unless given), and the
 *   request's headers.
 */
export function routeOf(path: string, { exposed, headers }: RouteOptions): RouteEntry | undefined {
  const plain = path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
  if (Object.hasOwn(others, plain)) return others[plain];
  const isExposed = (endpoint: string) => exposed?.includes(endpoint) ?? true;
  if (plain.startsWith("/v1beta/")) return isExposed(geminiEndpoint) ? geminiRouteOf(plain) : undefined;
  if (!plain.startsWith(prefix)) return clientsRouteOf(plain);
  const name = plain.slice(prefix.length);
  if (name.startsWith("models")) {
    const entry = isExposed(geminiEndpoint) ? geminiRouteIn(plain, headers) : undefined;
    if (entry !== undefined) return entry;
  }
  if (Object.hasOwn(endpoints, name)) return isExposed(name) ? endpoints[name] : undefined;
  return name.startsWith("models/") && isExposed("models") ? oneModel : objectRouteOf(name, isExposed);
}

interface RouteOptions {
  readonly exposed: readonly string[] | undefined;
  readonly headers: PlainRequest["headers"];
}

function geminiRouteOf(path: string): RouteEntry {
  const address = addressOf(path);
  if (address === undefined) return geminiUnknown;
  return address.method === undefined ? geminiList : geminiMethod;
}

/** Newer clients of Gemini's API ask below `/v1`, too: its methods are known by their names, its lists by the header. */
function geminiRouteIn(path: string, headers: PlainRequest["headers"]): RouteEntry | undefined {
  const address = addressOf(path);
  if (geminiMethods.some((name) => name === address?.method)) return geminiMethod;
  return address?.method === undefined && headers.has("x-goog-api-key") ? geminiList : undefined;
}

function listModels(exchange: Exchange): PlainResponse {
  return json(listFor(exchange), { headers: exchange.headers });
}

function oneListedModel(exchange: Exchange): PlainResponse {
  const { path, headers } = exchange;
  return json(listedFor(exchange, decodeSegment(path.slice(`${prefix}models/`.length))), { headers });
}

async function health({ mesh, caller, overview, headers }: Exchange): Promise<PlainResponse> {
  const pools = Object.entries(mesh.poolStatus()).filter(([, { total }]) => total > 0);
  const up = pools.filter(([, { status }]) => status === "ok").length;
  const status = up === pools.length ? "ok" : up > 0 ? "degraded" : "unavailable";
  const sender = caller();
  const shown = pools.filter(([name]) => sender?.client?.pools?.has(name) ?? true);
  const counts = Object.fromEntries(shown.map(([name, { active, standby }]) => [name, { active, standby }]));
  const uptime = async () => ({ uptime_seconds: Math.floor((await overview.read("uptime")).uptimeMs / 1000) });
  const details = sender !== undefined ? { version, ...await uptime(), pools: counts } : {};
  return json({ status, ...details }, { headers, status: status === "unavailable" ? 503 : 200 });
}

function readiness({ isDraining, headers }: Exchange): PlainResponse {
  return json({ status: isDraining ? "draining" : "ok" }, { headers, status: isDraining ? 503 : 200 });
}
