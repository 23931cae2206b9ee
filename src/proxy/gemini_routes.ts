/**
 * The paths of Gemini's dialect: methods of a model, and the list of models.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { addressOf, methods, modelsPath } from "../dialects/gemini/address.ts";
import { geminiEmbedding } from "../dialects/gemini/embedding.ts";
import { gemini } from "../dialects/gemini/gemini.ts";
import { listedModel } from "../dialects/gemini/model_list.ts";
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
  const { model, method } = addressOf(path) ?? { method: "" };
  const known = methods.find((name) => name === method);
  if (known !== undefined) return entries[known].handle(exchange);
  if (model === undefined || method !== undefined) throw unknownPath(exchange);
  if (model !== "") return json(toGeminiModel(listedFor(exchange, model).id, exchange), { headers });
  return json({ models: listFor(exchange).data.map(({ id }) => toGeminiModel(id, exchange)) }, { headers });
}

function toGeminiModel(id: string, { mesh: { registry } }: Exchange): JsonObject {
  const pool = registry.pool(id);
  if (pool !== undefined) return listedModel({ id, leaves: pool.members.flatMap(({ model }) => model.leaves) });
  const { leaves, info: { constraints } } = registry.model(id)!;
  return listedModel({ id, leaves, constraints });
}

function unknownPath({ path, request: { method } }: Exchange): HttpError {
  const known = methods.map((name) => `:${name}`).join(", ");
  return new HttpError(
    `Unknown request URL: ${method} ${path}; below ${modelsPath}/{model} there are ${known}`,
    { status: 404, code: "unknown_url" },
  );
}
