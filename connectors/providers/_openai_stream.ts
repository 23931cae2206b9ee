/**
 * Streams of OpenAI's dialect.
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

/** How a streamed response is read. */
export interface StreamParts {
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
