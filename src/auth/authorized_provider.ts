/**
 * A provider that authorizes its calls with OAuth access tokens instead of an API key, transparently to its connector.
 * @module
 */
import type { Infrastructure } from "../contracts/infrastructure.ts";
import type {
  CallOptions,
  CapabilityPath,
  CompletionChunk,
  CompletionRequest,
  CompletionResponse,
  DatedPricing,
  Delivery,
  ExtraResponse,
  FailureKind,
  ModelInfo,
  OperationName,
  Provider,
  Quota,
  RateLimits,
  UsageReport,
} from "../contracts/provider.ts";
import type { UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import type { TokenCache } from "../util/token_cache.ts";

export class AuthorizedProvider implements Provider {
  readonly #inner: Provider;
  readonly #tokens: TokenCache;

  /** @param inner A provider without a credential. */
  constructor(inner: Provider, tokens: TokenCache) {
    this.#inner = inner;
    this.#tokens = tokens;
  }

  get id(): string {
    return this.#inner.id;
  }

  get dialects(): NonNullable<Provider["dialects"]> {
    return this.#inner.dialects ?? [];
  }

  get operations(): readonly OperationName[] {
    return this.#inner.operations ?? [];
  }

  get infrastructure(): Infrastructure | undefined {
    const { infrastructure } = this.#inner;
    return infrastructure && this.#authorizedInfrastructure(infrastructure);
  }

  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse | ExtraResponse> {
    return this.#inner.complete(request, this.#authorized(options));
  }

  stream(request: CompletionRequest, options: CallOptions): AsyncIterable<CompletionChunk> {
    return this.#inner.stream(request, this.#authorized(options));
  }

  listModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    return this.#inner.listModels(this.#authorized(options));
  }

  discoverModels(options: CallOptions): Promise<readonly ModelInfo[]> {
    const inner = this.#inner;
    const authorized = this.#authorized(options);
    return inner.discoverModels?.(authorized) ?? inner.listModels(authorized);
  }

  async describeModels(options: CallOptions): Promise<readonly ModelInfo[] | undefined> {
    return await this.#inner.describeModels?.(this.#authorized(options));
  }

  checkQuota(options: CallOptions): Promise<Quota | undefined> {
    return this.#inner.checkQuota(this.#authorized(options));
  }

  getModelInfo(model: string): Promise<ModelInfo | undefined> {
    return this.#inner.getModelInfo(model);
  }

  getCapabilities(model: string): readonly CapabilityPath[] {
    return this.#inner.getCapabilities(model);
  }

  supports(model: string, capability: CapabilityPath, delivery: Delivery): boolean {
    return this.#inner.supports(model, capability, delivery);
  }

  getRateLimits(model: string): RateLimits | undefined {
    return this.#inner.getRateLimits(model);
  }

  getPricing(model: string): readonly DatedPricing[] | undefined {
    return this.#inner.getPricing(model);
  }

  reportUsage(usage: UsageReport): void {
    this.#inner.reportUsage(usage);
  }

  classifyError(error: unknown): FailureKind {
    return this.#inner.classifyError(error);
  }

  isRetryable(error: unknown): boolean {
    return this.#inner.isRetryable(error);
  }

  /** The call options are the last parameter of each method. */
  #authorizedInfrastructure(inner: Infrastructure): Infrastructure {
    return new Proxy(inner, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) =>
          member.apply(target, [...given.slice(0, -1), this.#authorized(given.at(-1) as CallOptions)]);
      },
    });
  }

  #authorized(options: CallOptions): CallOptions {
    return {
      signal: options.signal,
      send: (request) => this.#send(request, options),
      reportDropped: (parameters) => options.reportDropped?.(parameters),
    };
  }

  /**
   * Sends a request. A 401 may mean that the token was revoked early: the token is then renewed once, and the request
   * retried.
   */
  async #send(request: UpstreamRequest, options: CallOptions): Promise<UpstreamResponse> {
    const token = await this.#tokens.get({ signal: options.signal });
    const response = await options.send(withToken(request, token));
    if (response.status !== 401) return response;
    await response.reader()?.cancel().catch(() => {}); // only its status matters
    const other = await this.#tokens.renew(token, { signal: options.signal });
    return await options.send(withToken(request, other));
  }
}

function withToken(request: UpstreamRequest, token: string): UpstreamRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}
