/**
 * Embeddings, in OpenAI's shape.
 * @module
 */
import type { RequestBody } from "./body.ts";

/** The body of `POST /v1/embeddings`. */
export interface EmbeddingRequest extends RequestBody {
  /** One text or several, or their tokens in the vocabulary of OpenAI's models. */
  input: string | string[] | number[] | number[][];
  /** Numbers per vector, where the model lets one choose. */
  dimensions?: number;
  /**
   * How vectors are written: lists of numbers, or base64 of their little-endian 32-bit floats.
   * @default {"float"}
   */
  encoding_format?: "float" | "base64";
}

/** One vector. */
export interface Embedding {
  /** Always `embedding`. */
  object: "embedding";
  /** Index of its input, from 0. */
  index: number;
  /** The vector; with `encoding_format: "base64"` a string. */
  embedding: number[];
}

/** The response to an {@linkcode EmbeddingRequest}. */
export interface EmbeddingResponse {
  /** Always `list`. */
  object: "list";
  /** A vector for each input, in order. */
  data: Embedding[];
  /** The concrete model, as its provider names it. */
  model: string;
  /** Token counts, where the provider reported them. */
  usage: { prompt_tokens: number; total_tokens: number };
  /** What else a vendor adds. */
  [key: string]: unknown;
}
