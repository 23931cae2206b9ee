/**
 * Operations supported in batches.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import { bodyChecker } from "../pipeline/check_body.ts";
import type { CheckedOperation, Operation, RequestNeeds, ResponseUsage } from "../pipeline/operation.ts";
import { countVendorTools } from "../pipeline/estimate.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { embeddings } from "../pipeline/operations/embeddings.ts";
import { image } from "../pipeline/operations/image.ts";
import { moderation } from "../pipeline/operations/moderation.ts";
import { isObject } from "../util/is_object.ts";
import { countHostedCalls, toChatUsage } from "../util/responses_usage.ts";
import { brokenLine } from "./json_lines.ts";
import { toText } from "../util/to_text.ts";

/** The operation of all lines of a batch. */
export interface BatchOperation {
  /** The endpoint as lines name it, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly operation: Operation;
  /** The target of a line without `model`. */
  readonly defaultModel?: string | undefined;
  check(body: unknown): RequestBody;
  measureNeeds(body: RequestBody): RequestNeeds;
  /** Returns the usage as reported in a response, which may be an error. */
  usageIn(body: Readonly<Record<string, unknown>>): ResponseUsage;
  /** Returns the usage of a response. */
  readUsage: Operation["readUsage"];
}

/** By endpoint. Each checks the bodies that it then receives. */
const own = {
  "/v1/chat/completions": chat,
  "/v1/embeddings": embeddings,
  "/v1/moderations": moderation,
  "/v1/images/generations": image,
} as unknown as Readonly<Record<string, CheckedOperation<RequestBody>>>;

/** Endpoints whose bodies are sent unchanged except for the model: other APIs of chat models. */
const plain: readonly string[] = ["/v1/responses", "/v1/completions"];

/** Minimum average number of characters per token; low, so that cost estimates are high. */
const charsPerToken = 3;

/**
 * Returns the operation of a line.
 *
 * @param url The `url` of the line.
 * @throws {UnsupportedRequestError} When batches do not support the URL.
 */
export function batchOperationFor(url: unknown, number: number): BatchOperation {
  const endpoint = toText(url);
  const operation = Object.hasOwn(own, endpoint) ? own[endpoint] : undefined;
  if (operation === undefined && !plain.includes(endpoint)) {
    const names = [...Object.keys(own), ...plain].join(", ");
    throw brokenLine(number, `has a "url" that is not supported in batches: use one of ${names}`);
  }
  if (operation === undefined) return plainOperation(endpoint);
  return {
    endpoint,
    operation,
    defaultModel: operation.defaultModel,
    check: (body) => operation.check(body, []),
    measureNeeds: (body) => operation.measureNeeds(body, []),
    usageIn: (body) => ({ ...operation.usageIn(body), written: () => 0 }),
    readUsage: (reported, context) => operation.readUsage(reported, context),
  };
}

/**
 * Returns an operation with the capabilities of chat, which does not adapt requests and estimates usage by their
 * length.
 */
function plainOperation(endpoint: string): BatchOperation {
  const chat = own["/v1/chat/completions"]!;
  const check = bodyChecker([]);
  return {
    endpoint,
    operation: { ...chat, reword: () => ({ edits: {}, dropped: [] }) },
    check,
    measureNeeds(body) {
      const { max_output_tokens, max_tokens } = body as Record<string, unknown>;
      const output = [max_output_tokens, max_tokens].find((limit) => typeof limit === "number") as number | undefined;
      const input = Math.ceil(JSON.stringify(body).length / charsPerToken);
      const units = { hasFees: true as const, ...countVendorTools({ ...body }) };
      return { load: { input, output, units }, findLack: () => undefined };
    },
    usageIn: plainUsageIn,
    readUsage: (reported, context) => chat.readUsage(reported, context),
  };
}

/** Converts usage to that of chat. */
function plainUsageIn(body: Readonly<Record<string, unknown>>): ResponseUsage {
  const { usage } = body;
  if (!isObject(usage)) return { usage: undefined, written: () => 0 };
  const isOfResponses = usage.input_tokens !== undefined && usage.prompt_tokens === undefined;
  const billed = isOfResponses ? countHostedCalls(body) : undefined;
  return { usage: isOfResponses ? toChatUsage(usage) : usage, billed, written: () => 0 };
}
