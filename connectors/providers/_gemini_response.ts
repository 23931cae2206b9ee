/**
 * Converts a response of `generateContent` to OpenAI's chat completion.
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
  OutputImage,
  ToolCall,
} from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findOwn } from "../../src/util/entries.ts";
import { formatArguments } from "../../src/util/call_arguments.ts";
import { parseCount } from "./_count.ts";
import { toAnnotations, toOutputImage } from "./_gemini_output.ts";
import { asNumber, asObject, asObjects, asText } from "./_gemini_wire.ts";
import { upstreamError } from "./_http.ts";

/** Values to fill in if a response lacks them. */
export interface GeminiFacts {
  /** The requested model id. */
  readonly model: string;
  /** A response id. */
  readonly id: string;
  /** Unix time, seconds. */
  readonly created: number;
}

/** Members that every response starts with, complete or streamed. */
export interface CompletionHead {
  /** The response's id. */
  readonly id: string;
  /** Unix time, seconds. */
  readonly created: number;
  /** The upstream model id. */
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
/** Finish reasons of malformed output: such a response is incomplete and must be treated as a failure. */
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
 * @param data The parsed body.
 * @param facts Values to fill in.
 * @throws {UpstreamError} `invalid_response` if it has no candidates.
 */
export function fromGenerateContent(data: JsonObject, facts: GeminiFacts): ChatCompletion {
  const { id, created, model } = toChunkHead(data, facts);
  const calls = new CallCounter(id);
  const candidates = asObjects(data.candidates);
  if (candidates.length === 0 && !isBlocked(data)) {
    throw new UpstreamError("The provider's response has no candidates", { kind: "invalid_response" });
  }
  const choices = candidates.length === 0
    ? [blockedChoice()]
    : candidates.map((candidate, index) => toChoice(candidate, index, calls));
  const usage = toCompletionUsage(asObject(data.usageMetadata));
  return { id, object: "chat.completion", created, model, choices, ...(usage === undefined ? {} : { usage }) };
}

/**
 * The leading members of a response.
 *
 * @param data The parsed body, or the first event of a stream.
 * @param facts Values to fill in.
 */
export function toChunkHead({ responseId, modelVersion }: JsonObject, facts: GeminiFacts): CompletionHead {
  return { id: asText(responseId) ?? facts.id, created: facts.created, model: asText(modelVersion) ?? facts.model };
}

/**
 * Whether the prompt was blocked, so that there is no response.
 *
 * @param data The parsed body, or an event of a stream.
 */
export function isBlocked({ promptFeedback }: JsonObject): boolean {
  return asText(asObject(promptFeedback)?.blockReason) !== undefined;
}

/** The finish reason of a response that was stopped because of its content; undefined of others. */
export function findFilterReason(data: JsonObject): string | undefined {
  const [candidate] = asObjects(data.candidates);
  const reason = asText(candidate?.finishReason);
  return reason !== undefined && filtered.includes(reason) ? reason : undefined;
}

/**
 * Throws if a prompt was blocked. Chat responses have a finish reason for that.
 *
 * @param data The parsed body.
 * @param param The request parameter with the prompt.
 * @param ended The finish reason that means the same, if any does.
 * @throws {UpstreamError} `request`, with the reason that the API states.
 */
export function throwIfBlocked(data: JsonObject, param: string, ended?: string): void {
  const feedback = asObject(data.promptFeedback);
  const [candidate] = asObjects(data.candidates);
  const reason = asText(feedback?.blockReason) ?? ended;
  if (reason === undefined) return;
  const words = asText(feedback?.blockReasonMessage) ?? asText(candidate?.finishMessage);
  const message = `The content was blocked (${reason})${words === undefined ? "" : `: ${words}`}`;
  throw upstreamError(400, { message, type: "invalid_request_error", param, code: "content_filter" });
}

/**
 * Maps a finish reason to OpenAI's.
 *
 * @param reason The API's finish reason; an unknown one maps to `stop`.
 * @param calls Whether the response has function calls.
 * @throws {UpstreamError} `invalid_response` for malformed output.
 */
export function mapFinishReason(reason: string | undefined, calls: boolean): FinishReason {
  if (reason !== undefined && broken.includes(reason)) {
    throw new UpstreamError(`The provider's response broke off: ${reason}`, { kind: "invalid_response" });
  }
  if (reason !== undefined && filtered.includes(reason)) return "content_filter";
  if (reason !== undefined && cutShort.includes(reason)) return "length";
  return calls ? "tool_calls" : "stop";
}

/**
 * Maps token counts to OpenAI's. Thoughts count as output tokens, results of hosted tools as input tokens.
 *
 * @param metadata The response's `usageMetadata`.
 * @returns Undefined if it has no counts: unknown rather than 0.
 */
export function toCompletionUsage(metadata: JsonObject | undefined): CompletionUsage | undefined {
  const { promptTokenCount, ...counts } = metadata ?? {};
  const reasoning_tokens = parseCount(counts.thoughtsTokenCount);
  const completion_tokens = parseCount(counts.candidatesTokenCount) + reasoning_tokens;
  const prompt_tokens = parseCount(promptTokenCount ?? NaN) + parseCount(counts.toolUsePromptTokenCount);
  const total_tokens = prompt_tokens + completion_tokens;
  if (Number.isNaN(total_tokens)) return undefined;
  const sound = asObjects(counts.promptTokensDetails).find(({ modality }) => modality === "AUDIO");
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: {
      cached_tokens: parseCount(counts.cachedContentTokenCount) || 0,
      ...(sound === undefined ? {} : { audio_tokens: parseCount(sound.tokenCount) || 0 }),
    },
    completion_tokens_details: { reasoning_tokens },
  };
}

/** Models before this generation are billed per request with searches, later ones per search. */
const billedPerRequest = /gemini-[12]\D/;

/**
 * The service tiers of Vertex AI's types of traffic. What its provisioned throughput serves is paid in advance.
 *
 * Source: docs.cloud.google.com, reference of Google.Cloud.AIPlatform.V1, `TrafficType`, read 2026-11-26.
 */
const trafficTiers: Readonly<Record<string, string>> = {
  ON_DEMAND: "default",
  ON_DEMAND_FLEX: "flex",
  ON_DEMAND_PRIORITY: "priority",
  PROVISIONED_THROUGHPUT: "reserved",
};

/**
 * Extracts what the vendor bills besides the counts of {@linkcode toCompletionUsage}: parts by modality, and searches.
 *
 * Source: https://ai.google.dev/gemini-api/docs/pricing, /google-search and /priority-inference, read 2026-11-26.
 *
 * @param metadata The response's `usageMetadata`.
 * @param facts The model, its queries, and the tier in the headers of the response.
 */
export function readGeminiBilled(
  metadata: JsonObject | undefined,
  { model, queries, tier }: {
    readonly model: string;
    readonly queries: number;
    readonly tier?: string | null | undefined;
  },
): BilledUsage {
  const { promptTokensDetails, candidatesTokensDetails, cacheTokensDetails } = metadata ?? {};
  const count = (details: unknown, kind: string) =>
    asObjects(details).filter(({ modality }) => modality === kind)
      .reduce((sum, { tokenCount }) => sum + parseCount(tokenCount), 0);
  const counts = {
    imageInput: count(promptTokensDetails, "IMAGE"),
    audioOutput: count(candidatesTokensDetails, "AUDIO"),
    imageOutput: count(candidatesTokensDetails, "IMAGE"),
    cachedAudio: count(cacheTokensDetails, "AUDIO"),
    cachedImage: count(cacheTokensDetails, "IMAGE"),
    searches: billedPerRequest.test(model) ? Math.min(queries, 1) : queries,
  };
  const stated = tier ?? asText(metadata?.serviceTier) ?? findOwn(trafficTiers, metadata?.trafficType);
  return {
    ...Object.fromEntries(Object.entries(counts).filter(([, counted]) => counted > 0)),
    ...(stated && { tier: stated.toLowerCase() }),
  };
}

/** The number of searches of a candidate. */
export function countQueries({ groundingMetadata }: JsonObject): number {
  const { webSearchQueries } = asObject(groundingMetadata) ?? {};
  return Array.isArray(webSearchQueries) ? webSearchQueries.length : 0;
}

/** Generates ids for tool calls without one. */
export class CallCounter {
  readonly #responseId: string;
  #next = 0;

  /**
   * Starts with the first call.
   *
   * @param responseId The response id, which prefixes the generated ids.
   */
  constructor(responseId: string) {
    this.#responseId = responseId;
  }

  /**
   * Translates a function call part.
   *
   * @param part A part with a `functionCall`.
   * @throws {UpstreamError} `invalid_response` if the call has no function name.
   */
  translateCall({ functionCall, thoughtSignature }: JsonObject): ToolCall {
    const call = asObject(functionCall) ?? {};
    const name = asText(call.name);
    if (name === undefined) {
      throw new UpstreamError("The provider's response calls a function without a name", { kind: "invalid_response" });
    }
    const signature = asText(thoughtSignature);
    return {
      id: asText(call.id) ?? `call_${this.#responseId}_${this.#next++}`,
      type: "function",
      function: { name, arguments: formatArguments(call.args) },
      ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
    };
  }
}

function toChoice(candidate: JsonObject, index: number, calls: CallCounter): Choice {
  const parts = asObjects(asObject(candidate.content)?.parts);
  const texts = { thoughts: "", text: "" };
  const starts: number[] = [];
  const images: OutputImage[] = [];
  for (const part of parts) {
    starts.push(texts.text.length);
    texts[part.thought === true ? "thoughts" : "text"] += asText(part.text) ?? "";
    const image = toOutputImage(part, images.length);
    if (image !== undefined) images.push(image);
  }
  const toolCalls = parts.filter(({ functionCall }) => functionCall !== undefined)
    .map((part) => calls.translateCall(part));
  const { text, thoughts } = texts;
  const annotations = toAnnotations(candidate, text, starts);
  const message: AssistantMessage = {
    role: "assistant",
    content: text === "" && toolCalls.length > 0 ? null : text,
    refusal: null,
    ...(thoughts === "" ? {} : { reasoning_content: thoughts }),
    ...(images.length === 0 ? {} : { images }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
  };
  return {
    index: asNumber(candidate.index) ?? index,
    message,
    finish_reason: mapFinishReason(asText(candidate.finishReason), toolCalls.length > 0),
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
