/**
 * The paths of Gemini's dialect: methods of a model, and the list of models.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { findAddress, methods, modelsPath } from "../dialects/gemini/address.ts";
import { geminiEmbedding } from "../dialects/gemini/embedding.ts";
import { gemini } from "../dialects/gemini/gemini.ts";
import { formatListedModel } from "../dialects/gemini/model_list.ts";
import { findServed } from "../pipeline/select_pool.ts";
import type { ListedEntry } from "../registry/model_list.ts";
import { countRoute } from "./count_route.ts";
import { dialectRoute, embeddingRoute } from "./dialect_route.ts";
import { HttpError } from "./error_body.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { json } from "./json.ts";
import { listedFor, listFor } from "./listed_models.ts";

const chat = dialectRoute(gemini);
const embedding = embeddingRoute(geminiEmbedding);

const entries: Readonly<Record<typeof methods[number], RouteEntry>> = {
  generateContent: chat,
  streamGenerateContent: chat,
  countTokens: countRoute(gemini),
  embedContent: embedding,
  batchEmbedContents: embedding,
};

/** Handles requests to all of its paths. */
export function handleGemini(exchange: Exchange): PlainResponse | Promise<PlainResponse> {
  const { path, headers } = exchange;
  const { model, method } = findAddress(path) ?? { method: "" };
  const supported = methods.find((name) => name === method);
  if (supported !== undefined) return entries[supported].handle(exchange);
  if (model === undefined || method !== undefined) throw unknownGeminiPath(exchange);
  if (model !== "") return json(toGeminiModel(listedFor(exchange, model), exchange), { headers });
  return json({ models: listFor(exchange).data.map((entry) => toGeminiModel(entry, exchange)) }, { headers });
}

function toGeminiModel({ id, mesh: { type } }: ListedEntry, { client, mesh: { registry } }: Exchange): JsonObject {
  const models = findServed(id, { client }, registry) ?? [];
  const constraints = type === "model" ? models[0]?.info.constraints : undefined;
  return formatListedModel({ id, leaves: models.flatMap(({ leaves }) => leaves), constraints });
}

function unknownGeminiPath({ path, request: { method } }: Exchange): HttpError {
  const names = methods.map((name) => `:${name}`).join(", ");
  const [twice, first = "", rest = ""] = /^(\/v1(?:beta)?)(\/v1(?:beta)?\/models(?:\/.*)?)$/.exec(path) ?? [];
  const hint = twice === undefined
    ? `; below ${modelsPath}/{model} there are ${names}`
    : `. Remove "${first}" from the base URL: ${rest}`;
  return new HttpError(`Unknown request URL: ${method} ${path}${hint}`, { status: 404, code: "unknown_url" });
}
