/**
 * Amazon Bedrock: Converse and ConverseStream, translated from and to OpenAI's chat shape.
 *
 * Sources, read 2026-11-22: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html,
 * API_ListFoundationModels.html and API_ListInferenceProfiles.html there.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  ModelInfo,
  OperationRequest,
  OperationTable,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { NetworkError, UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { BaseProvider, isSuccess, readJsonObject } from "./_base.ts";
import { BedrockAccess } from "./_bedrock_access.ts";
import { isClaude } from "./anthropic.ts";
import { embeds, findFamily } from "./_bedrock_embeddings.ts";
import { readBedrockError, reclassify } from "./_bedrock_fault.ts";
import { listDroppedParams, toConverseRequest } from "./_bedrock_request.ts";
import { toChunks } from "./_anthropic_stream.ts";
import { type ConverseFacts, ConverseStream, fromConverse, readConverseBilled } from "./_bedrock_response.ts";
import { splitIntoChunks } from "../../src/util/split_completion.ts";
import { cloudEmbeddings } from "./_cloud_embeddings.ts";
import { readEventFrames } from "./_event_frames.ts";
import { createStreamReader, readHttpFault } from "./_http.ts";
import { bedrock } from "./clouds.ts";
import { toText } from "../../src/util/to_text.ts";

/** Page limit of model lists, far above the number of profiles: guards against a list that never ends. */
const maxPages = 20;

/** The Amazon Bedrock connector with its implementation. */
export const bedrockConnector: ProviderConnector = {
  ...bedrock,
  create: (settings, runtime) => new BedrockProvider(settings as ProviderSettings, runtime),
};

class BedrockProvider extends BaseProvider {
  readonly #access: BedrockAccess;
  readonly #runtime: Runtime;

  constructor(settings: ProviderSettings, runtime: Runtime) {
    super(settings.id, bedrock.models);
    this.#access = new BedrockAccess(settings, runtime);
    this.#runtime = runtime;
  }

  protected override get calls(): OperationTable {
    return {
      embeddings: cloudEmbeddings((request, options) => {
        const { maxInputs, own, write, read } = findFamily(request);
        const purpose = request.body.input_type ?? request.body.task;
        return {
          maxInputs,
          own,
          embed: async (inputs, dimensions) => {
            const response = await this.#call(
              "invoke",
              { request, content: write(inputs, { dimensions, purpose }) },
              options,
            );
            const counted = Number(response.headers.get("x-amzn-bedrock-input-token-count") ?? NaN);
            const result = read(await readJsonObject(response));
            return { tokens: counted, ...result };
          },
        };
      }),
    };
  }

  protected override async chat(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const response = await this.#post("converse", request, options);
    const output = await readJsonObject(response);
    return { body: fromConverse(output, this.#readFacts(request, response)), billed: readConverseBilled(output) };
  }

  override async *stream(request: CompletionRequest, options: CallOptions): AsyncGenerator<CompletionChunk> {
    const response = await this.#post("converse-stream", request, options);
    const facts = this.#readFacts(request, response);
    if (/json|html/.test(response.headers.get("content-type") ?? "")) {
      const output = await readJsonObject(response);
      yield* splitIntoChunks(fromConverse(output, facts), readConverseBilled(output));
      return;
    }
    const stream = new ConverseStream(facts);
    try {
      for await (const frames of readEventFrames(createStreamReader(response))) {
        for (const frame of frames) {
          yield* toChunks(stream.push(frame), stream);
        }
        if (stream.isComplete) options.reportComplete?.();
      }
    } catch (error) {
      // a connection reset after the end of the response is harmless
      if (!NetworkError.isInstance(error) || !stream.isComplete) throw error;
    }
    yield* toChunks(stream.finish(), stream);
  }

  /** Requests the region's models, and its cross-region inference profiles. */
  async listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const { modelSummaries } = await this.#get("foundation-models", options);
    const models = readObjects(modelSummaries, "models").filter((summary) =>
      isOnDemand(summary) && isSupportedModel(summary)
    );
    const ids = models.map(({ modelId }) => modelId);
    let next: unknown;
    for (let page = 0; page < maxPages; page++) {
      const token = typeof next === "string" ? `&nextToken=${encodeURIComponent(next)}` : "";
      const list = await this.#get(`inference-profiles?maxResults=1000${token}`, options);
      appendAll(
        ids,
        readObjects(list.inferenceProfileSummaries, "profiles").map((profile) => profile.inferenceProfileId),
      );
      next = list.nextToken;
      if (typeof next !== "string") break;
    }
    return ids.flatMap((id) => typeof id === "string" ? [this.findInfo(id) ?? toListed(id)] : []);
  }

  #readFacts({ model }: CompletionRequest, { headers }: UpstreamResponse): ConverseFacts {
    const now = this.#runtime.clock.now();
    return {
      id: headers.get("x-amzn-requestid") ?? `chatcmpl-${now.toString(36)}`,
      model: model.id,
      created: Math.floor(now / 1000),
      signs: isClaude(model.id),
    };
  }

  async #post(operation: string, request: CompletionRequest, options: CallOptions): Promise<UpstreamResponse> {
    const { model: { id: model }, promptCache } = request;
    const marks = promptCache && await import("./_cache_marks.ts");
    const content = toConverseRequest(
      request,
      marks && ((message) => marks.markConverse(message, { ...promptCache, model })),
    );
    options.reportDropped?.(listDroppedParams(request.body, content));
    return await this.#call(operation, { request, content }, options);
  }

  async #call(
    operation: string,
    { request, content }: { readonly request: Pick<OperationRequest, "model">; readonly content: object },
    options: CallOptions,
  ): Promise<UpstreamResponse> {
    const call = {
      method: "POST",
      url: `${this.#access.modelsUrl}/model/${encodeURIComponent(request.model.id)}/${operation}`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(content),
    };
    return await this.#accepted(await this.#access.send(call, options));
  }

  async #get(path: string, options: CallOptions): Promise<JsonObject> {
    const call = { method: "GET", url: `${this.#access.listsUrl}/${path}`, headers: { accept: "application/json" } };
    return await readJsonObject(await this.#accepted(await this.#access.send(call, options)));
  }

  async #accepted(response: UpstreamResponse): Promise<UpstreamResponse> {
    if (isSuccess(response)) return response;
    const name = response.headers.get("x-amzn-errortype") ?? "";
    const readError = (body: unknown, status: number) => readBedrockError(name, body, status);
    throw reclassify(name, await readHttpFault(response, { readError }, this.#runtime.clock));
  }
}

/** Text models, and embedding models of a known family. */
function isSupportedModel({ outputModalities: kinds, modelId: id }: JsonObject): boolean {
  return !Array.isArray(kinds) || kinds.includes("TEXT") || (kinds.includes("EMBEDDING") && embeds(toText(id)));
}

function toListed(id: string): ModelInfo {
  return embeds(id) ? { id, capabilities: ["text-embeddings"] } : { id };
}

/** A model without declared inference types is called by its id. */
function isOnDemand({ inferenceTypesSupported: types }: JsonObject): boolean {
  return !Array.isArray(types) || types.includes("ON_DEMAND");
}

function readObjects(list: unknown, what: string): readonly JsonObject[] {
  if (!Array.isArray(list)) {
    throw new UpstreamError(`The provider's model list has no ${what}`, { kind: "invalid_response" });
  }
  return list.filter((entry): entry is JsonObject => typeof entry === "object" && entry !== null);
}
