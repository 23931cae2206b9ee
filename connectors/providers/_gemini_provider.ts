/**
 * Google Gemini through its native API: `generateContent` and `streamGenerateContent`.
 *
 * Sources, read 2026-11-21: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/models.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CapabilityPath,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  OperationRequest,
  OperationResponse,
  OperationTable,
  Provider,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { readSse } from "../../src/util/sse_parse.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { BaseProvider, isSuccess, readJsonObject, readResponseText } from "./_base.ts";
import { chatFeatures, chatLeaves, findGeminiRules, gemini, geminiModels, speechFacts } from "./gemini.ts";
import { faultInside, readGeminiError, readGeminiHint, withOwnKind } from "./_gemini_fault.ts";
import { droppedEmbeddingParams, fromGeminiEmbeddings, toBatchEmbedContents } from "./_gemini_embeddings.ts";
import { droppedImageParams, toImageContent, toImages } from "./_gemini_images.ts";
import { toNativeChunk, toNativeText } from "./_gemini_native.ts";
import { findDroppedGeminiParams, toGenerateContent } from "./_gemini_request.ts";
import {
  countQueries,
  findFilterReason,
  fromGenerateContent,
  type GeminiFacts,
  readGeminiBilled,
} from "./_gemini_response.ts";
import { GeminiStream } from "./_gemini_stream.ts";
import { asNumber, asObject, asObjects, asText, omitUnset } from "./_gemini_wire.ts";
import { EventTolerance, type FaultReader, parseObject, readBytes, readHttpFault } from "./_http.ts";
import { openStreamBody, ping } from "./_stream_body.ts";

const defaultBaseUrl = "https://generativelanguage.googleapis.com/v1beta";
const decoder = /* @__PURE__ */ new TextDecoder();
/** The service tier that has served a request. */
const tierHeader = "x-gemini-service-tier";
/** Page limit of the model list, far above the number of models: guards against a list that never ends. */
const maxPages = 20;

const loadAudio = () => import("./_gemini_audio.ts");

/** The Google Gemini connector with its implementation. */
export const geminiConnector: ProviderConnector = /* @__PURE__ */ Object.assign(
  { create: createGeminiProvider },
  gemini,
);

function createGeminiProvider(settings: Readonly<Record<string, unknown>>, runtime: Runtime): GeminiProvider {
  return new GeminiProvider(settings as ProviderSettings, runtime);
}

/** Returns the URL of a method of a model, in place of the Gemini API's URLs. */
export type GeminiAddress = (model: string, method: string) => string;

/** A provider for `generateContent`. */
export class GeminiProvider extends BaseProvider {
  readonly #baseUrl: string;
  readonly #runtime: Runtime;
  readonly #faults: FaultReader;
  readonly #address: GeminiAddress;
  /** Whether a cloud hosts the models. */
  readonly #isCloud: boolean;

  constructor(settings: ProviderSettings, runtime: Runtime, address?: GeminiAddress) {
    super(settings.id, geminiModels());
    this.#isCloud = address !== undefined;
    this.#address = address ?? ((model, method) => `${this.#baseUrl}/${toModelPath(model)}:${method}`);
    this.#baseUrl = stripTrailing(settings.baseUrl ?? defaultBaseUrl, "/");
    this.#runtime = runtime;
    this.#faults = {
      readError: readGeminiError,
      readRetryAfter: (body) => readGeminiHint(body, runtime.clock.now()),
    };
  }

  /** Native dialects. */
  readonly dialects: NonNullable<Provider["dialects"]> = ["generateContent", "embedContent"];

  protected override get calls(): OperationTable {
    return {
      embeddings: (request, options) => this.#embed(request, options),
      image: (request, options) => this.#generateImages(request, options),
      "image-edit": (request, options) => this.#generateImages(request, options),
      speech: (request, options) => this.#synthesize(request, options),
      transcription: (request, options) => this.#transcribe(request, options),
      "audio-translation": (request, options) => this.#transcribe(request, options),
    };
  }

  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const response = await this.#post("generateContent", request, options);
    const bytes = await readBytes(response);
    const [result] = this.#parseAccepted(decoder.decode(bytes));
    if (result === undefined) {
      throw new UpstreamError("The provider's response has no candidates", { kind: "invalid_response" });
    }
    const body = fromGenerateContent(result, this.#createFacts(request));
    const billed = readGeminiBilled(asObject(result.usageMetadata), {
      model: request.model.id,
      queries: asObjects(result.candidates).reduce((sum, candidate) => sum + countQueries(candidate), 0),
      tier: response.headers.get(tierHeader),
    });
    return request.native === undefined ? { body, billed } : { body, billed, native: bytes };
  }

  override async *stream(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const response = await this.#post("streamGenerateContent?alt=sse", request, options);
    const stream = new GeminiStream(this.#createFacts(request));
    const tolerance = new EventTolerance();
    for await (const text of readUntilComplete(response, stream)) {
      if (text === undefined) {
        yield ping;
        continue;
      }
      for (const event of this.#accept(tolerance.read(parseResponses, text) ?? [])) {
        if (request.native !== undefined) yield toNativeChunk(event, text, stream);
        else for (const value of stream.push(event)) yield { value };
      }
      if (stream.isEnding) options.reportComplete?.();
    }
    const billed = stream.readBilled(response.headers.get(tierHeader));
    for (const value of stream.finish()) yield value.usage ? { value, billed } : { value };
  }

  /** Counts the input tokens through the API's own method, which is free of charge. */
  async countTokens({ model: { id }, body, native }: CompletionRequest, options: CallOptions): Promise<number> {
    const content: JsonObject = native === undefined
      ? { ...toGenerateContent(id, body) }
      : parseObject(toNativeText(id, native.text));
    const response = await options.send({
      url: this.#address(id, "countTokens"),
      headers: this.#headers(options),
      body: JSON.stringify(
        this.#isCloud ? toCountedContent(content) : { generateContentRequest: { ...content, model: `models/${id}` } },
      ),
    });
    const { totalTokens: tokens } = await readJsonObject(await this.#accepted(response));
    return Number(tokens ?? NaN);
  }

  /** Requests `GET /models`, page by page. */
  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const models: ModelInfo[] = [];
    let token: string | undefined;
    for (let page = 0; page < maxPages; page++) {
      const query = new URLSearchParams({ pageSize: "1000", ...(token === undefined ? {} : { pageToken: token }) });
      const list = await this.#get(`models?${query}`, options);
      if (!Array.isArray(list.models)) {
        throw new UpstreamError("The provider's model list has no models", { kind: "invalid_response" });
      }
      appendAll(models, asObjects(list.models).flatMap((entry) => this.#listed(entry)));
      token = asText(list.nextPageToken);
      if (token === undefined) break;
    }
    return models;
  }

  #createFacts({ model }: Pick<CompletionRequest, "model">): GeminiFacts {
    const now = this.#runtime.clock.now();
    const chance = Math.floor(this.#runtime.random() * 36 ** 8).toString(36);
    return { model: model.id, id: `chatcmpl-${now.toString(36)}${chance}`, created: Math.floor(now / 1000) };
  }

  async #embed(request: OperationRequest, options: CallOptions): Promise<OperationResponse> {
    const { model, native, body: { input } } = request;
    const content = native?.text ?? JSON.stringify(toBatchEmbedContents(request));
    if (native === undefined) options.reportDropped?.(droppedEmbeddingParams(request));
    const isSingle = native !== undefined && typeof input === "string";
    const response = await options.send({
      url: this.#address(model.id, isSingle ? "embedContent" : "batchEmbedContents"),
      headers: this.#headers(options),
      body: content,
    });
    const bytes = await readBytes(await this.#accepted(response));
    const result = parseObject(decoder.decode(bytes));
    const body = fromGeminiEmbeddings(isSingle ? { embeddings: [result.embedding] } : result, request);
    return native === undefined ? { body } : { body, native: bytes };
  }

  async #generateImages(request: OperationRequest, options: CallOptions): Promise<OperationResponse> {
    const content = toImageContent(request);
    options.reportDropped?.(droppedImageParams(request));
    const result = await this.#generate(request.model.id, content, options);
    const body = toImages(result, Math.floor(this.#runtime.clock.now() / 1000));
    const isFiltered = body.data.length === 0 && findFilterReason(result) !== undefined;
    return { body: { ...body }, ...(isFiltered && { isFiltered }) };
  }

  async #synthesize(request: OperationRequest, options: CallOptions): Promise<OperationResponse> {
    const { droppedAudioParams, toSpeech, toSpeechContent } = await loadAudio();
    options.reportDropped?.(droppedAudioParams(request));
    return toSpeech(await this.#generate(request.model.id, toSpeechContent(request), options), request);
  }

  async #transcribe(request: OperationRequest, options: CallOptions): Promise<OperationResponse> {
    const { droppedAudioParams, toTranscriptionContent, toTranscript } = await loadAudio();
    const content = toTranscriptionContent(request);
    options.reportDropped?.(droppedAudioParams(request));
    const result = await this.#generate(request.model.id, content, options);
    return toTranscript(result, { ...this.#createFacts(request), request });
  }

  async #generate(model: string, content: JsonObject, options: CallOptions): Promise<JsonObject> {
    const response = await options.send({
      url: this.#address(model, "generateContent"),
      headers: this.#headers(options),
      body: JSON.stringify(content),
    });
    return this.#parseAccepted(await readResponseText(await this.#accepted(response)))[0] ?? {};
  }

  /** The API key is sent in a header, since URLs are often logged. */
  #headers({ credential }: CallOptions): Record<string, string> {
    const headers = { "content-type": "application/json" };
    return credential === undefined ? headers : { ...headers, "x-goog-api-key": credential };
  }

  async #post(method: string, request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const { model: { id }, native } = request;
    const response = await options.send({
      url: this.#address(id, method),
      headers: this.#headers(options),
      body: native === undefined ? this.#write(request, options) : toNativeText(id, native.text),
    });
    return await this.#accepted(response);
  }

  #write({ model, body }: CompletionRequest, options: CallOptions): string {
    const content = toGenerateContent(model.id, body);
    options.reportDropped?.(findDroppedGeminiParams(body, content));
    return JSON.stringify(content);
  }

  async #get(path: string, options: CallOptions): Promise<JsonObject> {
    const response = await options.send({
      url: `${this.#baseUrl}/${path}`,
      method: "GET",
      headers: this.#headers(options),
    });
    return await readJsonObject(await this.#accepted(response));
  }

  async #accepted(response: UpstreamResponse): Promise<UpstreamResponse> {
    if (isSuccess(response)) return response;
    throw withOwnKind(await readHttpFault(response, this.#faults, this.#runtime.clock));
  }

  #parseAccepted(text: string): JsonObject[] {
    return this.#accept(parseResponses(text));
  }

  /** @throws {UpstreamError} If a response contains an error. */
  #accept(responses: JsonObject[]): JsonObject[] {
    for (const result of responses) {
      const fault = faultInside(result, this.#runtime.clock.now());
      if (fault !== undefined) throw fault;
    }
    return responses;
  }

  #listed({ name, inputTokenLimit, outputTokenLimit, supportedGenerationMethods: methods }: JsonObject): ModelInfo[] {
    const id = asText(name)?.replace(/^models\//, "");
    if (id === undefined) return [];
    const capabilities = findGeminiLeaves(id, Array.isArray(methods) ? methods : []);
    return [
      this.findInfo(id) ?? {
        id,
        capabilities,
        constraints: omitUnset({
          context_window: asNumber(inputTokenLimit),
          max_output_tokens: asNumber(outputTokenLimit),
        }),
        parameters: findGeminiRules(id),
        ...(capabilities === chatLeaves ? { features: chatFeatures } : {}),
        ...(capabilities[0] === "text-to-speech" ? speechFacts() : {}),
      },
    ];
  }
}

/** The clouds count the members of a request directly. */
function toCountedContent(
  { contents, systemInstruction, system_instruction, tools, generationConfig }: JsonObject,
): JsonObject {
  return omitUnset({ contents, systemInstruction: systemInstruction ?? system_instruction, tools, generationConfig });
}

/** Tuned models are a separate collection. */
function toModelPath(model: string): string {
  return (model.includes("/") ? model : `models/${model}`).split("/").map(encodeURIComponent).join("/");
}

/** Many models other than chat models also support `generateContent`, and respond with images, speech or actions. */
function findGeminiLeaves(id: string, methods: readonly unknown[]): readonly CapabilityPath[] {
  if (methods.includes("embedContent")) return ["text-embeddings"];
  if (/tts/.test(id)) return ["text-to-speech"];
  if (methods.length > 0 && !methods.includes("generateContent")) return [];
  if (/image|nano-banana|live|audio|robotics|computer-use|deep-research|veo|lyria|omni/.test(id)) return [];
  return /^gemini-[\d.]+-(pro|flash|flash-lite)\b/.test(id) ? chatLeaves : ["chat-completion"];
}

/** Parses one response, or a list of them, which the API returns without `alt=sse`. */
function parseResponses(text: string): JsonObject[] {
  // wrapping the list in an object reuses the parser and its error messages
  return text.trimStart().startsWith("[") ? asObjects(parseObject(`{"list":${text}}`).list) : [parseObject(text)];
}

/** Reads the data of each event. A connection reset after the end of the response is harmless. */
async function* readUntilComplete(
  response: UpstreamResponse,
  stream: GeminiStream,
): AsyncGenerator<string | undefined> {
  try {
    yield* readEventData(response);
  } catch (error) {
    if (!NetworkError.isInstance(error) || !stream.isComplete) throw error;
  }
}

/** The data of each event; undefined for a comment. A body that is not an event stream counts as one event. */
async function* readEventData(response: UpstreamResponse): AsyncGenerator<string | undefined> {
  const body = await openStreamBody(response);
  if (body.events === undefined) {
    yield body.text;
    return;
  }
  for await (const events of readSse(body.events)) {
    for (const { data, isComment } of events) {
      if (isComment) yield undefined;
      else if (data !== "" && data !== "[DONE]") yield data;
    }
  }
}
