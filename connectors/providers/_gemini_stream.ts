/**
 * Converts the events of `streamGenerateContent` to OpenAI's chunks.
 *
 * Source: https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type { ChatCompletionChunk, Delta, FinishReason, JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { UpstreamError } from "../../src/errors.ts";
import {
  CallCounter,
  type CompletionHead,
  countQueries,
  type GeminiFacts,
  isBlocked,
  mapFinishReason,
  readGeminiBilled,
  toChunkHead,
  toCompletionUsage,
} from "./_gemini_response.ts";
import { toAnnotations, toOutputImage } from "./_gemini_output.ts";
import { asNumber, asObject, asObjects, asText, omitUnset } from "./_gemini_wire.ts";

/** Members of the usage that are translated. */
const usageMembers = [
  "promptTokenCount",
  "candidatesTokenCount",
  "thoughtsTokenCount",
  "toolUsePromptTokenCount",
  "cachedContentTokenCount",
  "promptTokensDetails",
  "candidatesTokensDetails",
  "cacheTokensDetails",
  "serviceTier",
  "trafficType",
];

/** State of one choice. */
interface Progress {
  calls: number;
  images: number;
  text: string;
  /** What is known of the sources of the text. */
  sources: JsonObject;
  reason?: string;
}

/**
 * Translates one streaming response, event by event. The finish reason is sent last: older models report one in every
 * event, and function calls may follow it.
 *
 * @example
 * ```ts
 * const stream = new GeminiStream({ model: "gemini-2.5-flash", id: "chatcmpl-1", created: 0 });
 * const chunks = stream.push({ candidates: [{ content: { parts: [{ text: "Hi" }] }, finishReason: "STOP" }] });
 * console.log([...chunks, ...stream.finish()].length); // 2
 * ```
 */
export class GeminiStream {
  readonly #facts: GeminiFacts;
  readonly #progress = new Map<number, Progress>();
  #head: CompletionHead | undefined;
  #counter: CallCounter | undefined;
  #usage: JsonObject | undefined;
  #blocked = false;
  /** Whether an event had no finish reason: the first one that has it is the last event. */
  #isReasonLast = false;
  #queries = 0;

  /** @param facts Values to fill in. */
  constructor(facts: GeminiFacts) {
    this.#facts = facts;
  }

  /**
   * Translates the next event.
   *
   * @returns The resulting chunks, possibly none.
   * @throws {UpstreamError} `invalid_response` for an invalid function call.
   */
  push(event: JsonObject): ChatCompletionChunk[] {
    this.#head ??= toChunkHead(event, this.#facts);
    this.#counter ??= new CallCounter(this.#head.id);
    // a later event may omit counts of an earlier one
    const usage = asObject(event.usageMetadata);
    if (usage !== undefined) this.#usage = { ...this.#usage, ...toCounts(usage) };
    this.#blocked ||= isBlocked(event);
    return asObjects(event.candidates).flatMap((candidate, index) =>
      this.#candidate(candidate, asNumber(candidate.index) ?? index)
    );
  }

  /**
   * Extracts what the vendor bills besides the token counts, so far.
   *
   * @param tier The service tier in the headers of the response.
   */
  readBilled(tier?: string | null): BilledUsage {
    return readGeminiBilled(this.#usage, { model: this.#facts.model, queries: this.#queries, tier });
  }

  /** Whether every candidate has its finish reason. */
  get isComplete(): boolean {
    return this.#progress.size > 0 && [...this.#progress.values()].every(({ reason }) => reason !== undefined);
  }

  /** Whether nothing but the end of the response is missing. */
  get isEnding(): boolean {
    return this.#isReasonLast && this.isComplete;
  }

  /** A chunk without choices, after the first event. */
  get emptyChunk(): ChatCompletionChunk {
    return { ...this.#frame(), choices: [] };
  }

  /**
   * Ends the response.
   *
   * @returns Chunks with the finish reason, and the token counts if known.
   * @throws {UpstreamError} `invalid_response` if the events ended before the response was complete.
   */
  finish(): ChatCompletionChunk[] {
    if (this.#head === undefined) {
      throw new UpstreamError("The provider's stream was empty", { kind: "invalid_response" });
    }
    const opening = this.#blocked && this.#progress.size === 0 ? this.#candidate({}, 0) : [];
    const endings = [...this.#progress].map(([index, progress]) => this.#ending(index, progress));
    if (endings.length === 0) throw endedEarly();
    const usage = toCompletionUsage(this.#usage);
    const counts = usage === undefined ? [] : [{ ...this.#frame(), choices: [], usage }];
    return [...opening, ...endings, ...counts];
  }

  #ending(index: number, progress: Progress): ChatCompletionChunk {
    const { calls, text, sources, reason = this.#blocked ? "SAFETY" : undefined } = progress;
    if (reason === undefined) throw endedEarly();
    const annotations = toAnnotations(sources, text);
    return this.#chunk(index, annotations.length === 0 ? {} : { annotations }, mapFinishReason(reason, calls > 0));
  }

  #candidate(candidate: JsonObject, index: number): ChatCompletionChunk[] {
    const deltas: Delta[] = [];
    let progress = this.#progress.get(index);
    if (progress === undefined) {
      progress = { calls: 0, images: 0, text: "", sources: {} };
      this.#progress.set(index, progress);
      deltas.push({ role: "assistant", content: "" });
    }
    for (const part of asObjects(asObject(candidate.content)?.parts)) {
      const delta = this.#delta(part, progress);
      if (delta !== undefined) deltas.push(delta);
    }
    addSources(progress.sources, candidate);
    this.#queries = Math.max(this.#queries, countQueries(candidate)); // later events repeat the list
    const reason = asText(candidate.finishReason);
    if (reason === undefined) this.#isReasonLast = true;
    else {
      mapFinishReason(reason, progress.calls > 0); // throws for malformed output here, not at the end of the stream
      progress.reason = reason;
    }
    return deltas.map((delta) => this.#chunk(index, delta));
  }

  #delta(part: JsonObject, progress: Progress): Delta | undefined {
    if (part.functionCall !== undefined) {
      return { tool_calls: [{ index: progress.calls++, ...this.#counter!.translateCall(part) }] };
    }
    const image = toOutputImage(part, progress.images);
    if (image !== undefined) {
      progress.images++;
      return { images: [image] };
    }
    const text = asText(part.text);
    if (text === undefined) return undefined;
    if (part.thought === true) return { reasoning_content: text };
    progress.text += text;
    return { content: text };
  }

  #frame(): CompletionHead & Pick<ChatCompletionChunk, "object"> {
    const { id, created, model } = this.#head!;
    return { id, object: "chat.completion.chunk", created, model };
  }

  #chunk(index: number, delta: Delta, reason: FinishReason | null = null): ChatCompletionChunk {
    return { ...this.#frame(), choices: [{ index, delta, finish_reason: reason, logprobs: null }] };
  }
}

/** The counts that are translated: the provider may send any others. */
function toCounts(usage: JsonObject): JsonObject {
  return Object.fromEntries(usageMembers.flatMap((name) => name in usage ? [[name, usage[name]]] : []));
}

/** Later events complete or repeat those before. */
function addSources(sources: JsonObject, candidate: JsonObject): void {
  for (const name of ["groundingMetadata", "citationMetadata"]) {
    const { groundingChunks, groundingSupports, citationSources, citations } = asObject(candidate[name]) ?? {};
    const added = omitUnset({ groundingChunks, groundingSupports, citationSources, citations });
    if (Object.keys(added).length > 0) sources[name] = { ...asObject(sources[name]), ...added };
  }
}

function endedEarly(): UpstreamError {
  return new UpstreamError("The provider's stream ended before the response was complete", {
    kind: "invalid_response",
  });
}
