/**
 * Embeddings through the Gemini API.
 *
 * Sources: https://ai.google.dev/api/embeddings (`batchEmbedContents`),
 * https://ai.google.dev/gemini-api/docs/embeddings (vectors of fewer numbers than the model's own are not normalized).
 * @module
 */
import type { EmbeddingResponse, JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isVector, normalized } from "./_embeddings.ts";
import { asObjects } from "./_gemini_wire.ts";
import { upstreamError } from "./_http.ts";

/** Members that are translated, or have no meaning in the Gemini API. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "input", "dimensions", "encoding_format"]);

/**
 * The body of `batchEmbedContents`.
 *
 * @param request A request with string inputs.
 * @throws {UpstreamError} `request` for token ids, which belong to another vendor's vocabulary.
 */
export function toBatchEmbedContents({ model, body }: OperationRequest): JsonObject {
  const inputs = [body.input].flat();
  if (!inputs.every((text) => typeof text === "string")) {
    const message = "The model accepts strings, not token ids";
    throw upstreamError(400, { message, type: "invalid_request_error", param: "input", code: "invalid_value" });
  }
  const name = model.id.includes("/") ? model.id : `models/${model.id}`;
  const size = body.dimensions === undefined ? {} : { outputDimensionality: body.dimensions };
  return { requests: inputs.map((text) => ({ model: name, content: { parts: [{ text }] }, ...size })) };
}

/** The parameters that the translation drops. */
export function droppedEmbeddingParams({ body }: OperationRequest): string[] {
  return Object.keys(body).filter((name) => !translated.has(name));
}

/**
 * Converts a response to OpenAI's shape. Gemini reports no usage.
 *
 * @param data The response of `batchEmbedContents`.
 * @throws {UpstreamError} `invalid_response` unless there is one vector per input.
 */
export function fromGeminiEmbeddings(
  data: JsonObject,
  { model, body }: OperationRequest,
): Omit<EmbeddingResponse, "usage"> {
  const vectors = asObjects(data.embeddings).map(({ values }) => values);
  if (vectors.length !== [body.input].flat().length || !vectors.every(isVector)) {
    throw new UpstreamError("The provider's response does not have one vector per input", { kind: "invalid_response" });
  }
  const shape = body.dimensions === undefined ? (vector: readonly number[]) => vector : normalized;
  return {
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: shape(vector) })),
    model: model.id,
  };
}
