/**
 * From a response of `generateContent` to a chat completion in OpenAI's dialect.
 *
 * Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type {
  AssistantMessage,
  ChatCompletion,
  Choice,
  CompletionUsage,
  FinishReason,
  JsonObject,
  ToolCall,
} from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { countOf } from "./_count.ts";
import { asNumber, asObject, asObjects, asText } from "./_gemini_wire.ts";

/** What a response needs that its body may lack. */
export interface ResponseFacts {
  /** The model's id, for a response that does not name its version. */
  readonly model: string;
  /** The response's id, for a response without one. */
  readonly id: string;
  /** Unix time, seconds. */
  readonly created: number;
}

/** What opens every response, complete or streamed. */
export interface AnswerHead {
  /** The response's id. */
  readonly id: string;
  /** Unix time, seconds. */
  readonly created: number;
  /** The concrete model. */
  readonly model: string;
}

const filtered: readonly string[] = [
  "BLOCKLIST",
  "IMAGE_PROHIBITED_CONTENT",
  "IMAGE_RECITATION",
  "IMAGE_SAFETY",
  "JAILBREAK",
  "MODEL_ARMOR",
  "PROHIBITED_CONTENT",
  "RECITATION",
  "SAFETY",
  "SPII",
];
/** `CONTINUATION`: the limit of one request, not of the response. */
const cutShort: readonly string[] = ["CONTINUATION", "MAX_TOKENS"];
/** The model went astray in the middle of its response: what there is of it must not pass for one. */
const broken: readonly string[] = [
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
  "TOO_MANY_TOOL_CALLS",
  "UNEXPECTED_TOOL_CALL",
];

/**
 * Translates a complete response.
 *
 * @param answer The parsed body.
 * @param facts What the body may lack.
 * @throws {UpstreamError} `invalid_response` when there is no answer in it.
 */
export function toChatCompletion(answer: JsonObject, facts: ResponseFacts): ChatCompletion {
  const { id, created, model } = headOf(answer, facts);
  const calls = new CallCounter(id);
  const candidates = asObjects(answer.candidates);
  if (candidates.length === 0 && !isBlocked(answer)) {
    throw new UpstreamError("The provider's answer has no candidates", { kind: "invalid_response" });
  }
  const choices = candidates.length === 0
    ? [blockedChoice()]
    : candidates.map((candidate, place) => choiceOf(candidate, place, calls));
  const usage = usageOf(asObject(answer.usageMetadata));
  return { id, object: "chat.completion", created, model, choices, ...(usage === undefined ? {} : { usage }) };
}

/**
 * What opens a response.
 *
 * @param answer The parsed body, or the first event of a stream.
 * @param facts What it may lack.
 */
export function headOf({ responseId, modelVersion }: JsonObject, facts: ResponseFacts): AnswerHead {
  return { id: asText(responseId) ?? facts.id, created: facts.created, model: asText(modelVersion) ?? facts.model };
}

/**
 * Whether the prompt itself was refused, so that there is nothing to answer.
 *
 * @param answer The parsed body, or an event of a stream.
 */
export function isBlocked({ promptFeedback }: JsonObject): boolean {
  return asText(asObject(promptFeedback)?.blockReason) !== undefined;
}

/**
 * Why a response ended, in OpenAI's terms.
 *
 * @param reason The vendor's word; unknown words count as a plain end.
 * @param calls Whether functions are to be called.
 * @throws {UpstreamError} `invalid_response` when the model broke off in the middle of a call.
 */
export function finishReasonOf(reason: string | undefined, calls: boolean): FinishReason {
  if (reason !== undefined && broken.includes(reason)) {
    throw new UpstreamError(`The provider's answer broke off: ${reason}`, { kind: "invalid_response" });
  }
  if (reason !== undefined && filtered.includes(reason)) return "content_filter";
  if (reason !== undefined && cutShort.includes(reason)) return "length";
  return calls ? "tool_calls" : "stop";
}

/**
 * Token counts in OpenAI's terms: thoughts count as written, results of the vendor's own tools as read.
 *
 * @param metadata The response's `usageMetadata`.
 * @returns Undefined where that has no counts: they are missing then, not 0.
 */
export function usageOf(metadata: JsonObject | undefined): CompletionUsage | undefined {
  const { promptTokenCount, ...counts } = metadata ?? {};
  const reasoning_tokens = countOf(counts.thoughtsTokenCount);
  const completion_tokens = countOf(counts.candidatesTokenCount) + reasoning_tokens;
  const prompt_tokens = countOf(promptTokenCount ?? NaN) + countOf(counts.toolUsePromptTokenCount);
  const total_tokens = prompt_tokens + completion_tokens;
  if (Number.isNaN(total_tokens)) return undefined;
  const sound = asObjects(counts.promptTokensDetails).find(({ modality }) => modality === "AUDIO");
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: {
      cached_tokens: countOf(counts.cachedContentTokenCount) || 0,
      ...(sound === undefined ? {} : { audio_tokens: countOf(sound.tokenCount) || 0 }),
    },
    completion_tokens_details: { reasoning_tokens },
  };
}

/** Names the calls of a response that come without an id. */
export class CallCounter {
  readonly #answer: string;
  #next = 0;

  /**
   * Starts with the first call.
   *
   * @param answer The answer's id.
   */
  constructor(answer: string) {
    this.#answer = answer;
  }

  /**
   * Translates a part that calls a function.
   *
   * @param part A part with a `functionCall`.
   * @throws {UpstreamError} `invalid_response` when the call names no function.
   */
  toolCallOf({ functionCall, thoughtSignature }: JsonObject): ToolCall {
    const call = asObject(functionCall) ?? {};
    const name = asText(call.name);
    if (name === undefined) {
      throw new UpstreamError("The provider's answer calls a function without a name", { kind: "invalid_response" });
    }
    const signature = asText(thoughtSignature);
    return {
      id: asText(call.id) ?? `call_${this.#answer}_${this.#next++}`,
      type: "function",
      function: { name, arguments: JSON.stringify(call.args ?? {}) },
      ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
    };
  }
}

function choiceOf(candidate: JsonObject, place: number, calls: CallCounter): Choice {
  const parts = asObjects(asObject(candidate.content)?.parts);
  const said = (thought: boolean) =>
    parts.filter((part) => (part.thought === true) === thought).map(({ text }) => asText(text) ?? "").join("");
  const toolCalls = parts.filter(({ functionCall }) => functionCall !== undefined)
    .map((part) => calls.toolCallOf(part));
  const text = said(false);
  const thoughts = said(true);
  const message: AssistantMessage = {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  return {
    index: asNumber(candidate.index) ?? place,
    message,
    finish_reason: finishReasonOf(asText(candidate.finishReason), toolCalls.length > 0),
    logprobs: null,
  };
}

function blockedChoice(): Choice {
  return {
    index: 0,
    message: { role: "assistant", content: "", refusal: null },
    finish_reason: "content_filter",
    logprobs: null,
  };
}
