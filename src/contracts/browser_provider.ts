/**
 * Providers that a program constructs itself, as programs in browsers do. Such a provider carries the settings which a
 * configuration would otherwise hold for it.
 * @module
 */
import type { ProviderDeclaration } from "./connector.ts";
import type { CapabilityPath, ModelInfo, Provider } from "./provider.ts";
import type { Runtime } from "./runtime.ts";

/**
 * An API key, or a function that looks it up when a client becomes ready, such as
 * `() => secrets.get("OPENAI_API_KEY")`.
 * Every visitor of a page can read its key: use the visitor's own, not yours.
 */
export type ApiKey = string | (() => Promise<string | undefined>);

/** Settings of a provider instance. Omitted settings take the built-in defaults. */
export interface InstanceSettings {
  /**
   * The models, in order of preference. A model with an empty `defaultFor` is used only when requested by name. When
   * omitted, a local server is asked for its model list.
   */
  readonly models?: readonly ModelInfo[];
  /** The API key. It is sent with every call, and redacted from records and messages. */
  readonly apiKey?: ApiKey;
  /** Facts from the vendor's connector declaration, such as parameter rules that apply to all of its models. */
  readonly facts?: Partial<ProviderDeclaration>;
  /** Timeout of a complete response, and idle timeout of a stream, ms. */
  readonly timeout?: number;
  /** Maximum retries on the same model after the first attempt. */
  readonly maxRetries?: number;
  /** HTTP statuses that are always retried, whatever their failure class. */
  readonly retryableCodes?: readonly number[];
  /** HTTP statuses that are never retried, whatever their failure class. */
  readonly nonRetryableCodes?: readonly number[];
}

/** A provider that the program constructed. Any {@linkcode Provider} qualifies. */
export interface GivenProvider extends Provider {
  /** The settings of this instance. */
  readonly instanceSettings?: InstanceSettings;
  /** Called once with the runtime, before the first call. */
  attach?(runtime: Runtime): void;
}

/** Options of a vendor's factory function, such as `openai`. */
export interface VendorOptions {
  /** The API key. Required by vendors, except for a local server or a `baseUrl` that adds the key itself. */
  readonly apiKey?: ApiKey;
  /** The only models to use, in order of preference: ids, or model facts. When omitted, the vendor's default models. */
  readonly models?: readonly (string | ModelInfo)[];
  /** Overrides the vendor's base URL. Includes the version prefix, such as `https://api.acme.example/v1`. */
  readonly baseUrl?: string;
  /** The provider's id, which prefixes its model names. Defaults to the vendor's name, such as `openai`. */
  readonly id?: string;
}

/**
 * How the API key is sent: `api_key` as `Authorization: Bearer`; `x-api-key` and `api-key` in the header of that name;
 * `none` sends no key.
 */
export type AuthMethod = "api_key" | "x-api-key" | "api-key" | "none";

/** Options of `createBrowserProviderConfig`. */
export interface BrowserProviderOptions {
  /** The provider's id, which prefixes its model names. Defaults to the host of its URL, such as `api.acme.example`. */
  readonly id?: string;
  /**
   * The base URL with the version prefix, such as `https://api.acme.example/v1`. Optional if a subclass defines its own
   * endpoint, or if `proxyUrl` is a ModelMesh proxy.
   */
  readonly baseUrl?: string;
  /** The API key, or a function that looks it up; for a ModelMesh proxy, its token. */
  readonly apiKey?: ApiKey;
  /** Model ids, or model facts. Behind a ModelMesh proxy: names of its pools or models. */
  readonly models: readonly (string | ModelInfo)[];
  /** Capabilities of models that declare none, as short names or full paths; `chat-completion` by default. */
  readonly capabilities?: readonly CapabilityPath[];
  /** Timeout of a complete response, and idle timeout of a stream, ms; by default 240 000 and 60 000. */
  readonly timeout?: number;
  /** Maximum retries on the same model after the first attempt; 2 by default. */
  readonly maxRetries?: number;
  /** How the API key is sent; `api_key` by default. */
  readonly authMethod?: AuthMethod;
  /** HTTP statuses that are retried; replaces the built-in list. */
  readonly retryableCodes?: readonly number[];
  /** HTTP statuses that are not retried; replaces the built-in list. */
  readonly nonRetryableCodes?: readonly number[];
  /**
   * Without `baseUrl`: the URL of a ModelMesh proxy, which holds the API keys. With `baseUrl`: the URL of a forwarding
   * proxy, which is requested as `<proxyUrl>/<baseUrl>`.
   */
  readonly proxyUrl?: string;
}

/**
 * A validated, complete and frozen configuration of a browser provider, as `createBrowserProviderConfig` returns it.
 */
export interface BrowserProviderConfig extends InstanceSettings {
  /** The provider's id, if the program set one. */
  readonly id?: string;
  /** The base URL without a trailing slash; empty if only a subclass defines the endpoint. */
  readonly baseUrl: string;
  /** The models, each with its capabilities. */
  readonly models: readonly ModelInfo[];
  /** Capabilities of models that declare none. */
  readonly capabilities: readonly CapabilityPath[];
  /** Maximum retries on the same model after the first attempt. */
  readonly maxRetries: number;
  /** How the API key is sent. */
  readonly authMethod: AuthMethod;
  /** HTTP statuses that are always retried, whatever their failure class. */
  readonly retryableCodes: readonly number[];
  /** HTTP statuses that are never retried, whatever their failure class. */
  readonly nonRetryableCodes: readonly number[];
  /** URL of the ModelMesh or forwarding proxy, without a trailing slash. */
  readonly proxyUrl?: string;
}
