/**
 * Embeddings through Bedrock's `InvokeModel`, in the request format of each model family. Titan accepts one input per
 * call, Cohere several.
 *
 * Sources: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed-text.html;
 * github.com/vercel/ai, `packages/amazon-bedrock` (Cohere's requests and responses, the header that counts).
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest } from "../../src/contracts/provider.ts";
import { upstreamError } from "./_http.ts";
import type { EmbeddedInputs } from "./_cloud_embeddings.ts";
import { findOwn } from "../../src/util/entries.ts";

/** Cohere's input types, by those of other vendors. */
const purposes: Readonly<Record<string, string>> = {
  query: "search_query",
  search_query: "search_query",
  "retrieval.query": "search_query",
  classification: "classification",
  clustering: "clustering",
};

/** A model family and its request format. */
interface Family {
  readonly maxInputs: number;
  readonly own: readonly string[];
  write(inputs: readonly string[], options: { dimensions: number | undefined; purpose: unknown }): JsonObject;
  /** Without `tokens` if only a response header reports them. */
  read(response: JsonObject): Pick<EmbeddedInputs, "vectors"> & Partial<EmbeddedInputs>;
}

const titan: Family = {
  maxInputs: 1,
  own: [],
  write: ([inputText], { dimensions }) => dimensions === undefined ? { inputText } : { inputText, dimensions },
  read: ({ embedding, inputTextTokenCount: tokens }) => ({
    vectors: [embedding],
    tokens: typeof tokens === "number" ? tokens : undefined,
  }),
};

const cohere: Family = {
  maxInputs: 96,
  own: ["input_type", "task"],
  write: (inputs, { dimensions, purpose }) => ({
    texts: inputs,
    input_type: findOwn(purposes, purpose) ?? "search_document",
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  read: ({ embeddings }) => ({
    vectors: Array.isArray(embeddings) ? embeddings : Object(embeddings).float,
  }),
};

const families: readonly (readonly [pattern: RegExp, family: Family])[] = [
  [/(^|\.|\/)amazon\.titan-embed-text-/, titan],
  [/(^|\.|\/)cohere\.embed-/, cohere],
];

/**
 * Whether a model is an embedding model of a known family.
 *
 * @param id The model id, which may have the prefix of an inference profile, such as `eu.`.
 */
export function embeds(id: string): boolean {
  return families.some(([pattern]) => pattern.test(id));
}

/**
 * The family of a model.
 *
 * @throws {UpstreamError} `request` if the family is unknown.
 */
export function findFamily({ model: { id } }: OperationRequest): Family {
  const [, family] = families.find(([pattern]) => pattern.test(id)) ?? [];
  if (family !== undefined) return family;
  const message = `Embeddings of "${id}" are not supported: only Titan and Cohere models are`;
  throw upstreamError(400, { message, type: "invalid_request_error", param: "model", code: "invalid_value" });
}
