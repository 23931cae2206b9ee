/**
 * The operation `embeddings`: vectors of strings.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { Embedding, EmbeddingRequest, EmbeddingResponse } from "../../contracts/openai.ts";
import type { CompletionResponse, ModelInfo } from "../../contracts/provider.ts";
import { UpstreamError } from "../../errors.ts";
import { base64OfFloats, floatsOfBase64 } from "../../util/float_base64.ts";
import { isObject } from "../../util/is_object.ts";
import { addText, emptyText, type TextSize } from "../request_size.ts";
import { bodyChecker, checkOptional, invalid, isNonNegativeInteger, missing, wrongType } from "../check_body.ts";
import { countMinTokens, countTokens } from "../estimate.ts";
import type { CheckedOperation, RequestNeeds } from "../operation.ts";
import { readInputUsage } from "./_input_usage.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker(["input", "encoding_format", "dimensions"]);

/** Embeddings: complete responses, one vector per input. */
export const embeddings: CheckedOperation<EmbeddingRequest, EmbeddingResponse> = {
  name: "embeddings",
  mayHedge: () => true,
  serves: (leaf) => servesOperation(leaf, "embeddings"),
  check: checkEmbeddingRequest,
  measureNeeds: findEmbeddingNeeds,
  interchangeable(members, first) {
    const space = first.model.info.embedding_space;
    return members.filter(({ model }) => model.info.embedding_space === space);
  },
  reword: dropRefused,
  finish: inRequestedFormat,
  isEmpty: ({ data }) => data.length === 0,
  usageIn: ({ usage }) => ({ usage, written: () => 0 }),
  readUsage: readInputUsage,
};

const dimensionsMember = {
  name: "dimensions",
  expected: "an integer, at least 1",
  isValid: (value: unknown) => isNonNegativeInteger(value) && value > 0,
};

function checkEmbeddingRequest(value: unknown): EmbeddingRequest {
  const body = checkMembers(value);
  const { input, encoding_format: format } = body;
  if (input === undefined) throw missing("input");
  checkInput(input);
  if (format !== undefined && format !== "float" && format !== "base64") {
    throw invalid('"encoding_format" has to be "float" or "base64"', "encoding_format");
  }
  checkOptional(body, dimensionsMember);
  return body as unknown as EmbeddingRequest;
}

function checkInput(input: unknown): void {
  if (typeof input === "string") {
    if (input === "") throw invalid('"input" must not be empty', "input");
    return;
  }
  if (!Array.isArray(input)) throw wrongType("input", "a string or an array", input);
  if (input.length === 0) throw invalid('"input" must not be empty', "input");
  if (input.every(isNonNegativeInteger)) return; // the tokens of one string
  input.forEach((item: unknown, index) => {
    const param = `input[${index}]`;
    const isTokens = Array.isArray(item) && item.every(isNonNegativeInteger);
    if (typeof item !== "string" && !isTokens) throw wrongType(param, "a string or an array of tokens", item);
    if (item.length === 0) throw invalid(`"${param}" must not be empty`, param);
  });
}

function findEmbeddingNeeds(body: EmbeddingRequest): RequestNeeds {
  const { input } = body;
  const all = emptyText();
  let tokens = 0;
  let longest = 0;
  for (const item of listInputs(input)) {
    const size = emptyText();
    if (typeof item === "string") addText(item, size);
    else tokens += item.length;
    longest = Math.max(longest, typeof item === "string" ? countMinTokens(size) : item.length);
    addSize(all, size);
  }
  return {
    load: { input: Math.ceil(countTokens(all)) + tokens, output: 0 },
    findLack: (model) => findEmbeddingLack(model, body, longest),
  };
}

function findEmbeddingLack(
  { constraints, parameters }: ModelInfo,
  body: EmbeddingRequest,
  longest: number,
): string | undefined {
  if (longest > (constraints?.context_window ?? Infinity)) return `room for an input of about ${longest} tokens`;
  return refusedBy(parameters, body);
}

/** The inputs one by one, each a string or its tokens. */
function listInputs(input: EmbeddingRequest["input"]): readonly (string | readonly number[])[] {
  if (typeof input === "string") return [input];
  return input.every((item) => typeof item === "number") ? [input] : input as (string | number[])[];
}

function addSize(sum: TextSize, { latin, alphabetic, ideographic }: TextSize): void {
  sum.latin += latin;
  sum.alphabetic += alphabetic;
  sum.ideographic += ideographic;
}

/** Converts vectors to the requested encoding, whichever the vendor uses, and adds members that some vendors omit. */
function inRequestedFormat(
  response: CompletionResponse<EmbeddingResponse>,
  request: EmbeddingRequest,
): CompletionResponse<EmbeddingResponse> {
  const { encoding_format: format = "float" } = request;
  const isText = format === "base64";
  const isRequested = ({ object, index, embedding }: Embedding) =>
    (typeof embedding === "string") === isText && object === "embedding" && typeof index === "number";
  const isComplete = response.body.object === "list" && hasCounts(response.body.usage);
  if (isComplete && response.body.data.every(isRequested)) return response;
  const { native, body: { data, ...body } } = response;
  return {
    body: {
      ...body,
      object: "list",
      usage: completeUsage(body.usage, request),
      data: data.map((item, position) => ({
        ...item,
        object: "embedding",
        index: typeof item.index === "number" ? item.index : position,
        embedding: rewritten(item.embedding, format),
      })),
    },
    ...(native === undefined ? {} : { native }),
  };
}

function hasCounts(usage: unknown): usage is EmbeddingResponse["usage"] {
  return isObject(usage) && isNonNegativeInteger(usage.prompt_tokens) && isNonNegativeInteger(usage.total_tokens);
}

/** Of an embedding, the total is the input. */
function completeUsage(usage: unknown, request: EmbeddingRequest): EmbeddingResponse["usage"] {
  const { prompt_tokens, total_tokens } = Object(usage);
  const complete = { prompt_tokens: prompt_tokens ?? total_tokens, total_tokens: total_tokens ?? prompt_tokens };
  return hasCounts(complete) ? { ...Object(usage), ...complete } : estimatedUsage(request);
}

/** Adds usage, which clients expect and some vendors do not report. */
function estimatedUsage(request: EmbeddingRequest): EmbeddingResponse["usage"] {
  const { load: { input } } = findEmbeddingNeeds(request);
  return { prompt_tokens: input, total_tokens: input };
}

function rewritten(vector: unknown, format: "float" | "base64"): Embedding["embedding"] {
  if (typeof vector === "string") return (format === "base64" ? vector : floatsIn(vector)) as number[];
  const floats = vector as number[];
  return (format === "base64" ? base64OfFloats(floats) : floats) as number[];
}

function floatsIn(text: string): number[] {
  try {
    return floatsOfBase64(text);
  } catch {
    throw new UpstreamError("The provider's response has a vector that is not base64", { kind: "invalid_response" });
  }
}
