/**
 * A provider of the `ai` package over a client.
 * @module
 */
import type { MeshClient } from "../client.ts";
import { languageModel } from "./language_model.ts";
import type {
  EmbeddingModel,
  ImageCallOptions,
  ImageFile,
  ImageModel,
  RerankingModel,
  SpeechModel,
  TranscriptionModel,
} from "./other_spec.ts";
import type { LanguageModel, Warning } from "./spec.ts";
import type { Transcription } from "../../contracts/audio.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { fromBase64 } from "../../util/base64.ts";
import { pickDefined } from "../../util/entries.ts";
import { createResponseFacts, type ModelContext, ownOptions, toCallSettings, toModelFacts } from "./_settings.ts";

/**
 * A provider of the `ai` package. Each model is named by a pool, an alias, a capability or a model.
 *
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { create } from "@modelmesh/core";
 * import { mesh } from "@modelmesh/core/ai-sdk";
 *
 * const provider = mesh(create({ config: "modelmesh.yaml" }));
 * const { text } = await generateText({ model: provider("chat"), prompt: "Hello" });
 * ```
 */
export interface MeshProvider {
  /** Returns a language model. */
  (name: string): LanguageModel;
  /** Version of the provider specification. */
  readonly specificationVersion: "v4";
  /** The client that sends the requests. The program that created it closes it. */
  readonly client: MeshClient;
  /** Returns a language model. */
  languageModel(name: string): LanguageModel;
  /** Returns an embedding model. */
  embeddingModel(name: string): EmbeddingModel;
  /** Returns an image model. */
  imageModel(name: string): ImageModel;
  /** Returns a speech model. */
  speechModel(name: string): SpeechModel;
  /** Returns a transcription model. */
  transcriptionModel(name: string): TranscriptionModel;
  /** Returns a reranking model. */
  rerankingModel(name: string): RerankingModel;
}

/**
 * Creates a provider.
 *
 * @param client The client that sends the requests.
 */
export function providerOver(client: MeshClient): MeshProvider {
  const by = <Model>(make: (context: { client: MeshClient; name: string }) => Model) => (name: string) =>
    make({ client, name });
  return Object.assign(by(languageModel), {
    specificationVersion: "v4" as const,
    client,
    languageModel: by(languageModel),
    embeddingModel: by(embeddingModel),
    imageModel: by(imageModel),
    speechModel: by(speechModel),
    transcriptionModel: by(transcriptionModel),
    rerankingModel: by(rerankingModel),
  });
}

/** The smallest limit of inputs per call among the supported vendors. */
const maxEmbeddingsPerCall = 96;

/** Creates an embedding model. */
function embeddingModel(context: ModelContext): EmbeddingModel {
  return {
    ...toModelFacts(context),
    maxEmbeddingsPerCall,
    supportsParallelCalls: true,
    async doEmbed(options) {
      const { data, usage } = await context.client.embeddings.create({
        model: context.name,
        input: [...options.values],
        ...pickDefined({ dimensions: options.dimensions }),
        ...ownOptions(options),
      }, toCallSettings(options));
      return {
        embeddings: data.map(({ embedding }) => embedding),
        usage: { tokens: usage.prompt_tokens },
        warnings: [],
      };
    },
  };
}

/** Creates an image model. */
function imageModel(context: ModelContext): ImageModel {
  return {
    ...toModelFacts(context),
    maxImagesPerCall: 1,
    async doGenerate(options) {
      const { data } = await drawn(context, options);
      return {
        images: data.map(({ b64_json }) => b64_json!),
        warnings: unsupported(options, ["aspectRatio", "seed"]),
        response: { ...createResponseFacts(context), headers: undefined },
      };
    },
  };
}

/** Creates a speech model. */
function speechModel(context: ModelContext): SpeechModel {
  return {
    ...toModelFacts(context),
    async doGenerate(options) {
      const { text, voice = "alloy", outputFormat, instructions, speed } = options;
      const response = await context.client.audio.speech.create({
        model: context.name,
        input: text,
        voice,
        ...pickDefined({ response_format: outputFormat, instructions, speed }),
        ...ownOptions(options),
      }, toCallSettings(options));
      const audio = new Uint8Array(await response.arrayBuffer());
      return { audio, warnings: unsupported(options, ["language"]), response: createResponseFacts(context) };
    },
  };
}

/** Creates a transcription model. */
function transcriptionModel(context: ModelContext): TranscriptionModel {
  return {
    ...toModelFacts(context),
    async doGenerate(options) {
      const { audio, mediaType, timestampGranularities: times = [] } = options;
      const transcription: Transcription = await context.client.audio.transcriptions.create({
        model: context.name,
        file: toFile(audio, mediaType),
        ...(times.length === 0 ? {} : { response_format: "verbose_json", timestamp_granularities: [...times] }),
        ...ownOptions(options),
      }, toCallSettings(options));
      const timed = (text: string, { start, end }: { start: number; end: number }) => {
        return { text, startSecond: start, endSecond: end };
      };
      return {
        text: transcription.text,
        segments: (transcription.segments ?? []).map((segment) => timed(segment.text, segment)),
        ...(transcription.words === undefined
          ? {}
          : { words: transcription.words.map((word) => timed(word.word, word)) }),
        language: transcription.language,
        durationInSeconds: transcription.duration,
        warnings: [],
        response: createResponseFacts(context),
      };
    },
  };
}

/** Creates a reranking model. */
function rerankingModel(context: ModelContext): RerankingModel {
  return {
    ...toModelFacts(context),
    async doRerank(options) {
      const { documents, query, topN } = options;
      const strings = documents.values.map((value) => typeof value === "string" ? value : JSON.stringify(value));
      const { results } = await context.client.rerank.create({
        model: context.name,
        query,
        documents: strings,
        ...pickDefined({ top_n: topN }),
        ...ownOptions(options),
      }, toCallSettings(options));
      return {
        ranking: results.map(({ index, relevance_score }) => ({ index, relevanceScore: relevance_score })),
        warnings: [],
      };
    },
  };
}

function drawn({ client, name }: ModelContext, options: ImageCallOptions): ReturnType<typeof client.images.generate> {
  const { prompt = "", n, size, files = [], mask } = options;
  const request = {
    model: name,
    prompt,
    n,
    response_format: "b64_json" as const,
    ...pickDefined({ size }),
    ...ownOptions(options),
  };
  if (files.length === 0) return client.images.generate(request, toCallSettings(options));
  const image = files.map((file, index) => toImageFile(file, `files[${index}]`));
  const masked = mask === undefined ? {} : { mask: toImageFile(mask, "mask") };
  return client.images.edit({ ...request, image, ...masked }, toCallSettings(options));
}

function toImageFile(file: ImageFile, where: string): File {
  if (file.type === "file") return toFile(file.data, file.mediaType);
  throw invalid(`"${where}" is a URL, which not every model supports: send the image itself`, where);
}

function toFile(data: string | Uint8Array, type: string): File {
  const bytes = typeof data === "string" ? fromBase64(data) : data as Uint8Array<ArrayBuffer>;
  const ending = type.split(/[/;]/)[1]?.replace(/^(x-)?(mpeg$)?/, (_, __, mpeg) => mpeg === undefined ? "" : "mp3") ??
    "bin";
  return new File([bytes], `file.${ending}`, { type });
}

function unsupported<Options extends object>(options: Options, names: readonly (keyof Options & string)[]): Warning[] {
  return names.filter((name) => options[name] !== undefined).map((feature) => ({ type: "unsupported", feature }));
}
