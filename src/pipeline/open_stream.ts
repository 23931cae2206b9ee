/**
 * Opens streams. Events are buffered until one has content; after a failure before that, the request can rotate.
 * @module
 */
import type { CompletionUsage } from "../contracts/openai.ts";
import type { CompletionChunk } from "../contracts/provider.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import { endIterator } from "../util/end_iterator.ts";
import { carriesContent } from "./content.ts";
import type { ChunkFilter } from "./chunk_filter.ts";
import { readModelId } from "./read_response.ts";
import type { Served } from "./routed.ts";

/** Maximum size of buffered events before the stream commits anyway, characters. */
const maxBufferedChars = 64 * 1024;

/** A stream whose first content was received. */
export interface OpenStream {
  /** Events up to the first one with content, inclusive. */
  readonly held: CompletionChunk[];
  /** Later events. */
  readonly rest: AsyncIterator<CompletionChunk>;
  /** Whether the buffered events are the whole response. */
  readonly complete: boolean;
  /** Normalizes the later events. */
  readonly filter: ChunkFilter;
}

/** What a stream is read with. */
interface StreamReading {
  /** Normalizes its events. */
  readonly filter: ChunkFilter;
  /** Aborts the call, even if the stream ignores it. */
  readonly signal: StopSignal;
}

/**
 * Reads a stream up to its first content.
 *
 * @param events The provider's stream, not yet read.
 * @param reading What it is read with.
 * @throws Any error of the provider before the first content.
 */
export function openStream(
  events: AsyncIterable<CompletionChunk>,
  reading: StreamReading,
): Promise<Served<OpenStream>> {
  const rest = events[Symbol.asyncIterator]();
  // ends the source; without effect on a stream that has ended
  reading.signal.addEventListener("abort", () => endIterator(rest));
  return warmUp(rest, reading);
}

async function warmUp(
  rest: AsyncIterator<CompletionChunk>,
  { filter, signal }: StreamReading,
): Promise<Served<OpenStream>> {
  const held: CompletionChunk[] = [];
  let size = 0;
  let usage: CompletionUsage | null | undefined;
  for (;;) {
    const { done, value: event } = await rest.next();
    if (signal.aborted) throw signal.reason;
    if (done) {
      return { answer: { held, rest, complete: true, filter }, empty: true, usage, model: readModelId(held[0]?.value) };
    }
    if (event.isPing) continue; // a sign of life, not a part of the response
    const value = filter.read(event);
    held.push(value);
    usage = value.value.usage ?? usage;
    size += value.wire?.length ?? JSON.stringify(value.value).length;
    if (carriesContent(value.value) || size > maxBufferedChars) {
      return { answer: { held, rest, complete: false, filter }, empty: false, model: readModelId(value.value) };
    }
  }
}
