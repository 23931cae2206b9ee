/**
 * Models for `ai` 6 and 5, made of those of specification version v4: what a call is given is converted to v4, and its
 * result to v3 or v2.
 * @module
 */
import type {
  GenerateResultV3,
  LanguageModelV2,
  LanguageModelV3,
  LanguageUsageV2,
  MeshProviderV2,
  MeshProviderV3,
  OlderFilePart,
  OlderModel,
  StreamPartV2,
  StreamPartV3,
  WarningV2,
} from "./older_spec.ts";
import type { MeshProvider } from "./provider.ts";
import type {
  ContentPart,
  FilePart,
  LanguageCallOptions,
  LanguageModel,
  LanguageUsage,
  ModelFacts,
  PromptPart,
  SourcePart,
  StreamPart,
  Warning,
} from "./spec.ts";
import { isObject } from "../../util/is_object.ts";

/** Converts a provider to one of `ai` 6. */
export function toProviderV3(provider: MeshProvider): MeshProviderV3 {
  const languageModel = (name: string) => toLanguageModelV3(provider(name));
  return Object.assign((name: string) => languageModel(name), {
    specificationVersion: "v3" as const,
    client: provider.client,
    languageModel,
    embeddingModel: (name: string) => inVersion("v3", provider.embeddingModel(name)),
    imageModel: (name: string) => inVersion("v3", provider.imageModel(name)),
    speechModel: (name: string) => inVersion("v3", provider.speechModel(name)),
    transcriptionModel: (name: string) => inVersion("v3", provider.transcriptionModel(name)),
    rerankingModel: (name: string) => inVersion("v3", provider.rerankingModel(name)),
  });
}

/** Converts a provider to one of `ai` 5. */
export function toProviderV2(provider: MeshProvider): MeshProviderV2 {
  const languageModel = (name: string) => toLanguageModelV2(toLanguageModelV3(provider(name)));
  return Object.assign((name: string) => languageModel(name), {
    client: provider.client,
    languageModel,
    textEmbeddingModel: (name: string) => inVersion("v2", provider.embeddingModel(name)),
    imageModel: (name: string) => inVersion("v2", provider.imageModel(name)),
    speechModel: (name: string) => inVersion("v2", provider.speechModel(name)),
    transcriptionModel: (name: string) => inVersion("v2", provider.transcriptionModel(name)),
  });
}

/** Converts a model other than a language model, whose results differ in warnings alone. */
function inVersion<Model extends ModelFacts, Version extends "v2" | "v3">(
  specificationVersion: Version,
  model: Model,
): OlderModel<Model, Version> {
  const members = Object.entries(model).map(([name, member]) => {
    if (specificationVersion === "v3" || typeof member !== "function") return [name, member];
    return [name, async (options: unknown) => {
      const result: { readonly warnings: readonly Warning[] } = await member.call(model, options);
      return { ...result, warnings: result.warnings.map(toWarningV2) };
    }];
  });
  return { ...Object.fromEntries(members), specificationVersion };
}

function toLanguageModelV3(model: LanguageModel): LanguageModelV3 {
  return {
    ...model,
    specificationVersion: "v3",
    async doGenerate(options) {
      const { content, ...result } = await model.doGenerate(toOptionsV4(options));
      return { ...result, content: content.map(toPartV3) as GenerateResultV3["content"] };
    },
    async doStream(options) {
      const { stream, ...result } = await model.doStream(toOptionsV4(options));
      return { ...result, stream: mapParts(stream, toPartV3<StreamPart>) };
    },
  };
}

function toLanguageModelV2(model: LanguageModelV3): LanguageModelV2 {
  return {
    ...model,
    specificationVersion: "v2",
    async doGenerate(options) {
      const { finishReason, usage, warnings, ...result } = await model.doGenerate(options);
      const report = { finishReason: finishReason.unified, usage: toUsageV2(usage) };
      return { ...result, ...report, warnings: warnings.map(toWarningV2) };
    },
    async doStream(options) {
      const { stream, ...result } = await model.doStream(options);
      return { ...result, stream: mapParts(stream, toPartV2) };
    },
  };
}

function mapParts<From, To>(stream: ReadableStream<From>, convert: (part: From) => To): ReadableStream<To> {
  return stream.pipeThrough(
    new TransformStream<From, To>({ transform: (part, controller) => controller.enqueue(convert(part)) }),
  );
}

/** Converts a part of a response. A file with a URL, which v3 does not have, becomes a source. */
function toPartV3<Part extends ContentPart | StreamPart>(
  part: Part,
): Exclude<Part, FilePart> | OlderFilePart | SourcePart {
  if (part.type !== "file") return part as Exclude<Part, FilePart>;
  const { data, mediaType: title } = part;
  if (data.type === "data") return { ...(part as FilePart), data: data.data };
  return { type: "source", sourceType: "url", id: data.url.href, url: data.url.href, title };
}

function toPartV2(part: StreamPartV3): StreamPartV2 {
  if (part.type === "stream-start") return { ...part, warnings: part.warnings.map(toWarningV2) };
  if (part.type !== "finish") return part;
  return { ...part, finishReason: part.finishReason.unified, usage: toUsageV2(part.usage) };
}

function toWarningV2(warning: Warning): WarningV2 {
  if (warning.type === "other") return warning;
  const { feature: setting, ...others } = warning;
  return { ...others, type: "unsupported-setting", setting };
}

function toUsageV2({ inputTokens, outputTokens }: LanguageUsage): LanguageUsageV2 {
  const [read, written] = [inputTokens.total, outputTokens.total];
  return {
    inputTokens: read,
    outputTokens: written,
    totalTokens: read === undefined || written === undefined ? undefined : read + written,
    reasoningTokens: outputTokens.reasoning,
    cachedInputTokens: inputTokens.cacheRead,
  };
}

/** Converts the files of a prompt. */
function toOptionsV4(options: LanguageCallOptions): LanguageCallOptions {
  return {
    ...options,
    prompt: options.prompt.map((message) =>
      typeof message.content === "string" ? message : { ...message, content: message.content.map(toPromptPartV4) }
    ),
  };
}

function toPromptPartV4(part: PromptPart): PromptPart {
  if (part.type === "file") return { ...part, data: toFileData(part.data) };
  const { output } = part;
  if (part.type !== "tool-result" || !isObject(output) || !Array.isArray(output.value)) return part;
  if (output.type !== "content") return part;
  return { ...part, output: { ...output, value: output.value.map(toResultPartV4) } };
}

/** Bytes or Base64, or a URL. */
function toFileData(data: unknown): unknown {
  if (data instanceof URL) return { type: "url", url: data };
  return typeof data === "string" || data instanceof Uint8Array ? { type: "data", data } : data;
}

/** Converts a file in a tool result: `media` in v2; `file-data`, `image-url` and the like in v3. */
function toResultPartV4(part: Record<string, unknown>): PromptPart {
  const { type, data, url, fileId, mediaType = "image/*", ...others } = part;
  const kind = String(type).replace(/^(?:file|image|image-file)-/, "");
  const file = { ...others, type: "file", mediaType: String(mediaType) };
  if (type === "media" || kind === "data") return { ...file, data: { type: "data", data } };
  if (kind === "url") return { ...file, data: { type: "url", url: new URL(String(url)) } };
  if (kind === "id") return { ...file, data: { type: "reference", reference: fileId } };
  return part as unknown as PromptPart;
}
