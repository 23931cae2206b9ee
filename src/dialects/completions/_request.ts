/**
 * Converts a text completion request to a chat request.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `POST /completions`.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import type { UnsupportedRequestError } from "../../errors.ts";
import { bodyChecker, checkOptional, invalid, isWhole, missing, wrongType } from "../../pipeline/check_body.ts";
import { NativeOnly } from "../native_only.ts";

/** Members that chat names differently or does not support. */
const own: readonly string[] = ["prompt", "suffix", "echo", "best_of", "logprobs"];

const checkMembers = bodyChecker([
  ...own,
  ...["stream", "stream_options", "max_tokens", "temperature", "top_p", "n", "stop", "seed", "logit_bias"],
  ...["presence_penalty", "frequency_penalty"],
]);

/** Maximum number of prompts; each becomes a request of its own. */
const maxPrompts = 100;

/** Response options of a prompt. */
export interface TextForm {
  /** Text to prepend to the response; undefined unless requested. */
  readonly echo: string | undefined;
  /** Whether a stream ends with token counts. */
  readonly hasUsage: boolean;
  /** Index of the first choice. */
  readonly firstIndex: number;
}

/** A chat request, and what it cannot express. */
interface CompletionForm {
  readonly chat: ChatCompletionRequest;
  readonly form: TextForm;
  readonly dropped: readonly string[];
  /** The error if no model with native support is eligible; undefined if chat can express the request. */
  readonly nativeOnly: UnsupportedRequestError | undefined;
}

/**
 * Validates a request and extracts its prompts.
 *
 * @param value The parsed body, unvalidated.
 * @returns The validated body, and at least one prompt.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function extractPrompts(value: unknown): { readonly body: JsonObject; readonly prompts: readonly string[] } {
  const body: JsonObject = checkMembers(value);
  const { prompt } = body;
  if (prompt === undefined || prompt === null) throw missing("prompt");
  const prompts: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (prompts.length === 0) throw invalid('"prompt" must contain at least one string', "prompt");
  if (prompts.length > maxPrompts) throw invalid(`"prompt" must not contain more than ${maxPrompts} strings`, "prompt");
  prompts.forEach((one, index) => {
    if (typeof one === "string") return;
    const param = Array.isArray(prompt) ? `prompt[${index}]` : "prompt";
    if (typeof one !== "number" && !Array.isArray(one)) throw wrongType(param, "a string", one);
    throw invalid('"prompt" has tokens, which belong to one model\'s vocabulary: send text', "prompt");
  });
  return { body, prompts: prompts as string[] };
}

/**
 * Converts the request for one prompt.
 *
 * @param body The validated body.
 * @param index Index of the prompt in the request.
 * @throws {UnsupportedRequestError} If the body is malformed.
 */
export function createPromptRequest(
  body: JsonObject,
  { prompt, index }: { prompt: string; index: number },
): CompletionForm {
  const { suffix, echo, best_of: best, logprobs, n, stream_options: options, ...others } = body;
  checkOptional(body, { name: "suffix", expected: "a string", isValid: (given) => typeof given === "string" });
  checkOptional(body, { name: "echo", expected: "a boolean", isValid: (given) => typeof given === "boolean" });
  checkOptional(body, { name: "best_of", expected: "an integer", isValid: isWhole });
  checkOptional(body, { name: "logprobs", expected: "an integer", isValid: isWhole });
  checkOptional(body, { name: "n", expected: "an integer", isValid: isWhole });
  const count = typeof n === "number" ? n : undefined;
  const { prompt: _, ...known } = others;
  const chat = {
    ...known,
    messages: [{ role: "user", content: prompt }],
    ...(count === undefined ? {} : { n: count }),
    ...(typeof logprobs === "number" ? { logprobs: true, ...(logprobs > 0 ? { top_logprobs: logprobs } : {}) } : {}),
  };
  const hasUsage = (options as JsonObject | null | undefined)?.include_usage === true;
  // log probabilities of the prompt's own tokens
  const wantsOwnTokens = echo === true && typeof logprobs === "number";
  const nativeOnly = new NativeOnly();
  if (typeof suffix === "string" && suffix !== "") nativeOnly.add("suffix");
  if (wantsOwnTokens) nativeOnly.add("echo");
  return {
    chat: chat as unknown as ChatCompletionRequest,
    form: { echo: echo === true && !wantsOwnTokens ? prompt : undefined, hasUsage, firstIndex: index * (count ?? 1) },
    dropped: typeof best === "number" && best > (count ?? 1) ? ["best_of"] : [],
    nativeOnly: nativeOnly.error,
  };
}
