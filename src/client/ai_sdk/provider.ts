/**
 * A provider of `ai` over a client: models by name, whatever the name stands for.
 * @module
 */
import type { MeshClient } from "../client.ts";
import { languageModel } from "./language_model.ts";
import { embeddingModel, imageModel, rerankingModel, speechModel, transcriptionModel } from "./other_models.ts";
import type { EmbeddingModel, ImageModel, RerankingModel, SpeechModel, TranscriptionModel } from "./other_spec.ts";
import type { LanguageModel } from "./spec.ts";

/**
 * Makes models by name: a pool, an alias, a capability, a model. It is a provider of the `ai` package.
 *
 * @example
 * ```ts ignore
 * const provider = mesh(create({ config: "modelmesh.yaml" }));
 * const { text } = await generateText({ model: provider("chat"), prompt: "Hello" });
 * ```
 */
export interface MeshProvider {
  /** A language model. */
  (name: string): LanguageModel;
  /** The version of the specification. */
  readonly specificationVersion: "v4";
  /** Where its requests go; to be closed by whom it belongs to. */
  readonly client: MeshClient;
  /** A language model. */
  languageModel(name: string): LanguageModel;
  /** A model that embeds. */
  embeddingModel(name: string): EmbeddingModel;
  /** A model that draws. */
  imageModel(name: string): ImageModel;
  /** A model that speaks. */
  speechModel(name: string): SpeechModel;
  /** A model that listens. */
  transcriptionModel(name: string): TranscriptionModel;
  /** A model that ranks. */
  rerankingModel(name: string): RerankingModel;
}

/**
 * Makes a provider.
 *
 * @param client Where its requests go.
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
