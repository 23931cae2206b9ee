/**
 * Normalizes streamed chat responses, including those of providers that programs define. Their objects are not modified.
 * @module
 */
import type { ChatCompletionChunk } from "../contracts/openai.ts";
import type { CompletionChunk, CompletionRequest, OperationRequest } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ChunkNormalizer } from "../util/normalize_chunk.ts";
import { createDefaults } from "../util/completion_defaults.ts";
import { copyParts } from "./normalize.ts";

/** Normalizes the chunks of one stream, in order. Chunks as received were normalized by their connector. */
export class ChunkFilter {
  readonly #normalizer: ChunkNormalizer;

  constructor(request: OperationRequest, runtime: Runtime) {
    this.#normalizer = new ChunkNormalizer(createDefaults(request as CompletionRequest, runtime));
  }

  /** @throws {UpstreamError} If the chunk is invalid. */
  read(chunk: CompletionChunk): CompletionChunk {
    if (chunk.wire !== undefined || chunk.native !== undefined || chunk.isPing) return chunk;
    const value = copyParts(chunk.value, "delta") as ChatCompletionChunk;
    return this.#normalizer.normalize(value) ? { ...chunk, value } : chunk;
  }
}
