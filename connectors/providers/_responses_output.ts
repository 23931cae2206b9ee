/**
 * Translates responses of the Responses API to chat. Encrypted reasoning is attached to the call
 * that it precedes, as `extra_content`, from where `_responses_request.ts` sends it back.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `Response`.
 * @module
 */
import type {
  Annotation,
  AssistantMessage,
  ChatCompletion,
  ChoiceLogprobs,
  CompletionUsage,
  FinishReason,
  JsonObject,
  TokenLogprob,
  ToolCall,
} from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import { toAnnotation } from "../../src/util/annotations.ts";
import { isObject } from "../../src/util/is_object.ts";
import { toChatUsage } from "../../src/util/responses_usage.ts";
import { toText } from "../../src/util/to_text.ts";
import { upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { carryItems, toReasoningItem } from "./_responses_request.ts";

/** Error codes of failures caused by the request itself. */
const requestFaults =
  /^(invalid_(?!api)|image_|unsupported_image|empty_image|failed_to_download|bio_policy|data_residency)/;

/** How responses are translated. */
export interface OutputOptions {
  /** The vendor's short name, under which calls carry its state. */
  readonly vendor: string;
  /** Whether calls of tools that the vendor runs are shown as tool calls, which commits a stream that passes them on. */
  readonly showsHosted?: boolean;
}

/** The members of a response that every chunk has. */
export type Head = Pick<ChatCompletion, "id" | "created" | "model">;

/** An ending response. */
interface End {
  readonly finish_reason: FinishReason;
  readonly usage: CompletionUsage | undefined;
}

/**
 * Translates a complete response.
 *
 * @throws {UpstreamError} If it has failed, or is not a response.
 */
export function toCompletion(response: JsonObject, options: OutputOptions): ChatCompletion {
  const { status, output, error } = response;
  if (status === "failed" || isObject(error)) throw toResponseFailure({ response });
  if (!Array.isArray(output)) {
    throw new UpstreamError("The provider's response has no output", { kind: "invalid_response" });
  }
  const turn = new OutputTurn(options);
  for (const item of output.filter(isObject)) turn.add(item);
  const { usage, finish_reason } = readEnd(response, turn.calls.length > 0);
  return {
    ...readHead(response),
    object: "chat.completion",
    choices: [{ index: 0, message: turn.toMessage(), finish_reason, logprobs: turn.logprobs }],
    ...(usage === undefined ? {} : { usage }),
  };
}

export function readHead({ id, created_at, model, service_tier }: JsonObject): Head {
  return {
    id: toText(id),
    created: typeof created_at === "number" ? created_at : 0,
    model: toText(model),
    ...(typeof service_tier === "string" ? { service_tier } : {}),
  };
}

/** A background response has no output yet, which does not make it empty. */
export function readEnd({ status, incomplete_details: details, usage }: JsonObject, hasCalls: boolean): End {
  const isFiltered = status === "incomplete" && isObject(details) && details.reason === "content_filter";
  const isCut = status !== undefined && status !== "completed";
  const reason = hasCalls ? "tool_calls" : "stop";
  return { finish_reason: isFiltered ? "content_filter" : isCut ? "length" : reason, usage: toChatUsage(usage) };
}

/** The error of a response, or of an event that contains it directly. */
export function toResponseFailure(event: JsonObject): UpstreamError {
  const { response = event } = event;
  const error = isObject(response) && isObject(response.error) ? response.error : response;
  const { code } = Object(error);
  const type = requestFaults.test(toText(code)) ? "invalid_request_error" : "";
  return upstreamError(200, { ...readOpenAiError({ error }, 200), type });
}

/** State of the items since the last call, in their order. */
export class PrecedingItems {
  readonly #vendor: string;
  #items: JsonObject[] = [];
  #length = 0;
  #hasCarried = false;

  constructor(vendor: string) {
    this.#vendor = vendor;
  }

  /** Adds a complete item, and the length of its text. */
  add(item: JsonObject, length: number): void {
    const { type, phase } = item;
    if (type === "reasoning") this.#items.push(...toReasoningItem(item) ?? []);
    if (type !== "message" || length === 0) return;
    const start = this.#length;
    this.#length += length;
    this.#items.push({ type, start, end: this.#length, ...(typeof phase === "string" && { phase }) });
  }

  /** The `extra_content` of a call that begins now. Texts need state only beside reasoning: else they precede all calls. */
  take(): Pick<ToolCall, "extra_content"> {
    const items = this.#items;
    this.#items = [];
    const hasText = items.some(({ type }) => type === "message");
    const isNeeded = items.some(({ type, phase }) => type === "reasoning" || phase !== undefined) ||
      hasText && this.#hasCarried;
    if (!isNeeded) return {};
    this.#hasCarried = true;
    // where the call stands in the text, if no text precedes it directly
    if (!hasText) items.push({ type: "message", start: this.#length, end: this.#length });
    return { extra_content: carryItems(this.#vendor, items) };
  }
}

/** The items of a complete response, as one message of chat. */
class OutputTurn {
  readonly calls: ToolCall[] = [];
  readonly #options: OutputOptions;
  readonly #before: PrecedingItems;
  readonly #thoughts: string[] = [];
  readonly #annotations: Annotation[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  #text = "";
  #refusal = "";

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#before = new PrecedingItems(options.vendor);
  }

  /** Log probabilities of the text; null if there are none. */
  get logprobs(): ChoiceLogprobs | null {
    return toLogprobs(this.#logprobs);
  }

  add(item: JsonObject): void {
    const start = this.#text.length;
    if (item.type === "message") { for (const part of listParts(item.content)) this.#addPart(part); }
    if (item.type === "reasoning") this.#thoughts.push(...listThoughts(item));
    this.#before.add(item, this.#text.length - start);
    const call = toCall(item, this.#options);
    if (call !== undefined) this.calls.push({ ...call, ...this.#before.take() });
  }

  toMessage(): AssistantMessage {
    return {
      role: "assistant",
      content: this.#text || null,
      refusal: this.#refusal || null,
      ...(this.#annotations.length > 0 && { annotations: this.#annotations }),
      ...(this.#thoughts.length > 0 && { reasoning_content: this.#thoughts.join("\n\n") }),
      ...(this.calls.length > 0 && { tool_calls: this.calls }),
    };
  }

  #addPart({ type, text, refusal, annotations, logprobs }: JsonObject): void {
    if (type === "refusal") this.#refusal += toText(refusal);
    if (type !== "output_text") return;
    const start = this.#text.length;
    this.#text += toText(text);
    for (const annotation of listParts(annotations)) this.#annotations.push(...toCitedSource(annotation, start));
    for (const score of listParts(logprobs)) this.#logprobs.push(score as TokenLogprob);
  }
}

export function listParts(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function listThoughts({ summary, content }: JsonObject): readonly string[] {
  return [...listParts(summary), ...listParts(content)].map(({ text }) => toText(text)).filter((text) => text !== "");
}

/** @param start Where the part begins in the text of the message. */
export function toCitedSource({ type, url, title, start_index, end_index }: JsonObject, start: number): Annotation[] {
  if (type !== "url_citation") return [];
  const [from, to] = [start_index, end_index].map((index) => start + (Number.isSafeInteger(index) ? Number(index) : 0));
  return [toAnnotation({ start: from!, end: to!, url: toText(url), title: toText(title) })];
}

export function toLogprobs(content: TokenLogprob[]): ChoiceLogprobs | null {
  return content.length === 0 ? null : { content, refusal: null };
}

/** A call of a tool; undefined for other items. */
export function toCall(item: JsonObject, { showsHosted = false }: OutputOptions): ToolCall | undefined {
  const { type, id, call_id, name, arguments: callArguments, input } = item;
  const head = { id: toText(call_id ?? id) };
  if (type === "custom_tool_call") {
    return { ...head, type: "custom", custom: { name: toText(name), input: toText(input) } } as unknown as ToolCall;
  }
  const isHosted = type !== "function_call";
  if (isHosted && (!showsHosted || type === "message" || type === "reasoning")) return undefined;
  return { ...head, type: "function", function: { name: toText(name ?? type), arguments: toText(callArguments) } };
}
