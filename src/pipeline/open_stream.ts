/**
 * Opens streams. Events are buffered until one has content; after a failure before that, the request can rotate.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, OperationRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { endIterator } from "../util/end_iterator.ts";
import { carriesContent, copyParts, isFilteredOut, readModelId } from "./read_response.ts";
import type { ReportedUsage } from "./operation.ts";
import type { Received } from "./result.ts";
import { ChunkNormalizer } from "../util/normalize_chunk.ts";
import { createDefaults } from "../util/normalize_completion.ts";
import type { ClientNames } from "./client_names.ts";
import type { Connection } from "./connection.ts";
import type { AttemptTimeout } from "./failure.ts";

/** Maximum size of buffered events before the stream commits anyway, characters. */
const maxBufferedChars = 64 * 1024;

/** What is known about the rate of a stream. */
export interface StreamRate {
  /** The name of the limit, if the stream was too slow at any time. */
  readonly exceeded: string | undefined;
  /** Called at every check that finds the stream too slow. */
  onSlow: ((reason: AttemptTimeout) => void) | undefined;
}

/** A stream whose first content was received. */
export interface OpenStream extends Received {
  /** Events up to the first one with content, inclusive. */
  readonly held: CompletionChunk[];
  /** Later events. */
  readonly rest: AsyncIterator<CompletionChunk>;
  /** Whether the buffered events are the complete response. */
  complete: boolean;
  /** Normalizes the later events. */
  readonly filter: ChunkFilter;
  /** Its rate, if the provider has a minimum. */
  readonly rate?: StreamRate;
  /** Called at the end of the stream, if its events count towards a limit of memory. */
  release?: () => void;
}

/**
 * Reads a stream up to its first content.
 *
 * @param events The provider's stream, not yet read.
 * @throws Any error of the provider before the first content.
 */
export async function openStream(
  events: AsyncIterable<CompletionChunk>,
  { filter, connection, rotatesFiltered = false }: {
    /** Normalizes its events. */
    readonly filter: ChunkFilter;
    /** Stops the call, even if the stream ignores it. */
    readonly connection: Pick<Connection, "stop" | "isEnded" | "begin">;
    /** Whether a stream of which a filter has left nothing counts as empty. */
    readonly rotatesFiltered?: boolean | undefined;
  },
): Promise<OpenStream> {
  const rest = events[Symbol.asyncIterator]();
  const { stop } = connection;
  stop.addEventListener("abort", () => {
    if (!connection.isEnded) endIterator(rest); // without effect on a stream that has ended
  });
  const held: CompletionChunk[] = [];
  let size = 0;
  let usage: ReportedUsage = { usage: undefined };
  for (;;) {
    const { done, value: event } = await rest.next();
    if (stop.aborted) throw stop.reason;
    if (done) {
      return { held, rest, complete: true, filter, isEmpty: true, usage, modelId: readModelId(held[0]?.value) };
    }
    if (event.isPing) continue; // a sign of life, not a part of the response
    const value = filter.read(event);
    held.push(value);
    usage = addUsage(usage, value);
    size += value.wire?.length ?? JSON.stringify(value.value).length;
    const hasContent = carriesContent(value.value) && !(rotatesFiltered && isFilteredOut(value.value));
    if (hasContent || size > maxBufferedChars) {
      connection.begin();
      return { held, rest, complete: false, filter, isEmpty: false, modelId: readModelId(value.value) };
    }
  }
}

/** Adds what a chunk reports to the usage of its stream. Later counts replace earlier ones. */
export function addUsage({ usage, billed, tier }: ReportedUsage, chunk: CompletionChunk): ReportedUsage {
  const { value } = chunk;
  return {
    usage: value.usage ?? usage,
    billed: chunk.billed === undefined ? billed : { ...billed, ...chunk.billed },
    tier: value.service_tier ?? tier,
  };
}

/** Normalizes the chunks of one stream, in order. Chunks as received were normalized by their connector. */
export class ChunkFilter {
  readonly #request: OperationRequest;
  readonly #runtime: Runtime;
  /** Created for the first chunk that its connector has not normalized. */
  #normalizer: ChunkNormalizer | undefined;
  readonly #clientNames: ClientNames | undefined;

  /**
   * @param request The adapted request.
   * @param context The client's names of tools, to restore; undefined if they were sent.
   */
  constructor(
    request: OperationRequest,
    { runtime, clientNames }: { readonly runtime: Runtime; readonly clientNames?: ClientNames | undefined },
  ) {
    this.#clientNames = clientNames;
    this.#request = request;
    this.#runtime = runtime;
  }

  /** @throws {UpstreamError} If the chunk is invalid. */
  read(chunk: CompletionChunk): CompletionChunk {
    const normalized = this.#normalize(chunk);
    return this.#clientNames === undefined ? normalized : withClientNames(normalized, this.#clientNames);
  }

  #normalize(chunk: CompletionChunk): CompletionChunk {
    if (chunk.wire !== undefined || chunk.native !== undefined || chunk.isPing) return chunk;
    const value = copyParts(chunk.value, "delta") as ChatCompletionChunk;
    this.#normalizer ??= new ChunkNormalizer(createDefaults(this.#request as CompletionRequest, this.#runtime));
    return this.#normalizer.normalize(value) ? { ...chunk, value } : chunk;
  }
}

/** The JSON of an event with other names is not sent. */
function withClientNames(chunk: CompletionChunk, clientNames: ClientNames): CompletionChunk {
  const value = clientNames.restore(chunk.value, "delta");
  if (value === chunk.value) return chunk;
  const { wire: _, ...others } = chunk;
  return { ...others, value };
}
