/**
 * Embeddings, in OpenAI's shape.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/embeddings`. */
export interface EmbeddingRequest extends RequestBody {
  /** One or several strings, or their token ids in the vocabulary of OpenAI's models. */
  input: string | string[] | number[] | number[][];
  /** Number of dimensions per vector, on models that support a choice. */
  dimensions?: number;
  /**
   * Encoding of the vectors: arrays of numbers, or base64 of little-endian 32-bit floats.
   * @default {"float"}
   */
  encoding_format?: "float" | "base64";
}

/** One vector. */
export interface Embedding {
  /** Always `embedding`. */
  object: "embedding";
  /** Index of the input, from 0. */
  index: number;
  /** The vector; a base64 string if `encoding_format` is `base64`. */
  embedding: number[];
}

/** The response to an {@linkcode EmbeddingRequest}. */
export interface EmbeddingResponse {
  /** Always `list`. */
  object: "list";
  /** One vector per input, in input order. */
  data: Embedding[];
  /** The upstream model id. */
  model: string;
  /** Token counts, if the provider reported them. */
  usage: { prompt_tokens: number; total_tokens: number };
  /** Vendor extensions. */
  [key: string]: unknown;
}
