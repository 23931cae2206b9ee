/**
 * Normalizes streamed chat responses, including those of providers that programs define. Their objects are not modified.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, OperationRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ChunkNormalizer } from "../util/normalize_chunk.ts";
import { createDefaults } from "../util/completion_defaults.ts";
import type { ClientNames } from "./client_names.ts";
import { copyParts } from "./normalize.ts";

/** Normalizes the chunks of one stream, in order. Chunks as received were normalized by their connector. */
export class ChunkFilter {
  readonly #normalizer: ChunkNormalizer;
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
    this.#normalizer = new ChunkNormalizer(createDefaults(request as CompletionRequest, runtime));
  }

  /** @throws {UpstreamError} If the chunk is invalid. */
  read(chunk: CompletionChunk): CompletionChunk {
    const normalized = this.#normalize(chunk);
    return this.#clientNames === undefined ? normalized : withClientNames(normalized, this.#clientNames);
  }

  #normalize(chunk: CompletionChunk): CompletionChunk {
    if (chunk.wire !== undefined || chunk.native !== undefined || chunk.isPing) return chunk;
    const value = copyParts(chunk.value, "delta") as ChatCompletionChunk;
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
