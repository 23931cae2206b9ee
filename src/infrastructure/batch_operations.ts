/**
 * What the lines of a batch may ask for.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import { bodyChecker } from "../pipeline/check_body.ts";
import type { CheckedOperation, Operation, RequestNeeds } from "../pipeline/operation.ts";
import { brokenLine } from "./json_lines.ts";

/** What all lines of a batch ask for. */
export interface BatchOperation {
  /** As lines have it, such as `/v1/chat/completions`. */
  readonly endpoint: string;
  readonly operation: Operation;
  /** What a line without `model` goes to. */
  readonly defaultModel?: string | undefined;
  check(body: unknown): RequestBody;
  needsOf(body: RequestBody): RequestNeeds;
  /** What a response took. */
  readUsage: Operation["readUsage"];
}

type Loaded = CheckedOperation<RequestBody>;

const own: Readonly<Record<string, () => Promise<unknown>>> = {
  "/v1/chat/completions": async () => (await import("../pipeline/operations/chat.ts")).chat,
  "/v1/embeddings": async () => (await import("../pipeline/operations/embeddings.ts")).embeddings,
  "/v1/moderations": async () => (await import("../pipeline/operations/moderation.ts")).moderation,
  "/v1/images/generations": async () => (await import("../pipeline/operations/image.ts")).image,
};

/** Endpoints whose bodies go to the provider as they are, but for the model: those of chat models in other words. */
const plain: readonly string[] = ["/v1/responses", "/v1/completions"];

/** Characters a token has at least, on average: estimates for money are high. */
const charsPerToken = 3;

/**
 * What lines of a `url` ask for.
 *
 * @param url As the line has it.
 * @param number Of the line.
 * @throws {UnsupportedRequestError} For one that batches do not have.
 */
export async function batchOperationFor(url: unknown, number: number): Promise<BatchOperation> {
  const endpoint = String(url);
  const load = Object.hasOwn(own, endpoint) ? own[endpoint] : undefined;
  if (load === undefined && !plain.includes(endpoint)) {
    const known = [...Object.keys(own), ...plain].join(", ");
    throw brokenLine(number, `has a "url" that batches do not have: use one of ${known}`);
  }
  const operation = await (load ?? own["/v1/chat/completions"]!)() as Loaded;
  if (load === undefined) return plainOperation(endpoint, operation);
  return {
    endpoint,
    operation,
    defaultModel: operation.defaultModel,
    check: (body) => operation.check(body, []),
    needsOf: (body) => operation.needsOf(body, []),
    readUsage: (answer, context) => operation.readUsage(answer, context),
  };
}

/** The leaves are chat's; nothing is reworded, and what a request takes is estimated by its length. */
function plainOperation(endpoint: string, chat: Loaded): BatchOperation {
  const check = bodyChecker([]);
  return {
    endpoint,
    operation: { ...chat, reword: () => ({ edits: {}, dropped: [] }) },
    check,
    needsOf(body) {
      const { max_output_tokens, max_tokens } = body as Record<string, unknown>;
      const output = [max_output_tokens, max_tokens].find((one) => typeof one === "number") as number | undefined;
      const input = Math.ceil(JSON.stringify(body).length / charsPerToken);
      return { load: { input, output }, lackOf: () => undefined };
    },
    readUsage: (answer, context) => chat.readUsage(answer, context),
  };
}
