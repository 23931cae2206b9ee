/**
 * Responses of the Responses API, as received and translated to chat.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses, its streaming events.
 * @module
 */
import type {
  ChatCompletion,
  ChatCompletionChunk,
  Delta,
  FinishReason,
  JsonObject,
  ToolCall,
} from "../../src/contracts/openai.ts";
import type { CompletionChunk, CompletionResponse } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { mapItems, mapMembers } from "../../src/util/map_members.ts";
import { renameIdentifiers } from "../../src/util/rename_identifiers.ts";
import { readSse, type SseEvent } from "../../src/util/sse_parse.ts";
import { splitIntoChunks } from "./_chunks.ts";
import { EventTolerance, parseObject, readBytes, upstreamError } from "./_http.ts";
import { readOpenAiError } from "./_openai_error.ts";
import { toText } from "../../src/util/to_text.ts";
import { findOwn } from "../../src/util/find_own.ts";
import { countHostedCalls, toChatUsage } from "../../src/util/responses_usage.ts";
import type { NativeReading } from "./_openai_vendor.ts";
import { openStreamBody, ping } from "./_stream_body.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** Error codes of failures caused by the request itself. */
const requestFaults =
  /^(invalid_(?!api)|image_|unsupported_image|empty_image|failed_to_download|bio_policy|data_residency)/;

/** Delta fields by the suffix of the event name. */
const deltaFields: Readonly<Record<string, "content" | "refusal" | "reasoning_content">> = {
  "response.output_text.delta": "content",
  "response.refusal.delta": "refusal",
  "response.reasoning_summary_text.delta": "reasoning_content",
  "response.reasoning_text.delta": "reasoning_content",
};

/** The API accepts ids of up to 64 characters (fastllm#45). */
const acceptedIds = { max_length: 64 };
const longId = /"call_id"\s*:\s*"[^"]{65}/;

/**
 * Replaces the ids of calls in a request that the API rejects. Those of other models may be longer.
 *
 * @param text A JSON object.
 * @returns The same text if there are none.
 */
export function withAcceptedIds(text: string): string {
  if (!longId.test(text)) return text;
  const { input } = JSON.parse(text) as JsonObject;
  const ids = new Set<string>();
  mapItems(input, (item) =>
    mapMembers(item, {
      call_id(id) {
        if (typeof id === "string") ids.add(id);
        return id;
      },
    }));
  const renamed = renameIdentifiers(ids, acceptedIds);
  const accepted = mapItems(input, (item) => mapMembers(item, { call_id: (id) => renamed.get(id as string) ?? id }));
  return accepted === input ? text : editMembers(text, { input: accepted });
}

/**
 * Reads a complete response.
 *
 * @throws {UpstreamError} If it has failed, or is not a response.
 */
export async function readComplete(
  response: UpstreamResponse,
  { readBilled }: Pick<NativeReading, "readBilled"> = {},
): Promise<CompletionResponse> {
  const bytes = await readBytes(response);
  const parsed = parseObject(decoder.decode(bytes));
  return {
    body: toCompletion(parsed),
    native: bytes,
    billed: { ...countHostedCalls(parsed), ...readBilled?.(parsed) },
  };
}

/**
 * Reads a streaming response, up to its final event.
 *
 * @param opening The response, once its head has been received.
 * @throws {UpstreamError} For an error event, or if the stream ends before the response is complete.
 */
export async function* readEvents(
  opening: Promise<UpstreamResponse>,
  { readBilled }: Pick<NativeReading, "readBilled"> = {},
): AsyncGenerator<CompletionChunk> {
  const body = await openStreamBody(await opening);
  if (body.events === undefined) {
    yield* splitIntoChunks(toCompletion(parseObject(body.text)));
    return;
  }
  const reader = new EventReader();
  const tolerance = new EventTolerance();
  for await (const events of readSse(body.events)) {
    for (const event of events) {
      if (event.isComment) {
        yield ping;
        continue;
      }
      const parsed = tolerance.read(parseObject, event.data);
      if (parsed === undefined) continue;
      const value = reader.read(parsed);
      if (!reader.isFinished) yield { value, native: formatSse(event) };
      else {
        const whole = Object(parsed.response);
        yield { value, native: formatSse(event), billed: { ...countHostedCalls(whole), ...readBilled?.(whole) } };
        return;
      }
    }
  }
  throw new UpstreamError("The provider's stream ended before the response was complete", { kind: "invalid_response" });
}

/** Parses the events of one stream, in order. */
class EventReader {
  /** Whether the final event was received. */
  isFinished = false;
  #head: Pick<ChatCompletionChunk, "id" | "object" | "created" | "model"> = {
    id: "",
    object: "chat.completion.chunk",
    created: 0,
    model: "",
  };
  /** Function call items, by output index. */
  readonly #calls = new Map<unknown, number>();

  read(event: JsonObject): ChatCompletionChunk {
    const { type } = event;
    if (type === "error" || type === "response.failed") throw toResponseFailure(event);
    const response = isObject(event.response) ? event.response : undefined;
    if (response !== undefined) this.#head = { ...this.#head, ...toCompletionHead(response) };
    if (type !== "response.completed" && type !== "response.incomplete") return this.#chunk(this.#findDelta(event));
    this.isFinished = true;
    const { choices: [choice], usage } = toCompletion(response ?? {});
    return { ...this.#chunk({}, choice!.finish_reason), ...(usage === undefined ? {} : { usage }) };
  }

  #findDelta({ type, delta, output_index: outputIndex, item }: JsonObject): Delta | undefined {
    const field = findOwn(deltaFields, type);
    if (field !== undefined) return typeof delta === "string" ? { [field]: delta } : undefined;
    if (type === "response.output_item.added" && isObject(item)) return this.#begin(item, outputIndex);
    const index = this.#calls.get(outputIndex);
    const isArguments = type === "response.function_call_arguments.delta";
    if (index === undefined || !isArguments || typeof delta !== "string") return undefined;
    return { tool_calls: [{ index, function: { arguments: delta } }] };
  }

  /** A hosted tool call also commits the stream, since the provider has started to run it. */
  #begin({ type, id, call_id, name }: JsonObject, outputIndex: unknown): Delta | undefined {
    if (type === "message" || type === "reasoning") return undefined;
    const index = this.#calls.size;
    this.#calls.set(outputIndex, index);
    const called = { name: toText(name ?? type), arguments: "" };
    return { tool_calls: [{ index, id: toText(call_id ?? id), type: "function", function: called }] };
  }

  #chunk(delta: Delta | undefined, finish_reason: FinishReason | null = null): ChatCompletionChunk {
    if (delta === undefined) return { ...this.#head, choices: [] };
    return { ...this.#head, choices: [{ index: 0, delta, finish_reason, logprobs: null }] };
  }
}

function toCompletion(response: JsonObject): ChatCompletion {
  const { status, output, error } = response;
  if (status === "failed" || isObject(error)) throw toResponseFailure({ response });
  if (!Array.isArray(output)) {
    throw new UpstreamError("The provider's response has no output", { kind: "invalid_response" });
  }
  const items = output.filter(isObject);
  const calls = items.flatMap(toResponseCalls);
  const usage = toChatUsage(response.usage);
  return {
    ...toCompletionHead(response),
    object: "chat.completion",
    choices: [{
      index: 0,
      message: {
        role: "assistant",
        content: joinTexts(items, "content", "text") || null,
        refusal: joinTexts(items, "content", "refusal") || null,
        reasoning_content: joinTexts(items, "summary", "text") || null,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      },
      finish_reason: findEndReason(response, calls),
      logprobs: null,
    }],
    ...(usage === undefined ? {} : { usage }),
  };
}

function toCompletionHead(
  { id, created_at, model, service_tier }: JsonObject,
): Pick<ChatCompletion, "id" | "created" | "model"> {
  return {
    id: toText(id),
    created: typeof created_at === "number" ? created_at : 0,
    model: toText(model),
    ...(typeof service_tier === "string" ? { service_tier } : {}),
  };
}

/** A background response has no output yet, which does not make it empty. */
function findEndReason({ status, incomplete_details: details }: JsonObject, calls: readonly ToolCall[]): FinishReason {
  if (status === "incomplete" && isObject(details) && details.reason === "content_filter") return "content_filter";
  if (status !== undefined && status !== "completed") return "length";
  return calls.length > 0 ? "tool_calls" : "stop";
}

/** Joins the text of parts, such as `text` in the `content` of messages. */
function joinTexts(items: readonly JsonObject[], list: string, member: string): string {
  return items.flatMap((item) => Array.isArray(item[list]) ? item[list] : [])
    .map((part) => isObject(part) && typeof part[member] === "string" ? part[member] : "").join("");
}

function toResponseCalls({ type, id, call_id, name, arguments: callArguments }: JsonObject): ToolCall[] {
  if (type === "message" || type === "reasoning") return [];
  const called = { name: toText(name ?? type), arguments: typeof callArguments === "string" ? callArguments : "" };
  return [{ id: toText(call_id ?? id), type: "function", function: called }];
}

/** The error of a response, or of an event that contains it directly. */
function toResponseFailure(event: JsonObject): UpstreamError {
  const { response = event } = event;
  const error = isObject(response) && isObject(response.error) ? response.error : response;
  const { code } = Object(error);
  const type = requestFaults.test(toText(code)) ? "invalid_request_error" : "";
  return upstreamError(200, { ...readOpenAiError({ error }, 200), type });
}

function formatSse({ event, data }: SseEvent): string {
  const name = event === "" ? "" : `event: ${event}\n`;
  return `${name}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}
