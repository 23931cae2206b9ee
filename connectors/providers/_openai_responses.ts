/**
 * Calls of the Responses API: with a client's own request, whose response is passed on as received, and with a chat
 * request.
 *
 * Source: https://platform.openai.com/docs/api-reference/responses, its streaming events.
 * @module
 */
import type { ChatCompletionChunk, JsonObject } from "../../src/contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, CompletionResponse } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { mapItems, mapMembers } from "../../src/util/map_members.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { createDefaults, normalizeCompletion } from "../../src/util/normalize_completion.ts";
import { renameIdentifiers } from "../../src/util/rename_identifiers.ts";
import { countHostedCalls } from "../../src/util/responses_usage.ts";
import { readSse, type SseEvent } from "../../src/util/sse_parse.ts";
import { splitIntoChunks } from "../../src/util/split_completion.ts";
import { readJsonObject } from "./_base.ts";
import { EventTolerance, parseObject, readBytes } from "./_http.ts";
import type { NativeReading } from "./_openai_vendor.ts";
import { OutputEvents } from "./_responses_events.ts";
import { type OutputOptions, toCompletion } from "./_responses_output.ts";
import { toResponsesRequest } from "./_responses_request.ts";
import { openStreamBody, ping } from "./_stream_body.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** The API accepts ids of up to 64 characters (fastllm#45). */
const acceptedIds = { max_length: 64 };
const longId = /"call_id"\s*:\s*"[^"]{65}/;

/**
 * Replaces the ids of calls in a request that the API rejects. Those of other models may be longer.
 *
 * @param text A JSON object.
 * @returns The same text if there are none.
 */
function withAcceptedIds(text: string): string {
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
 * Sends a client's own request; once more without the reasoning of earlier responses if the provider cannot decrypt it.
 *
 * @param text A JSON object.
 */
export async function sendAccepted(
  text: string,
  send: (text: string) => Promise<UpstreamResponse>,
): Promise<UpstreamResponse> {
  const accepted = withAcceptedIds(text);
  try {
    return await send(accepted);
  } catch (error) {
    const input = isForeignReasoning(error) ? JSON.parse(accepted).input : undefined;
    const readable = Array.isArray(input) ? input.filter((item) => item?.type !== "reasoning") : [];
    if (!Array.isArray(input) || readable.length === input.length) throw error;
    return await send(editMembers(accepted, { input: readable }));
  }
}

/** Whether the provider cannot decrypt the reasoning in a request: another one has encrypted it. */
function isForeignReasoning(error: unknown): boolean {
  return UpstreamError.isInstance(error) && error.fault?.error.code === "invalid_encrypted_content";
}

/** Calls of tools that the vendor runs commit the stream, since the provider has started to run them. */
const nativeOutput: OutputOptions = { vendor: "", showsHosted: true };

/**
 * Reads a complete response, to be passed on.
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
    body: toCompletion(parsed, nativeOutput),
    native: bytes,
    billed: { ...countHostedCalls(parsed), ...readBilled?.(parsed) },
  };
}

/**
 * Reads a streaming response, up to its final event, to be passed on.
 *
 * @param opening The response, once its head has been received.
 * @throws {UpstreamError} For an error event, or if the stream ends before the response is complete.
 */
export async function* readEvents(
  opening: Promise<UpstreamResponse>,
  { readBilled }: Pick<NativeReading, "readBilled"> = {},
): AsyncGenerator<CompletionChunk> {
  for await (const read of readOutput(await opening, nativeOutput)) {
    if (read === "comment") yield ping;
    else if (read.event === undefined) yield* splitIntoChunks(toCompletion(read.response, nativeOutput));
    else {
      const { value, event, response } = read;
      const billed = response && { ...countHostedCalls(response), ...readBilled?.(response) };
      yield { value, native: formatSse(event), ...(billed && { billed }) };
    }
  }
}

/** Members of a request that its count takes. */
const countedMembers: ReadonlySet<string> = new Set([
  ...["input", "instructions", "parallel_tool_calls", "reasoning", "text", "tool_choice", "tools", "truncation"],
]);

/**
 * Counts the input tokens of a client's own request.
 *
 * @param post Posts a JSON body to a path.
 * @returns NaN for a request of another API.
 */
export async function countTokens(
  { model, native }: Pick<CompletionRequest, "model" | "native">,
  post: (path: string, body: string) => Promise<UpstreamResponse>,
): Promise<number> {
  if (native?.dialect !== "responses") return NaN;
  const members = Object.entries(parseObject(withAcceptedIds(native.text)));
  const counted = Object.fromEntries(members.filter(([name]) => countedMembers.has(name)));
  const response = await post("responses/input_tokens", JSON.stringify({ ...counted, model: model.id }));
  const { input_tokens: tokens } = await readJsonObject(response);
  return Number(tokens ?? NaN);
}

/** How a chat request is sent through this API. */
export interface ResponsesCall extends Pick<NativeReading, "readBilled"> {
  /** The vendor's short name. */
  readonly vendor: string;
  readonly runtime: Pick<Runtime, "random" | "clock">;
  /** Posts a JSON body. */
  readonly post: (body: string) => Promise<UpstreamResponse>;
}

/**
 * Performs a chat request.
 *
 * @throws {UpstreamError} If it fails.
 */
export async function completeChat(request: CompletionRequest, call: ResponsesCall): Promise<CompletionResponse> {
  const response = await readJsonObject(await postChat(request, call));
  const body = toCompletion(response, call);
  normalizeCompletion(body, createDefaults(request, call.runtime));
  return { body, billed: readBills(response, call) };
}

/**
 * Performs a streaming chat request. The usage is a chunk of its own, as in chat.
 *
 * @throws {UpstreamError} If it fails, or if the stream ends before the response is complete.
 */
export async function* streamChat(request: CompletionRequest, call: ResponsesCall): AsyncGenerator<CompletionChunk> {
  const normalizer = new ChunkNormalizer(createDefaults(request, call.runtime));
  const toChunk = (value: ChatCompletionChunk) => {
    normalizer.normalize(value);
    return { value };
  };
  for await (const read of readOutput(await postChat(request, call), call)) {
    if (read === "comment") {
      yield ping;
      continue;
    }
    const { response, event, value } = read;
    if (event === undefined) {
      const chunks = splitIntoChunks(toCompletion(response, call), readBills(response, call));
      for (const { value, ...rest } of chunks) yield { ...toChunk(value), ...rest };
      return;
    }
    const { usage, ...rest } = value;
    if (value.choices.length > 0) yield toChunk(rest as ChatCompletionChunk);
    if (usage) yield { ...toChunk({ ...value, choices: [] }), billed: readBills(response!, call) };
  }
}

function readBills(response: JsonObject, { readBilled }: ResponsesCall): CompletionResponse["billed"] {
  return { ...countHostedCalls(response), ...readBilled?.(response) };
}

/** Sends a chat request; once more without the reasoning of earlier responses if the provider cannot decrypt it. */
async function postChat(request: CompletionRequest, { vendor, post }: ResponsesCall): Promise<UpstreamResponse> {
  const sent = toResponsesRequest(request, vendor);
  try {
    return await post(JSON.stringify(sent));
  } catch (error) {
    const input = (sent.input as readonly JsonObject[]).filter(({ type }) => type !== "reasoning");
    if (!isForeignReasoning(error) || input.length === (sent.input as readonly JsonObject[]).length) throw error;
    return await post(JSON.stringify({ ...sent, input }));
  }
}

/** An event with its chunk, and the response of the final event; a comment; or a response that is not a stream. */
type ReadOutput =
  | "comment"
  | { readonly event: SseEvent; readonly value: ChatCompletionChunk; readonly response?: JsonObject }
  | { readonly event?: undefined; readonly value?: undefined; readonly response: JsonObject };

async function* readOutput(received: UpstreamResponse, options: OutputOptions): AsyncGenerator<ReadOutput> {
  const body = await openStreamBody(received);
  if (body.events === undefined) {
    yield { response: parseObject(body.text) };
    return;
  }
  const output = new OutputEvents(options);
  const tolerance = new EventTolerance();
  for await (const events of readSse(body.events)) {
    for (const event of events) {
      if (event.isComment) {
        yield "comment";
        continue;
      }
      const parsed = tolerance.read(parseObject, event.data);
      if (parsed === undefined) continue;
      const value = output.read(parsed);
      if (!output.isFinished) yield { value, event };
      else {
        yield { value, event, response: isObject(parsed.response) ? parsed.response : {} };
        return;
      }
    }
  }
  throw new UpstreamError("The provider's stream ended before the response was complete", { kind: "invalid_response" });
}

function formatSse({ event, data }: SseEvent): string {
  const name = event === "" ? "" : `event: ${event}\n`;
  return `${name}data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}
