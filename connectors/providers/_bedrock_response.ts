/**
 * Converts responses of Converse and events of ConverseStream to OpenAI's chat completion and chunks, by way of the
 * Messages API's shapes.
 *
 * Sources, read 2026-11-22: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
 * API_runtime_ConverseStreamOutput.html there.
 * @module
 */
import type { ChatCompletion, ChatCompletionChunk, JsonObject } from "../../src/contracts/openai.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import { UpstreamError } from "../../src/errors.ts";
import { objectOrEmpty } from "../../src/util/is_object.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { parseBoundedJson } from "../../src/util/bounded_json.ts";
import { type MessageFacts, toChatCompletion } from "./_anthropic_response.ts";
import { MessageStream } from "./_anthropic_stream.ts";
import { readClaudeBilled } from "./_anthropic_usage.ts";
import { fromConverseBlock, fromConverseCitation } from "./_bedrock_blocks.ts";
import { exceptionFault } from "./_bedrock_fault.ts";
import type { EventFrame } from "./_event_frames.ts";
import { parseObject } from "./_http.ts";
import { findOwn } from "../../src/util/entries.ts";

/** Values to fill in that a response lacks. */
export interface ConverseFacts extends MessageFacts {
  /** The response's id. */
  readonly id: string;
  /** Whether the model signs its thinking blocks and needs them back. */
  readonly signs: boolean;
}

/** Stop reasons of malformed output: such a response is incomplete and must be treated as a failure. */
const broken: readonly unknown[] = ["malformed_model_output", "malformed_tool_use"];
/** Stop reasons that the Messages API names differently. */
const stopReasons: Readonly<Record<string, string>> = {
  content_filtered: "refusal",
  guardrail_intervened: "refusal",
};

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Translates a complete response.
 *
 * @param response The parsed body.
 * @param facts Values to fill in.
 * @throws {UpstreamError} `invalid_response` if it has no message.
 */
export function fromConverse(response: JsonObject, facts: ConverseFacts): ChatCompletion {
  const { message } = objectOrEmpty(response.output);
  const { content } = objectOrEmpty(message);
  if (!Array.isArray(content)) {
    throw new UpstreamError("The provider's response has no message", { kind: "invalid_response" });
  }
  return toChatCompletion({
    id: facts.id,
    content: content.flatMap((block) => fromConverseBlock(objectOrEmpty(block), facts.signs)),
    stop_reason: toStopReason(response.stopReason),
    usage: readBedrockUsage(response),
  }, facts);
}

/** Extracts what the vendor bills besides the token counts of {@linkcode fromConverse}. */
export function readConverseBilled(response: JsonObject): BilledUsage {
  return readClaudeBilled(readBedrockUsage(response));
}

/** Translates one streaming response, event by event. */
export class ConverseStream {
  readonly #facts: ConverseFacts;
  readonly #messages: MessageStream;
  /** Blocks that have started; only tool blocks have a start event. */
  readonly #open = new Set<unknown>();
  #stopped = false;

  /** @param facts Values to fill in. */
  constructor(facts: ConverseFacts) {
    this.#facts = facts;
    this.#messages = new MessageStream(facts);
  }

  /** What the vendor bills besides the token counts, so far. */
  get billed(): BilledUsage {
    return this.#messages.billed;
  }

  /** Whether the provider has named the reason of the end. */
  get isComplete(): boolean {
    return this.#stopped;
  }

  /**
   * Translates the next event.
   *
   * @param frame The event stream message that contains it.
   * @returns The resulting chunks, often none.
   * @throws {UpstreamError} For an exception event or invalid data.
   */
  push({ headers, body }: EventFrame): ChatCompletionChunk[] {
    const text = decoder.decode(body);
    const type = headers.get(":message-type");
    if (type === "exception") throw exceptionFault(headers.get(":exception-type") ?? "", parseToolInput(text));
    if (type === "error") {
      throw exceptionFault(headers.get(":error-code") ?? "", { message: headers.get(":error-message") });
    }
    return this.#take(headers.get(":event-type"), text);
  }

  /**
   * Ends the response.
   *
   * @returns The last chunks.
   * @throws {UpstreamError} `invalid_response` if the provider did not report the end of the response.
   */
  finish(): ChatCompletionChunk[] {
    if (this.#stopped) return this.#messages.take({ type: "message_stop" });
    throw new UpstreamError("The provider's stream ended before the response was complete", {
      kind: "invalid_response",
    });
  }

  #take(type: string | undefined, text: string): ChatCompletionChunk[] {
    switch (type) {
      case "messageStart":
        return this.#messages.take({ type: "message_start", message: { id: this.#facts.id } });
      case "contentBlockStart":
        return this.#start(parseObject(text));
      case "contentBlockDelta":
        return this.#continue(parseObject(text));
      case "contentBlockStop": {
        const { contentBlockIndex: index } = parseObject(text);
        return this.#messages.take({ type: "content_block_stop", index });
      }
      case "messageStop": {
        const { stopReason } = parseObject(text);
        this.#stopped = true;
        return this.#messages.take({ type: "message_delta", delta: { stop_reason: toStopReason(stopReason) } });
      }
      case "metadata":
        return this.#messages.take({ type: "message_delta", usage: readBedrockUsage(parseObject(text)) });
      default:
        return []; // future event types
    }
  }

  #start({ contentBlockIndex: index, start }: JsonObject): ChatCompletionChunk[] {
    const [block] = fromConverseBlock(objectOrEmpty(start), false);
    this.#open.add(index);
    return block === undefined ? [] : this.#begin(index, { ...block, input: {} });
  }

  #begin(index: unknown, content_block: JsonObject): ChatCompletionChunk[] {
    return this.#messages.take({ type: "content_block_start", index, content_block });
  }

  #continue({ contentBlockIndex: index, delta }: JsonObject): ChatCompletionChunk[] {
    const { text, toolUse, reasoningContent, citation } = objectOrEmpty(delta);
    const push = (more: JsonObject) => this.#messages.take({ type: "content_block_delta", index, delta: more });
    if (text !== undefined || citation !== undefined) this.#beginText(index);
    if (text !== undefined) return push({ type: "text_delta", text });
    if (citation !== undefined) return push({ type: "citations_delta", citation: fromConverseCitation(citation) });
    if (toolUse !== undefined) return push({ type: "input_json_delta", partial_json: objectOrEmpty(toolUse).input });
    const { text: thinking, signature, redactedContent } = objectOrEmpty(reasoningContent);
    const chunks = this.#beginThought(index, redactedContent);
    if (thinking !== undefined) appendAll(chunks, push({ type: "thinking_delta", thinking }));
    if (signature !== undefined && this.#facts.signs) push({ type: "signature_delta", signature });
    return chunks;
  }

  #beginText(index: unknown): void {
    if (this.#open.has(index)) return;
    this.#open.add(index);
    this.#begin(index, { type: "text" });
  }

  #beginThought(index: unknown, redacted: unknown): ChatCompletionChunk[] {
    if (this.#open.has(index)) return [];
    this.#open.add(index);
    const isRedacted = typeof redacted === "string";
    if (isRedacted && !this.#facts.signs) return [];
    return this.#begin(
      index,
      isRedacted ? { type: "redacted_thinking", data: redacted } : { type: "thinking", thinking: "" },
    );
  }
}

function toStopReason(reason: unknown): unknown {
  if (broken.includes(reason)) {
    throw new UpstreamError(`The provider ended its response with "${reason}"`, { kind: "invalid_response" });
  }
  return findOwn(stopReasons, reason) ?? reason;
}

/**
 * Cached tokens are counted separately from the input tokens, as in the Messages API.
 *
 * @param answer A response, or a metadata event.
 */
function readBedrockUsage({ usage, serviceTier }: JsonObject): JsonObject {
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens, cacheDetails } = objectOrEmpty(usage);
  const details = Array.isArray(cacheDetails) ? cacheDetails.map(objectOrEmpty) : [];
  const { inputTokens: ephemeral_1h_input_tokens } = details.find(({ ttl }) => ttl === "1h") ?? {};
  const { type: service_tier } = objectOrEmpty(serviceTier);
  return {
    service_tier,
    ...(ephemeral_1h_input_tokens === undefined ? {} : { cache_creation: { ephemeral_1h_input_tokens } }),
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_input_tokens: cacheReadInputTokens,
    cache_creation_input_tokens: cacheWriteInputTokens,
  };
}

function parseToolInput(text: string): unknown {
  try {
    return parseBoundedJson(text);
  } catch {
    return text; // the exception name suffices
  }
}
