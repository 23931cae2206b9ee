/**
 * Embeddings by Vertex AI.
 *
 * Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api;
 * github.com/vercel/ai, `packages/google-vertex` (requests, responses).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { EmbeddedTexts } from "./_cloud_embeddings.ts";
import { asObject, asObjects } from "./_gemini_wire.ts";

/**
 * Texts that a model takes in one call of `predict`.
 *
 * @param model Its id.
 */
export function maxTextsOf(model: string): number {
  return model.startsWith("gemini-embedding") ? 1 : 250;
}

/**
 * The body of `predict`.
 *
 * @param texts The texts.
 * @param dimensions Numbers in a vector; undefined: the model's own.
 */
export function toPredict(texts: readonly string[], dimensions: number | undefined): JsonObject {
  const instances = texts.map((content) => ({ content }));
  return dimensions === undefined ? { instances } : { instances, parameters: { outputDimensionality: dimensions } };
}

/**
 * The vectors of a response.
 *
 * @param answer Of `predict`.
 */
export function fromPredict(answer: JsonObject): EmbeddedTexts {
  const found = asObjects(answer.predictions).map(({ embeddings }) => asObject(embeddings));
  const counts = found.map((one) => asObject(one?.statistics)?.token_count);
  const isCounted = counts.every((count): count is number => typeof count === "number");
  return {
    vectors: found.map((one) => one?.values),
    tokens: isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  };
}
