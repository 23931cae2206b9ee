/**
 * Types of embedding, image, speech, transcription and reranking models, as the `ai` package specifies them: see
 * `spec.ts`.
 * @module
 */
import type { CallOptions, ModelFacts, Warning } from "./spec.ts";

/** An `EmbeddingModel` of `ai`. */
export interface EmbeddingModel extends ModelFacts {
  /** Maximum number of values per call. */
  readonly maxEmbeddingsPerCall: number;
  /** Always true. */
  readonly supportsParallelCalls: boolean;
  /** Creates an embedding for each value. */
  doEmbed(
    options: CallOptions & { values: readonly string[]; dimensions?: number | undefined },
  ): Promise<{ embeddings: number[][]; usage: { tokens: number }; warnings: Warning[] }>;
}

/** A file passed to an image model. */
export type ImageFile =
  | { type: "file"; mediaType: string; data: string | Uint8Array }
  | { type: "url"; url: string };

/** Call options of an image model. */
export interface ImageCallOptions extends CallOptions {
  /** Text prompt. */
  prompt?: string | undefined;
  /** Number of images. */
  n: number;
  /** Size in pixels, such as `1024x1024`. */
  size?: string | undefined;
  /** Aspect ratio, such as `16:9`. */
  aspectRatio?: string | undefined;
  /** Random seed. */
  seed?: number | undefined;
  /** Images to edit. */
  files?: readonly ImageFile[] | undefined;
  /** Mask: the area to edit. */
  mask?: ImageFile | undefined;
}

/** An `ImageModel` of `ai`. */
export interface ImageModel extends ModelFacts {
  /** One, since some models create a single image per call. */
  readonly maxImagesPerCall: number;
  /** Generates images, in Base64. */
  doGenerate(options: ImageCallOptions): Promise<{
    images: string[];
    warnings: Warning[];
    response: { timestamp: Date; modelId: string; headers: undefined };
  }>;
}

/** Call options of a speech model. */
export interface SpeechCallOptions extends CallOptions {
  /** The text to speak. */
  text: string;
  /** Voice id. */
  voice?: string | undefined;
  /** Audio format, such as `mp3`. */
  outputFormat?: string | undefined;
  /** Instructions for tone and style. */
  instructions?: string | undefined;
  /** Speed factor, 0.25 to 4. */
  speed?: number | undefined;
  /** Language of the text. */
  language?: string | undefined;
}

/** A `SpeechModel` of `ai`. */
export interface SpeechModel extends ModelFacts {
  /** Synthesizes speech. */
  doGenerate(options: SpeechCallOptions): Promise<{
    audio: Uint8Array;
    warnings: Warning[];
    response: { timestamp: Date; modelId: string };
  }>;
}

/** Call options of a transcription model. */
export interface TranscriptionCallOptions extends CallOptions {
  /** The audio; a string is Base64. */
  audio: Uint8Array | string;
  /** Media type, such as `audio/wav`. */
  mediaType: string;
  /** What gets timestamps: `word`, `segment`. */
  timestampGranularities?: readonly string[] | undefined;
}

/** A `TranscriptionModel` of `ai`. */
export interface TranscriptionModel extends ModelFacts {
  /** Transcribes audio. */
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

/** Call options of a reranking model. */
export interface RerankingCallOptions extends CallOptions {
  /** Strings or objects. */
  documents: { type: "text"; values: readonly string[] } | { type: "object"; values: readonly unknown[] };
  /** The query that documents are ranked for. */
  query: string;
  /** Maximum number of results. */
  topN?: number | undefined;
}

/** A `RerankingModel` of `ai`. */
export interface RerankingModel extends ModelFacts {
  /** Ranks documents by relevance to the query. */
  doRerank(options: RerankingCallOptions): Promise<{
    ranking: { index: number; relevanceScore: number }[];
    warnings: Warning[];
  }>;
}
