/**
 * Embeddings by vendors with their own parameters for the input type and the dimensions.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readJsonObject } from "./_base.ts";
import { throwIfError, upstreamError } from "./_http.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { Post } from "./_openai_vendor.ts";

/** The intended use of an embedding. */
type Purpose = "query" | "document" | "classification" | "clustering";

/**
 * A vendor's dialect of embeddings. Vectors are always requested as numbers, whichever encoding the client requests.
 */
export interface EmbeddingWire {
  /** Path relative to the vendor's base URL; may start with `../`. */
  readonly path: string;
  /** Creates the request body, without vendor-specific parameters. */
  readonly write: (order: {
    /** The upstream model id. */
    readonly model: string;
    readonly inputs: readonly string[];
    /** Dimensions of a vector; undefined for the model's default. */
    readonly dimensions: number | undefined;
    /** The vendor's value for the input type; undefined if not specified. */
    readonly purpose: string | undefined;
  }) => JsonObject;
  /** The vendor's values for the input type. */
  readonly purposes: { readonly [purpose in Purpose]?: string };
  /** The parameter for the input type. Unknown values are passed through. */
  readonly purposeName: "input_type" | "task";
  /** Further parameters of the vendor's own. */
  readonly own: readonly string[];
  /** Extracts the vectors from a response, in input order; OpenAI's location by default. */
  readonly vectorsIn?: (body: JsonObject) => unknown;
  /** Extracts the token count from a response; `usage.total_tokens` by default. */
  readonly tokensIn?: (body: JsonObject) => unknown;
  /** Whether its vectors may not be normalized to length 1, as OpenAI's are. */
  readonly varyInLength?: boolean;
}

/** The meaning of the vendors' values. */
const meanings: Readonly<Record<string, Purpose>> = {
  query: "query",
  search_query: "query",
  "retrieval.query": "query",
  document: "document",
  passage: "document",
  search_document: "document",
  "retrieval.passage": "document",
  classification: "classification",
  clustering: "clustering",
  separation: "clustering",
};

const read: readonly string[] = ["model", "input", "dimensions", "encoding_format", "stream"];
const purposeNames = ["input_type", "task"] as const;

/** Embeddings by a vendor. The input type (`input_type`, or `task`) is mapped to the vendor's value. */
export function embeddingsIn(dialect: EmbeddingWire): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, model } = request;
    const inputs = listEmbeddingInputs(request);
    const purpose = purposeIn(body, dialect);
    const declared = new Set([...read, ...dialect.own, ...(purpose === undefined ? [] : purposeNames)]);
    const left = undeclaredParams(body, declared);
    if (left.length > 0) options.reportDropped?.(left);
    const json = {
      ...Object.fromEntries(dialect.own.flatMap((name) => body[name] === undefined ? [] : [[name, body[name]]])),
      ...dialect.write({ model: model.id, inputs, dimensions: body.dimensions as number | undefined, purpose }),
    };
    const response = await readJsonObject(await post(dialect.path, { ...request, json }, options));
    throwIfError(response);
    return { body: toEmbeddings(response, { dialect, request, count: inputs.length }) };
  };
}

/**
 * The input strings of a request.
 *
 * @throws {UpstreamError} `request` for token ids, which belong to another vendor's vocabulary.
 */
export function listEmbeddingInputs({ body: { input } }: OperationRequest): readonly string[] {
  const inputs = [input].flat();
  if (inputs.every((text) => typeof text === "string")) return inputs;
  const message = "The model accepts strings, not token ids";
  throw upstreamError(400, { message, type: "invalid_request_error", param: "input", code: "invalid_value" });
}

function purposeIn(body: OperationRequest["body"], { purposes, purposeName }: EmbeddingWire): string | undefined {
  const purpose = purposeNames.map((name) => body[name]).find((candidate) => typeof candidate === "string") as
    | string
    | undefined;
  if (purpose === undefined) return undefined;
  const meaning = Object.hasOwn(meanings, purpose) ? meanings[purpose] : undefined;
  return meaning === undefined ? (body[purposeName] === purpose ? purpose : undefined) : purposes[meaning];
}

function toEmbeddings(
  response: JsonObject,
  { dialect, request, count }: {
    readonly dialect: EmbeddingWire;
    readonly request: OperationRequest;
    readonly count: number;
  },
): JsonObject {
  const vectors = (dialect.vectorsIn ?? indexedVectors)(response);
  if (!Array.isArray(vectors) || vectors.length !== count || !vectors.every(isVector)) {
    throw new UpstreamError("The provider's response does not have one vector per input", { kind: "invalid_response" });
  }
  const tokens = dialect.tokensIn === undefined ? Object(response.usage).total_tokens : dialect.tokensIn(response);
  const shape = dialect.varyInLength ? normalized : (vector: readonly number[]) => vector;
  return {
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: shape(vector) })),
    model: request.model.id,
    ...(Number.isInteger(tokens) ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {}),
  };
}

/** Whether a value is a vector: numbers, at least one. */
export function isVector(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "number");
}

/** Extracts vectors from a list of objects with `index` and `embedding`. */
function indexedVectors({ data }: JsonObject): unknown {
  if (!Array.isArray(data)) return undefined;
  const vectors: unknown[] = new Array(data.length).fill(undefined);
  for (const [at, item] of data.entries()) {
    const { index = at, embedding } = Object(item);
    if (Number.isInteger(index) && index >= 0 && index < vectors.length) vectors[index] = embedding;
  }
  return vectors;
}

/**
 * Normalizes a vector to length 1.
 *
 * @param vector Its numbers; a zero vector is returned unchanged.
 */
export function normalized(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length > 0 ? vector.map((value) => value / length) : vector;
}
