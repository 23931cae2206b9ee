/**
 * The shapes of models other than those of language, in the words of the `ai` package: see `spec.ts`.
 * @module
 */
import type { CallOptions, ModelFacts, Warning } from "./spec.ts";

/** An `EmbeddingModel` of `ai`. */
export interface EmbeddingModel extends ModelFacts {
  /** So many all vendors take. */
  readonly maxEmbeddingsPerCall: number;
  /** Always. */
  readonly supportsParallelCalls: boolean;
  /** Asks for a vector of each text. */
  doEmbed(
    options: CallOptions & { values: readonly string[]; dimensions?: number | undefined },
  ): Promise<{ embeddings: number[][]; usage: { tokens: number }; warnings: Warning[] }>;
}

/** A file that is given to a model of images. */
export type ImageFile =
  | { type: "file"; mediaType: string; data: string | Uint8Array }
  | { type: "url"; url: string };

/** What a model of images is asked. */
export interface ImageCallOptions extends CallOptions {
  /** What is to be seen. */
  prompt?: string | undefined;
  /** How many. */
  n: number;
  /** Such as `1024x1024`. */
  size?: string | undefined;
  /** Such as `16:9`. */
  aspectRatio?: string | undefined;
  /** Seed. */
  seed?: number | undefined;
  /** Images to be edited. */
  files?: readonly ImageFile[] | undefined;
  /** Where. */
  mask?: ImageFile | undefined;
}

/** An `ImageModel` of `ai`. */
export interface ImageModel extends ModelFacts {
  /** One: not every model draws several at once. */
  readonly maxImagesPerCall: number;
  /** Asks for images, in Base64. */
  doGenerate(options: ImageCallOptions): Promise<{
    images: string[];
    warnings: Warning[];
    response: { timestamp: Date; modelId: string; headers: undefined };
  }>;
}

/** What a model that speaks is asked. */
export interface SpeechCallOptions extends CallOptions {
  /** What is to be said. */
  text: string;
  /** The voice. */
  voice?: string | undefined;
  /** Such as `mp3`. */
  outputFormat?: string | undefined;
  /** How it is spoken. */
  instructions?: string | undefined;
  /** 0.25 to 4. */
  speed?: number | undefined;
  /** The text's. */
  language?: string | undefined;
}

/** A `SpeechModel` of `ai`. */
export interface SpeechModel extends ModelFacts {
  /** Asks for the sound of a text. */
  doGenerate(options: SpeechCallOptions): Promise<{
    audio: Uint8Array;
    warnings: Warning[];
    response: { timestamp: Date; modelId: string };
  }>;
}

/** What a model that listens is asked. */
export interface TranscriptionCallOptions extends CallOptions {
  /** The sound; a string is Base64. */
  audio: Uint8Array | string;
  /** Such as `audio/wav`. */
  mediaType: string;
  /** What is to have times: `word`, `segment`. */
  timestampGranularities?: readonly string[] | undefined;
}

/** A `TranscriptionModel` of `ai`. */
export interface TranscriptionModel extends ModelFacts {
  /** Asks for the text of a sound. */
  doGenerate(options: TranscriptionCallOptions): Promise<{
    text: string;
    segments: { text: string; startSecond: number; endSecond: number }[];
    words?: { text: string; startSecond: number; endSecond: number }[];
    language: string | undefined;
    durationInSeconds: number | undefined;
    warnings: Warning[];
    response: { timestamp: Date; modelId: string };
  }>;
}

/** What a model that ranks is asked. */
export interface RerankingCallOptions extends CallOptions {
  /** Texts, or objects. */
  documents: { type: "text"; values: readonly string[] } | { type: "object"; values: readonly unknown[] };
  /** What is looked for. */
  query: string;
  /** How many at most. */
  topN?: number | undefined;
}

/** A `RerankingModel` of `ai`. */
export interface RerankingModel extends ModelFacts {
  /** Asks which documents fit best. */
  doRerank(options: RerankingCallOptions): Promise<{
    ranking: { index: number; relevanceScore: number }[];
    warnings: Warning[];
  }>;
}
