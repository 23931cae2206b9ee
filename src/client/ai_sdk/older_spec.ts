/**
 * Types of models for `ai` 6 (specification version v3) and `ai` 5 (v2), as far as they differ from v4: see `spec.ts`.
 * @module
 */
import type { MeshClient } from "../client.ts";
import type { EmbeddingModel, ImageModel, RerankingModel, SpeechModel, TranscriptionModel } from "./other_spec.ts";
import type {
  ContentPart,
  FilePart,
  FinishReason,
  GenerateResult,
  LanguageCallOptions,
  LanguageModel,
  ModelFacts,
  StreamPart,
  StreamResult,
  Warning,
} from "./spec.ts";

/** A file that a model has generated, before v4. One with a URL is a source instead. */
export type OlderFilePart = Omit<FilePart, "data"> & {
  /** Content, Base64. */
  data: string;
};

/** A warning, in v2. */
export type WarningV2 =
  // deno-lint-ignore no-explicit-any -- for `ai`, a key of the options of each kind of model
  | { type: "unsupported-setting"; setting: any; details?: string }
  | { type: "other"; message: string };

/** Token counts, in v2. */
export interface LanguageUsageV2 {
  /** Input tokens. */
  inputTokens: number | undefined;
  /** Output tokens. */
  outputTokens: number | undefined;
  /** Input and output tokens. */
  totalTokens: number | undefined;
  /** Output tokens that are reasoning. */
  reasoningTokens: number | undefined;
  /** Input tokens read from a cache. */
  cachedInputTokens: number | undefined;
}

/** What reports on a result, in v2. */
export interface ReportV2 {
  /** Why generation finished. */
  finishReason: FinishReason["unified"];
  /** Token counts. */
  usage: LanguageUsageV2;
}

/** Result of a call that does not stream, in v3. */
export type GenerateResultV3 = Omit<GenerateResult, "content"> & {
  /** Parts of the response. */
  content: (Exclude<ContentPart, FilePart> | OlderFilePart)[];
};

/** Result of a call that does not stream, in v2. */
export type GenerateResultV2 = Omit<GenerateResultV3, "finishReason" | "usage" | "warnings"> & ReportV2 & {
  /** Options that were ignored. */
  warnings: WarningV2[];
};

/** A part of a streamed response, in v3. */
export type StreamPartV3 = Exclude<StreamPart, FilePart> | OlderFilePart;

/** A part of a streamed response, in v2. */
export type StreamPartV2 =
  | Exclude<StreamPartV3, { type: "stream-start" } | { type: "finish" }>
  | { type: "stream-start"; warnings: WarningV2[] }
  | ({
    type: "finish";
    // deno-lint-ignore no-explicit-any -- `ai` types it so
    providerMetadata: Record<string, any>;
  } & ReportV2);

/** A model of another version, whose calls have other results. */
export type OlderModel<Model extends ModelFacts, Version extends "v2" | "v3"> = {
  [Member in keyof Model]: Member extends "specificationVersion" ? Version
    : Model[Member] extends (options: infer Options) => Promise<infer Result>
      ? (options: Options) => Promise<OlderResult<Result, Version>>
    : Model[Member];
};

/** A result of another version than v4: in v2, warnings differ. */
export type OlderResult<Result, Version extends "v2" | "v3"> = Result extends { warnings: Warning[] }
  ? Version extends "v2" ? Omit<Result, "warnings"> & { warnings: WarningV2[] } : Result
  : Result;

/** A language model of `ai` 6. */
export interface LanguageModelV3 extends Omit<LanguageModel, "specificationVersion" | "doGenerate" | "doStream"> {
  /** Version of the specification. */
  readonly specificationVersion: "v3";
  /** Generates a response. */
  doGenerate(options: LanguageCallOptions): Promise<GenerateResultV3>;
  /** Generates a response as a stream. */
  doStream(
    options: LanguageCallOptions,
  ): Promise<Omit<StreamResult, "stream"> & { stream: ReadableStream<StreamPartV3> }>;
}

/** A language model of `ai` 5. */
export interface LanguageModelV2 extends Omit<LanguageModel, "specificationVersion" | "doGenerate" | "doStream"> {
  /** Version of the specification. */
  readonly specificationVersion: "v2";
  /** Generates a response. */
  doGenerate(options: LanguageCallOptions): Promise<GenerateResultV2>;
  /** Generates a response as a stream. */
  doStream(
    options: LanguageCallOptions,
  ): Promise<Omit<StreamResult, "stream"> & { stream: ReadableStream<StreamPartV2> }>;
}

/** A provider of `ai` 6. */
export interface MeshProviderV3 {
  /** Returns a language model. */
  (name: string): LanguageModelV3;
  /** Version of the provider specification. */
  readonly specificationVersion: "v3";
  /** The client that sends the requests. The program that created it closes it. */
  readonly client: MeshClient;
  /** Returns a language model. */
  languageModel(name: string): LanguageModelV3;
  /** Returns an embedding model. */
  embeddingModel(name: string): OlderModel<EmbeddingModel, "v3">;
  /** Returns an image model. */
  imageModel(name: string): OlderModel<ImageModel, "v3">;
  /** Returns a speech model. */
  speechModel(name: string): OlderModel<SpeechModel, "v3">;
  /** Returns a transcription model. */
  transcriptionModel(name: string): OlderModel<TranscriptionModel, "v3">;
  /** Returns a reranking model. */
  rerankingModel(name: string): OlderModel<RerankingModel, "v3">;
}

/** A provider of `ai` 5. */
export interface MeshProviderV2 {
  /** Returns a language model. */
  (name: string): LanguageModelV2;
  /** The client that sends the requests. The program that created it closes it. */
  readonly client: MeshClient;
  /** Returns a language model. */
  languageModel(name: string): LanguageModelV2;
  /** Returns an embedding model. */
  textEmbeddingModel(name: string): OlderModel<EmbeddingModel, "v2">;
  /** Returns an image model. */
  imageModel(name: string): OlderModel<ImageModel, "v2">;
  /** Returns a speech model. */
  speechModel(name: string): OlderModel<SpeechModel, "v2">;
  /** Returns a transcription model. */
  transcriptionModel(name: string): OlderModel<TranscriptionModel, "v2">;
}
