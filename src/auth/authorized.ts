/**
 * OAuth access tokens instead of API keys. Tokens are fetched on demand.
 * @module
 */
import type { TokenGrant } from "../contracts/connector.ts";
import type { Infrastructure } from "../contracts/infrastructure.ts";
import type {
  CallOptions,
  CapabilityPath,
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
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { UpstreamError } from "../errors.ts";
import type { Hub } from "../observe/hub.ts";
import type { Redactor } from "../observe/redact.ts";
import { TokenCache } from "../util/token_cache.ts";

interface GrantParts {
  /** The provider's entry id. */
  readonly id: string;
  /** Fetches its tokens. */
  readonly grant: TokenGrant;
  readonly runtime: Pick<Runtime, "clock">;
  readonly hub: Hub;
  /** Receives tokens, so that records do not contain them. */
  readonly redactor: Redactor;
}

/** Wraps a provider so that its calls are authorized with access tokens. */
export function authorized(provider: Provider, parts: GrantParts): Provider {
  return new AuthorizedProvider(provider, new TokenCache(loggedGrant(parts), parts.runtime.clock));
}

/**
 * A provider that authorizes its calls with OAuth access tokens instead of an API key, transparently to its connector.
 */
class AuthorizedProvider implements Provider {
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

  get apis(): NonNullable<Provider["apis"]> {
    return this.#inner.apis ?? [];
  }

  get countTokens(): Provider["countTokens"] {
    if (this.#inner.countTokens === undefined) return undefined;
    return (request, options) => this.#inner.countTokens!(request, this.#authorized(options));
  }

  get operations(): readonly OperationName[] {
    return this.#inner.operations ?? [];
  }

  get region(): string | undefined {
    return this.#inner.region;
  }

  get infrastructure(): Infrastructure | undefined {
    const { infrastructure } = this.#inner;
    return infrastructure && this.#authorizedInfrastructure(infrastructure);
  }

  complete(request: CompletionRequest, options: CallOptions): Promise<CompletionResponse | ExtraResponse> {
    return this.#inner.complete(request, this.#authorized(options));
  }

  get stream(): Provider["stream"] {
    if (this.#inner.stream === undefined) return undefined;
    return (request, options) => this.#inner.stream!(request, this.#authorized(options));
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
        return (...args: unknown[]) =>
          member.apply(target, [...args.slice(0, -1), this.#authorized(args.at(-1) as CallOptions)]);
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

/** A grant that registers its tokens with the redactor and logs failures. */
function loggedGrant({ id, grant, hub, redactor }: GrantParts): TokenGrant {
  return async () => {
    try {
      const token = await grant();
      redactor.addToken(token.value);
      return token;
    } catch (error) {
      const reason = UpstreamError.isInstance(error) ? `: ${error.message}` : "";
      const message = `No token for the provider "${id}"${reason}`;
      hub.trace({ severity: "warning", component: "provider", message, provider: id });
      throw error;
    }
  };
}
