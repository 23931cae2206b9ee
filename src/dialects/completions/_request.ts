/**
 * From a request of text completion to one of chat.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `POST /completions`.
 * @module
 */
import type { ChatCompletionRequest, JsonObject } from "../../contracts/openai.ts";
import { bodyChecker, checkOptional, invalid, isWhole, missing, wrongType } from "../../pipeline/check_body.ts";

/** Members with other words in chat, or none. */
const own: readonly string[] = ["prompt", "suffix", "echo", "best_of", "logprobs"];

const checkMembers = bodyChecker([
  ...own,
  ...["stream", "stream_options", "max_tokens", "temperature", "top_p", "n", "stop", "seed", "logit_bias"],
  ...["presence_penalty", "frequency_penalty"],
]);

/** Each is a request of its own. */
const maxPrompts = 100;

/** What the answer has to be like. */
export interface TextForm {
  /** Begins the text; undefined where the client does not want it. */
  readonly echo: string | undefined;
  /** Whether a stream ends with the token counts. */
  readonly hasUsage: boolean;
  /** Index of the first choice. */
  readonly firstIndex: number;
}

/** A request in chat's words, and what those leave out. */
interface ChatForm {
  readonly chat: ChatCompletionRequest;
  readonly form: TextForm;
  readonly dropped: readonly string[];
  /** The member that chat has no words for, and that matters. */
  readonly unsaid: string | undefined;
}

/**
 * The prompts of a request.
 *
 * @param value Anything.
 * @returns The checked body, and at least one prompt.
 * @throws {UnsupportedRequestError} For what is malformed.
 */
export function promptsOf(value: unknown): { readonly body: JsonObject; readonly prompts: readonly string[] } {
  const body: JsonObject = checkMembers(value);
  const { prompt } = body;
  if (prompt === undefined || prompt === null) throw missing("prompt");
  const prompts: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (prompts.length === 0) throw invalid('"prompt" has to have at least one text', "prompt");
  if (prompts.length > maxPrompts) throw invalid(`"prompt" may have up to ${maxPrompts} texts`, "prompt");
  prompts.forEach((one, index) => {
    if (typeof one === "string") return;
    const param = Array.isArray(prompt) ? `prompt[${index}]` : "prompt";
    if (typeof one !== "number" && !Array.isArray(one)) throw wrongType(param, "a string", one);
    throw invalid('"prompt" has tokens, which are of one model\'s vocabulary: send text', "prompt");
  });
  return { body, prompts: prompts as string[] };
}

/**
 * Translates a request with one prompt.
 *
 * @param body Checked.
 * @param prompt The prompt.
 * @param index Its place among those of the request.
 * @throws {UnsupportedRequestError} For what is malformed.
 */
export function chatRequestOf(body: JsonObject, { prompt, index }: { prompt: string; index: number }): ChatForm {
  const { suffix, echo, best_of: best, logprobs, n, stream_options: options, ...others } = body;
  checkOptional(body, { name: "suffix", what: "a string", fits: (given) => typeof given === "string" });
  checkOptional(body, { name: "echo", what: "a boolean", fits: (given) => typeof given === "boolean" });
  checkOptional(body, { name: "best_of", what: "a whole number", fits: isWhole });
  checkOptional(body, { name: "logprobs", what: "a whole number", fits: isWhole });
  checkOptional(body, { name: "n", what: "a whole number", fits: isWhole });
  const count = typeof n === "number" ? n : undefined;
  const { prompt: _, ...known } = others;
  const chat = {
    ...known,
    messages: [{ role: "user", content: prompt }],
    ...(count === undefined ? {} : { n: count }),
    ...(typeof logprobs === "number" ? { logprobs: true, ...(logprobs > 0 ? { top_logprobs: logprobs } : {}) } : {}),
  };
  const hasUsage = (options as JsonObject | null | undefined)?.include_usage === true;
  // what the prompt's own tokens were worth
  const wantsOwnTokens = echo === true && typeof logprobs === "number";
  return {
    chat: chat as unknown as ChatCompletionRequest,
    form: { echo: echo === true && !wantsOwnTokens ? prompt : undefined, hasUsage, firstIndex: index * (count ?? 1) },
    dropped: typeof best === "number" && best > (count ?? 1) ? ["best_of"] : [],
    unsaid: typeof suffix === "string" && suffix !== "" ? "suffix" : wantsOwnTokens ? "echo" : undefined,
  };
}
