/**
 * Google Vertex AI: Gemini through `generateContent`, Claude through `rawPredict`, each with the implementation of its
 * family.
 *
 * Sources, read 2026-11-22: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference,
 * https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude and, for function call ids,
 * which only `v1beta1` has, the reference of Google.Cloud.AIPlatform.V1 and V1Beta1; for speech
 * https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/text-to-speech/overview, read 2026-11-23; for
 * embeddings https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api and
 * github.com/vercel/ai, `packages/google-vertex`.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { JsonObject, OpenAiError } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  OperationCall,
  OperationResponse,
  OperationTable,
} from "../../src/contracts/provider.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { isClaude } from "./anthropic.ts";
import { readAnthropicError } from "./_anthropic_fault.ts";
import { AnthropicProvider } from "./_anthropic_provider.ts";
import { createAttributeError } from "./_attribute_error.ts";
import { BaseProvider, isSuccess, readJsonObject } from "./_base.ts";
import { cloudEmbeddings, type EmbeddedInputs } from "./_cloud_embeddings.ts";
import { vertex, vertexRules } from "./clouds.ts";
import { readGeminiError, readGeminiHint } from "./_gemini_fault.ts";
import { GeminiProvider } from "./_gemini_provider.ts";
import { asObject, asObjects, asText } from "./_gemini_wire.ts";
import { readHttpFault } from "./_http.ts";

const anthropicVersion = "vertex-2023-10-16";
/** Ids of embedding models. */
const embedding = /^(gemini-embedding|text-(multilingual-)?embedding)-/;
/** Page limit of the model list, far above the number of models: guards against a list that never ends. */
const maxPages = 20;

/** The Google Vertex AI connector with its implementation. */
export const vertexConnector: ProviderConnector = {
  ...vertex,
  create: (settings, runtime) => new VertexProvider(settings as ProviderSettings, runtime),
};

class VertexProvider extends BaseProvider {
  /** The location, unless calls may be processed anywhere. */
  readonly region: string | undefined;
  readonly #root: string;
  readonly #parent: string;
  readonly #runtime: Runtime;
  readonly #gemini: GeminiProvider;
  readonly #claude: AnthropicProvider;

  constructor(settings: ProviderSettings, runtime: Runtime) {
    super(settings.id, vertex.models);
    const project = encodeURIComponent(required("project", ["GOOGLE_VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT"]));
    const location = required("location", ["GOOGLE_VERTEX_LOCATION", "GOOGLE_CLOUD_LOCATION"]);
    if (!/^[a-z0-9-]+$/.test(location)) {
      throw createAttributeError({ settings, name: "location" }, 'expected one such as "europe-west1"');
    }
    this.region = location === "global" ? undefined : location;
    this.#root = stripTrailing(settings.baseUrl ?? toLocationAddress(location), "/").replace(/\/v1(beta1)?$/, "");
    this.#runtime = runtime;
    const parent = this.#parent = `projects/${project}/locations/${location}`;
    this.#gemini = new GeminiProvider(settings, runtime, (model, method) => {
      const path = model.startsWith("endpoints/") ? model : `publishers/google/models/${encodeURIComponent(model)}`;
      return `${this.#root}/v1beta1/${parent}/${path}:${method}`;
    });
    this.#claude = new AnthropicProvider(settings, {
      runtime,
      headers: {},
      host: {
        address: (model, isStream) =>
          `${this.#root}/v1/${parent}/publishers/anthropic/models/${encodeURIComponent(model).replace("%40", "@")}:${
            isStream ? "streamRawPredict" : "rawPredict"
          }`,
        // the URL contains the model, the body the API version
        edits: { model: undefined, anthropic_version: anthropicVersion },
        faults: { readError: readVertexError, readRetryAfter: (body) => readGeminiHint(body, runtime.clock.now()) },
      },
    });

    function required(name: string, variables: readonly string[]): string {
      const own = settings[name] ?? (settings.config as JsonObject | undefined)?.[name];
      const values = [own, ...variables.map((variable) => runtime.env?.(variable))];
      const found = values.find((value) => typeof value === "string" && value.trim() !== "") as string | undefined;
      if (found === undefined) {
        throw createAttributeError({ settings, name }, `missing: set it, or the variable ${variables[0]}`);
      }
      return found.trim();
    }
  }

  /** The native dialect of each family; embeddings have a different request format on Vertex AI. */
  readonly dialects = (model: string): readonly string[] => [isClaude(model) ? "messages" : "generateContent"];

  protected override get calls(): OperationTable {
    const byGemini: OperationCall = async (request, options) =>
      await this.#gemini.complete(request as unknown as CompletionRequest, options) as unknown as OperationResponse;
    return {
      speech: byGemini,
      transcription: byGemini,
      "audio-translation": byGemini,
      embeddings: cloudEmbeddings(({ model: { id } }, options) => ({
        maxInputs: findMaxInputs(id),
        embed: async (inputs, dimensions) => {
          const path = `v1/${this.#parent}/publishers/google/models/${encodeURIComponent(id)}:predict`;
          return fromPredict(await this.#request(path, options, toPredict(inputs, dimensions)));
        },
      })),
    };
  }

  protected override chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    return this.#selectFamily(request).complete(request, options);
  }

  override stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk> {
    return this.#selectFamily(request).stream(request, options);
  }

  /** Counts the input tokens through the publisher's own method. */
  countTokens(request: CompletionRequest, options: CallOptions): Promise<number> {
    return this.#selectFamily(request).countTokens(request, options);
  }

  /** Requests the models of both publishers. */
  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const google = await this.#publisherModels("google", options);
    const anthropic = await this.#publisherModels("anthropic", options);
    const chats = [...google.filter((id) => /^gemini-[\d.]+-(pro|flash)/.test(id)), ...anthropic];
    const embeds = google.filter((id) => embedding.test(id));
    return [...chats, ...embeds].flatMap((id) => this.findInfo(id) ?? []);
  }

  /** An unknown model has the parameter rules of its family. */
  protected override findInfo(model: string): ModelInfo | undefined {
    const own = super.findInfo(model);
    if (own !== undefined) return own;
    return embedding.test(model)
      ? { id: model, capabilities: ["text-embeddings"] }
      : { id: model, parameters: vertexRules(model) };
  }

  #selectFamily({ model }: CompletionRequest): GeminiProvider | AnthropicProvider {
    return isClaude(model.id) ? this.#claude : this.#gemini;
  }

  async #publisherModels(publisher: string, options: CallOptions): Promise<string[]> {
    const ids: string[] = [];
    let token: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const query = new URLSearchParams({ pageSize: "100", ...(token === undefined ? {} : { pageToken: token }) });
      const list = await this.#request(`v1beta1/publishers/${publisher}/models?${query}`, options);
      const models = asObjects(list.publisherModels);
      appendAll(ids, models.flatMap(({ name }) => asText(name)?.replace(/^.*\//, "") ?? []));
      token = asText(list.nextPageToken);
      if (token === undefined || token === "") break;
    }
    return ids;
  }

  async #request(path: string, { send, credential }: CallOptions, body?: JsonObject): Promise<JsonObject> {
    const headers: Record<string, string> = { accept: "application/json" };
    if (credential !== undefined) headers["x-goog-api-key"] = credential;
    const call = { url: `${this.#root}/${path}`, headers };
    const response = await send(
      body === undefined
        ? { ...call, method: "GET" }
        : { ...call, headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(body) },
    );
    if (isSuccess(response)) return await readJsonObject(response);
    throw await readHttpFault(response, {
      readError: readGeminiError,
      readRetryAfter: (body) => readGeminiHint(body, this.#runtime.clock.now()),
    }, this.#runtime.clock);
  }
}

/** The endpoint of a location; `global` and multi-region locations have special hosts. */
function toLocationAddress(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  return /^(us|eu)$/.test(location)
    ? `https://aiplatform.${location}.rep.googleapis.com`
    : `https://${location}-aiplatform.googleapis.com`;
}

/** Errors are Google's, or those of the Messages API behind it. */
function readVertexError(body: unknown, status: number): OpenAiError {
  const { error } = asObject(Array.isArray(body) ? body[0] : body) ?? {};
  return asText(asObject(error)?.status) === undefined
    ? readAnthropicError(body, status)
    : readGeminiError(body, status);
}

/**
 * Maximum inputs of a model per call of `predict`.
 *
 * @param model The model id.
 */
function findMaxInputs(model: string): number {
  return model.startsWith("gemini-embedding") ? 1 : 250;
}

/**
 * The body of `predict`.
 *
 * @param dimensions Dimensions of a vector; undefined for the model's default.
 */
export function toPredict(inputs: readonly string[], dimensions: number | undefined): JsonObject {
  const instances = inputs.map((content) => ({ content }));
  return dimensions === undefined ? { instances } : { instances, parameters: { outputDimensionality: dimensions } };
}

/**
 * The vectors of a response.
 *
 * @param response The response of `predict`.
 */
export function fromPredict(response: JsonObject): EmbeddedInputs {
  const found = asObjects(response.predictions).map(({ embeddings }) => asObject(embeddings));
  const counts = found.map((prediction) => asObject(prediction?.statistics)?.token_count);
  const isCounted = counts.every((count): count is number => typeof count === "number");
  return {
    vectors: found.map((prediction) => prediction?.values),
    tokens: isCounted ? counts.reduce((sum, count) => sum + count, 0) : undefined,
  };
}
