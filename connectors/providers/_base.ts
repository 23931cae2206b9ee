/**
 * Base class of the built-in providers: catalogue lookups, and error classification by status, code and type.
 * @module
 */
import type { InstanceSettings } from "../../src/contracts/browser_provider.ts";
import type { Infrastructure } from "../../src/contracts/infrastructure.ts";
import type {
  CallOptions,
  CapabilityPath,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  DatedPricing,
  Delivery,
  FailureKind,
  ModelInfo,
  OperationName,
  OperationTable,
  Provider,
  Quota,
  RateLimits,
  UsageReport,
} from "../../src/contracts/provider.ts";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { classifyThrown, isRetryableKind } from "../../src/util/classify.ts";
import { parseObject, readBytes } from "./_http.ts";

const decoder = new TextDecoder();

/** A provider with a catalogue of models. Subclasses add the calls of a dialect. */
export abstract class BaseProvider implements Provider {
  readonly #id: string;
  readonly #models: readonly ModelInfo[];

  /**
   * Creates a provider.
   *
   * @param id The entry id.
   */
  constructor(id: string, models: readonly ModelInfo[]) {
    this.#id = id;
    this.#models = models;
  }

  /** The entry id. */
  get id(): string {
    return this.#id;
  }

  /** The settings of an instance that a program passes to `create`: its models. */
  get instanceSettings(): InstanceSettings {
    return { models: this.#models };
  }

  /** Calls of operations other than chat; subclasses override it. */
  protected get calls(): OperationTable {
    return {};
  }

  /** Files, batches and fine-tuning jobs; none unless a subclass overrides it. */
  get infrastructure(): Infrastructure | undefined {
    return undefined;
  }

  /** The supported operations other than chat. */
  get operations(): readonly OperationName[] {
    return Object.keys(this.calls) as OperationName[];
  }

  /** Requests a complete response for the operation of the request. */
  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const { operation = "chat" } = request;
    if (operation === "chat") return this.chat(request, options);
    const call = this.calls[operation] ?? notOffered(operation);
    return call(request, options) as unknown as Promise<CompletionResponse>;
  }

  /** Requests a complete response to a chat request. */
  protected chat(_request: CompletionRequest, _options: CallOptions): Promise<CompletionResponse> {
    return notOffered("chat");
  }

  /** Requests a streaming response. Without it, streams are made of complete responses. */
  stream?(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk>;

  /** Requests the provider's model list. */
  abstract listModels(options: CallOptions): Promise<readonly ModelInfo[]>;

  /** Requests the provider's model list: vendors have no other way to discover models. */
  discoverModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    return this.listModels(options);
  }

  /** The catalogue entry of a model. */
  protected findInfo(model: string): ModelInfo | undefined {
    return this.#models.find(({ id }) => id === model);
  }

  /** The catalogue entry of a model. */
  getModelInfo(model: string): Promise<ModelInfo | undefined> {
    return Promise.resolve(this.findInfo(model));
  }

  /** The capabilities of a model in the catalogue. */
  getCapabilities(model: string): readonly CapabilityPath[] {
    return this.findInfo(model)?.capabilities ?? [];
  }

  /**
   * Supports sync and stream delivery, and batch if the vendor supports it. For models in the catalogue, only their
   * capabilities, by full path or last segment; for others, any capability.
   */
  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean {
    const getLastSegment = (path: CapabilityPath) => path.slice(path.lastIndexOf(".") + 1);
    const capabilities = this.getCapabilities(model);
    if (delivery === "batch" && this.infrastructure?.facts.batch === undefined) return false;
    return capabilities.length === 0 ||
      capabilities.some((path) => getLastSegment(path) === getLastSegment(capability));
  }

  /** Undefined unless a subclass reports quotas. */
  checkQuota(_options: CallOptions): Promise<Quota | undefined> {
    return Promise.resolve(undefined);
  }

  /** Undefined unless a subclass reports rate limits. */
  getRateLimits(_model: string): RateLimits | undefined {
    return undefined;
  }

  /** The prices in the catalogue. */
  getPricing(model: string): readonly DatedPricing[] | undefined {
    return this.findInfo(model)?.pricing;
  }

  /** Does nothing: usage is not reported to the vendor. */
  reportUsage(_usage: UsageReport): void {}

  /** Classifies by status, code and type. */
  classifyError(error: unknown): FailureKind {
    return classifyThrown(error);
  }

  /** Determined by the failure kind. */
  isRetryable(error: unknown): boolean {
    return isRetryableKind(classifyThrown(error));
  }
}

/** @throws {UpstreamError} Always: the provider does not have the operation. */
export function notOffered(operation: OperationName): never {
  throw new UpstreamError(`The provider does not offer ${operation}`, { kind: "request" });
}

/** Whether a response has a success status (2xx). */
export function isSuccess({ status }: UpstreamResponse): boolean {
  return status >= 200 && status <= 299;
}

/**
 * Reads a response body as text.
 *
 * @throws {UpstreamError} `invalid_response` if it exceeds the size limit.
 */
export async function readResponseText(response: UpstreamResponse): Promise<string> {
  return decoder.decode(await readBytes(response));
}

/**
 * Reads a response body as a JSON object.
 *
 * @throws {UpstreamError} `invalid_response` if it is not a JSON object.
 */
export async function readJsonObject(response: UpstreamResponse): Promise<Record<string, unknown>> {
  return parseObject(await readResponseText(response));
}
