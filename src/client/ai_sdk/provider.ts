/**
 * A provider of the `ai` package over a client.
 * @module
 */
import type { MeshClient } from "../client.ts";
import { languageModel } from "./language_model.ts";
import { embeddingModel, imageModel, rerankingModel, speechModel, transcriptionModel } from "./other_models.ts";
import type { EmbeddingModel, ImageModel, RerankingModel, SpeechModel, TranscriptionModel } from "./other_spec.ts";
import type { LanguageModel } from "./spec.ts";

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
