/**
 * Requests and answers of OpenAI's dialect, for vendors that speak it and for programs' own providers.
 * @module
 */
import type { ChatCompletion } from "../../src/contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, OperationRequest } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { writeForm } from "../../src/util/multipart.ts";
import { readSse } from "../../src/util/sse_parse.ts";
import { readObject } from "./_base.ts";
import type { ChunkReader } from "./_chunk_reader.ts";
import { chunksOf } from "./_chunks.ts";
import { EventBatches } from "./_event_batches.ts";
import { streamReaderOf, throwIfError } from "./_http.ts";

/** What a request's body lacks for the provider: its own name of the model, and that usage is to be reported. */
export function editsOf(
  { model, stream, body }: CompletionRequest,
  streamUsage: boolean = true,
): Readonly<Record<string, unknown>> {
  return stream && streamUsage && body.stream_options?.include_usage !== true
    ? { model: model.id, stream_options: { ...body.stream_options, include_usage: true } }
    : { model: model.id };
}

/**
 * The JSON of a request's body: the client's own text where it came as such, spliced.
 *
 * @param request The request.
 * @param edits What differs for the provider; undefined removes a member.
 * @default `{ model }`, by the provider's own name of it
 */
export function jsonOf(
  { model, body, wire }: OperationRequest,
  edits: Readonly<Record<string, unknown>> = { model: model.id },
): string {
  return wire === undefined
    ? JSON.stringify({ ...body, ...edits })
    : editMembers(wire.text, { ...wire.edits, ...edits });
}

/**
 * The body of a request, and the headers that go with it: JSON, or a form where it has files.
 *
 * @param request The request.
 * @param runtime For a boundary that no file has.
 */
export function bodyOf(
  request: OperationRequest,
  { random }: Pick<Runtime, "random">,
): Pick<UpstreamRequest, "body" | "headers"> {
  const { files, body, model } = request;
  if (files === undefined) return { headers: {}, body: jsonOf(request) };
  const fields = Object.entries({ ...body, model: model.id }).flatMap(([name, value]) => fieldsOf(name, value));
  const boundary = `form-${[random(), random(), random()].map((one) => one.toString(36).slice(2)).join("")}`;
  const { contentType, chunks } = writeForm({ fields, files }, boundary);
  return { headers: { "content-type": contentType }, body: chunks };
}

/** Lists as several fields of a name that ends in `[]`, as OpenAI's clients write them. */
function fieldsOf(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(`${name}[]`, one));
  return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
}

/**
 * A complete response.
 *
 * @param body The parsed JSON.
 * @throws {UpstreamError} When it is an error, or has no choices.
 */
export function completionOf(body: Record<string, unknown>): ChatCompletion {
  throwIfError(body);
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    throw new UpstreamError("The provider's answer has no choices", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletion;
}

/** How a streamed response is read. */
interface StreamParts {
  /** Reads a complete response, which some servers send in place of a stream. */
  readonly readWhole: (body: Record<string, unknown>) => ChatCompletion;
  /** Reads an event's data; undefined: it has nothing to pass on. */
  readonly readChunk: (data: string) => CompletionChunk | undefined;
  /** Where the events that were read went: it knows whether the response is finished. */
  readonly chunks: ChunkReader;
  /** Only the events' text is wanted once a response has begun: those that arrive together may become one chunk. */
  readonly joins?: boolean;
}

/**
 * Reads a streamed response. It ends by `[DONE]`, or where every choice has its finish reason.
 *
 * @param opening The response, once its head is read.
 * @param parts How it is read.
 * @throws {UpstreamError} For an error event, and for a stream that ends before the response does.
 */
export async function* readStream(
  opening: Promise<UpstreamResponse>,
  { readWhole, readChunk, chunks, joins = false }: StreamParts,
): AsyncGenerator<CompletionChunk> {
  const response = await opening;
  if (/json|html/.test(response.headers.get("content-type") ?? "")) {
    yield* chunksOf(readWhole(await readObject(response)));
    return;
  }
  const batches = new EventBatches(readChunk, joins);
  let unfinished = "";
  let isDone = false;
  let empty = true;
  try {
    for await (const events of readSse(streamReaderOf(response), (data) => unfinished = data)) {
      const batch = batches.read(events);
      for (const chunk of batch.chunks) {
        yield chunk;
        empty = false;
      }
      if (batch.failure !== undefined) throw batch.failure;
      isDone = batch.isDone;
      if (isDone) break;
    }
  } catch (error) {
    // a connection that breaks after the response's end is harmless
    if (!NetworkError.isInstance(error) || !chunks.isFinished) throw error;
  }
  if (!isDone && !chunks.isFinished && unfinished !== "[DONE]") {
    throw new UpstreamError("The provider's stream ended before the answer did", { kind: "invalid_response" });
  }
  if (empty) throw new UpstreamError("The provider's stream was empty", { kind: "invalid_response" });
}
