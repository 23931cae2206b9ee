/**
 * What every provider of ours has in common: facts from a catalogue, failures classed by status, code and type.
 * @module
 */
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
import { classifyError, isRetryableKind } from "../../src/util/classify.ts";
import { parseObject, readBytes } from "./_http.ts";

const decoder = new TextDecoder();

/** A provider whose models a catalogue knows; a dialect adds the calls. */
export abstract class BaseProvider implements Provider {
  readonly #id: string;
  readonly #models: readonly ModelInfo[];

  /**
   * Makes one.
   *
   * @param id The entry's id.
   * @param models The catalogue.
   */
  constructor(id: string, models: readonly ModelInfo[]) {
    this.#id = id;
    this.#models = models;
  }

  /** The entry's id. */
  get id(): string {
    return this.#id;
  }

  /** How it performs operations other than chat; a dialect that has any overrides this. */
  protected get calls(): OperationTable {
    return {};
  }

  /** Files, batches and fine-tuning jobs; none unless a dialect overrides this. */
  get infrastructure(): Infrastructure | undefined {
    return undefined;
  }

  /** The operations other than chat that it performs. */
  get operations(): readonly OperationName[] {
    return Object.keys(this.calls) as OperationName[];
  }

  /** One complete response, of whichever operation the request names. */
  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse> {
    const { operation = "chat" } = request;
    if (operation === "chat") return this.chat(request, options);
    const call = this.calls[operation] ?? notOffered(operation);
    return call(request, options) as unknown as Promise<CompletionResponse>;
  }

  /** One complete response to a chat request. */
  protected chat(_request: CompletionRequest, _options: CallOptions): Promise<CompletionResponse> {
    return notOffered("chat");
  }

  /** A streamed response. */
  stream(_request: CompletionRequest, _options: CallOptions): AsyncIterable<CompletionChunk> {
    return notOffered("chat");
  }

  /** Asks the provider which models it has. */
  abstract listModels(options: CallOptions): Promise<readonly ModelInfo[]>;

  /** What the catalogue knows of a model. */
  protected known(model: string): ModelInfo | undefined {
    return this.#models.find(({ id }) => id === model);
  }

  /** What the catalogue knows. */
  getModelInfo(model: string): Promise<ModelInfo | undefined> {
    return Promise.resolve(this.known(model));
  }

  /** What the catalogue knows. */
  getCapabilities(model: string): readonly CapabilityPath[] {
    return this.known(model)?.capabilities ?? [];
  }

  /**
   * Sync and stream, batches where its vendor takes them: of what the catalogue knows its capabilities, by full path or
   * last segment; of all else any.
   */
  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean {
    const lastOf = (path: CapabilityPath) => path.slice(path.lastIndexOf(".") + 1);
    const known = this.getCapabilities(model);
    if (delivery === "batch" && this.infrastructure?.facts.batch === undefined) return false;
    return known.length === 0 || known.some((path) => lastOf(path) === lastOf(capability));
  }

  /** Unknown, unless the vendor reports it. */
  checkQuota(_options: CallOptions): Promise<Quota | undefined> {
    return Promise.resolve(undefined);
  }

  /** Unknown, unless the vendor reports it. */
  getRateLimits(_model: string): RateLimits | undefined {
    return undefined;
  }

  /** The catalogue's prices. */
  getPricing(model: string): readonly DatedPricing[] | undefined {
    return this.known(model)?.pricing;
  }

  /** Reports nothing to the vendor. */
  reportUsage(_usage: UsageReport): void {}

  /** By status, code and type. */
  classifyError(error: unknown): FailureKind {
    return classifyError(error);
  }

  /** By class. */
  isRetryable(error: unknown): boolean {
    return isRetryableKind(classifyError(error));
  }
}

function notOffered(operation: OperationName): never {
  throw new UpstreamError(`The provider does not offer ${operation}`, { kind: "request" });
}

/** Whether a response's status means success. */
export function isSuccess({ status }: UpstreamResponse): boolean {
  return status >= 200 && status <= 299;
}

/**
 * Reads a body as text.
 *
 * @throws {UpstreamError} `invalid_response` when it is too large.
 */
export async function readText(response: UpstreamResponse): Promise<string> {
  return decoder.decode(await readBytes(response));
}

/**
 * Reads a body as a JSON object.
 *
 * @throws {UpstreamError} `invalid_response` when it is none.
 */
export async function readObject(response: UpstreamResponse): Promise<Record<string, unknown>> {
  return parseObject(await readText(response));
}
