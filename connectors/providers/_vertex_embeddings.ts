/**
 * Embeddings on Vertex AI.
 *
 * Sources: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api;
 * github.com/vercel/ai, `packages/google-vertex` (requests, responses).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { EmbeddedInputs } from "./_cloud_embeddings.ts";
import { asObject, asObjects } from "./_gemini_wire.ts";

/**
 * Maximum inputs of a model per call of `predict`.
 *
 * @param model The model id.
 */
export function findMaxInputs(model: string): number {
  return model.startsWith("gemini-embedding") ? 1 : 250;
}

/**
 * The body of `predict`.
 *
 * @param dimensions Dimensions of a vector; undefined for the model's default.
 */
export function toPredict(inputs: readonly string[], dimensions: number | undefined): JsonObject {
  const instances = inputs.map((content) => ({ content }));
  return dimensions === undefined ? { instances } : { instances, parameters: { outputDimensionality: dimensions } };
}

/**
 * The vectors of a response.
 *
 * @param response The response of `predict`.
 */
export function fromPredict(response: JsonObject): EmbeddedInputs {
  const found = asObjects(response.predictions).map(({ embeddings }) => asObject(embeddings));
  const counts = found.map((one) => asObject(one?.statistics)?.token_count);
  const isCounted = counts.every((count): count is number => typeof count === "number");
  return {
    vectors: found.map((one) => one?.values),
    tokens: isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  };
}
