/**
 * Requests and responses in OpenAI's dialect, for compatible vendors and for providers that programs define.
 * @module
 */
import type { ChatCompletion } from "../../src/contracts/openai.ts";
import type { CompletionChunk, CompletionRequest } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { throwIfError } from "./_http.ts";
import type { StreamParts } from "./_openai_stream.ts";

/** Edits that a request body needs for the provider: the upstream model id, and reporting of usage. */
export function findEdits(
  { model, stream, body }: CompletionRequest,
  streamUsage: boolean = true,
): Readonly<Record<string, unknown>> {
  const isRejected = model.parameters?.drop?.includes("stream_options");
  return stream && streamUsage && !isRejected && body.stream_options?.include_usage !== true
    ? { model: model.id, stream_options: { ...body.stream_options, include_usage: true } }
    : { model: model.id };
}

/**
 * Validates a complete response.
 *
 * @param body The parsed JSON.
 * @throws {UpstreamError} If it is an error, or has no choices.
 */
export function checkCompletion(body: Record<string, unknown>): ChatCompletion {
  throwIfError(body);
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    throw new UpstreamError("The provider's response has no choices", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletion;
}

let modules: typeof import("./_openai_stream.ts") | undefined;

/**
 * Reads a streaming response. The parser is imported with the first stream, so that pages without streaming do not load
 * it.
 *
 * @param opening The response, once its head has been received.
 * @param parts Its parsers and options.
 */
export function openChunkStream(
  opening: Promise<UpstreamResponse>,
  parts: StreamParts,
): AsyncIterableIterator<CompletionChunk> {
  const read = ({ ChunkStream }: typeof import("./_openai_stream.ts")) => new ChunkStream(opening, parts);
  if (modules !== undefined) return read(modules);
  opening.catch(() => {}); // the error is thrown when the stream is read
  const stream = import("./_openai_stream.ts").then((loaded) => read(modules = loaded));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => await (await stream).next(),
    return: async () => await (await stream).return(),
  };
}
