/**
 * Embeddings of vendors that have their own names for what a text is for, and for the size of a vector.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { readObject } from "./_base.ts";
import { throwIfError, upstreamError } from "./_http.ts";
import { leftOutBeside } from "./_left_out.ts";
import type { Post } from "./_openai_vendor.ts";

/** What a text is embedded for. */
type Purpose = "query" | "document" | "classification" | "clustering";

/** What is asked for, in no vendor's words. */
interface AskedEmbeddings {
  /** The vendor's name of the model. */
  readonly model: string;
  readonly texts: readonly string[];
  /** Numbers in a vector; undefined: the model's own. */
  readonly dimensions: number | undefined;
  /** The vendor's word for what the texts are for; undefined: not said. */
  readonly purpose: string | undefined;
}

/** How a vendor embeds. Vectors are asked for as numbers, whichever way the client wants them written. */
export interface EmbeddingDialect {
  /** Below the vendor's address, or from it by `../`. */
  readonly path: string;
  /** The request's body, without parameters of the vendor's own. */
  readonly write: (asked: AskedEmbeddings) => JsonObject;
  /** Its words for what a text is for. */
  readonly purposes: { readonly [purpose in Purpose]?: string };
  /** The parameter that says it, whose value goes as it is where no other vendor has the word. */
  readonly purposeName: "input_type" | "task";
  /** Further parameters that are the vendor's own. */
  readonly own: readonly string[];
  /** The vectors of a response, in order of the texts; where OpenAI's responses have them, when left out. */
  readonly vectorsIn?: (body: JsonObject) => unknown;
  /** The tokens that a response reports; `usage.total_tokens`, when left out. */
  readonly tokensIn?: (body: JsonObject) => unknown;
  /** Whether its vectors may have another length than 1, which OpenAI's have. */
  readonly varyInLength?: boolean;
}

/** What the vendors' words mean. */
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

/**
 * Embeddings by a vendor. What a text is for (`input_type`, or `task`) goes to each in its own word.
 *
 * @param dialect The vendor's.
 */
export function embeddingsIn(dialect: EmbeddingDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, model } = request;
    const texts = textsOf(request);
    const purpose = purposeIn(body, dialect);
    const known = new Set([...read, ...dialect.own, ...(purpose === undefined ? [] : purposeNames)]);
    const left = leftOutBeside(body, known);
    if (left.length > 0) options.reportDropped?.(left);
    const json = {
      ...Object.fromEntries(dialect.own.flatMap((name) => body[name] === undefined ? [] : [[name, body[name]]])),
      ...dialect.write({ model: model.id, texts, dimensions: body.dimensions as number | undefined, purpose }),
    };
    const response = await readObject(await post(dialect.path, { ...request, json }, options));
    throwIfError(response);
    return { body: embeddingsOf(response, { dialect, request, count: texts.length }) };
  };
}

/**
 * The texts of a request.
 *
 * @throws {UpstreamError} `request`, for tokens: they are of one vendor's vocabulary.
 */
export function textsOf({ body: { input } }: OperationRequest): readonly string[] {
  const inputs = [input].flat();
  if (inputs.every((text) => typeof text === "string")) return inputs;
  const message = "The model takes texts, not tokens";
  throw upstreamError(400, { message, type: "invalid_request_error", param: "input", code: "invalid_value" });
}

function purposeIn(body: OperationRequest["body"], { purposes, purposeName }: EmbeddingDialect): string | undefined {
  const said = purposeNames.map((name) => body[name]).find((one) => typeof one === "string") as string | undefined;
  if (said === undefined) return undefined;
  const meaning = Object.hasOwn(meanings, said) ? meanings[said] : undefined;
  return meaning === undefined ? (body[purposeName] === said ? said : undefined) : purposes[meaning];
}

function embeddingsOf(
  response: JsonObject,
  { dialect, request, count }: {
    readonly dialect: EmbeddingDialect;
    readonly request: OperationRequest;
    readonly count: number;
  },
): JsonObject {
  const vectors = (dialect.vectorsIn ?? indexedVectors)(response);
  const isVector = (one: unknown): one is readonly number[] =>
    Array.isArray(one) && one.length > 0 && one.every((value) => typeof value === "number");
  if (!Array.isArray(vectors) || vectors.length !== count || !vectors.every(isVector)) {
    throw new UpstreamError("The provider's answer has not one vector for each input", { kind: "invalid_response" });
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

/** The vectors of a list of objects that have an `index` and an `embedding`. */
function indexedVectors({ data }: JsonObject): unknown {
  if (!Array.isArray(data)) return undefined;
  const vectors: unknown[] = new Array(data.length).fill(undefined);
  for (const [at, one] of data.entries()) {
    const { index = at, embedding } = Object(one);
    if (Number.isInteger(index) && index >= 0 && index < vectors.length) vectors[index] = embedding;
  }
  return vectors;
}

/**
 * A vector of length 1.
 *
 * @param vector Its numbers; a zero vector stays as it is.
 */
export function normalized(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  return length > 0 ? vector.map((value) => value / length) : vector;
}
