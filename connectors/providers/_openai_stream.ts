/**
 * Streaming responses in OpenAI's dialect.
 * @module
 */
import type { ChatCompletion } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { readSse } from "../../src/util/sse_parse.ts";
import { readObject } from "./_base.ts";
import type { ChunkReader } from "./_chunk_reader.ts";
import { chunksOf } from "./_chunks.ts";
import { EventBatches } from "./_event_batches.ts";
import { streamReaderOf } from "./_http.ts";

export { ChunkReader } from "./_chunk_reader.ts";

/** How a streaming response is parsed. */
export interface StreamParts {
  /** Parses a complete response, which some servers return instead of a stream. */
  readonly readWhole: (body: Record<string, unknown>) => ChatCompletion;
  /** Parses an event's data; undefined if there is nothing to forward. */
  readonly readChunk: (data: string) => CompletionChunk | undefined;
  /** The parser of the events, which knows whether the response is complete. */
  readonly chunks: ChunkReader;
  /**
   * Whether, after the first content, events that arrive together may be joined into one chunk, since only their JSON
   * is used.
   */
  readonly joins?: boolean;
}

/**
 * Reads a streaming response. It ends with `[DONE]`, or when every choice has its finish reason.
 *
 * @param opening The response, once its head has been received.
 * @param parts How it is parsed.
 * @throws {UpstreamError} For an error event, or if the stream ends before the response is complete.
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
    // a connection reset after the end of the response is harmless
    if (!NetworkError.isInstance(error) || !chunks.isFinished) throw error;
  }
  if (!isDone && !chunks.isFinished && unfinished !== "[DONE]") {
    throw new UpstreamError("The provider's stream ended before the response was complete", {
      kind: "invalid_response",
    });
  }
  if (empty) throw new UpstreamError("The provider's stream was empty", { kind: "invalid_response" });
}
