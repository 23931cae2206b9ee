/**
 * Providers that a program makes itself, as programs in browsers do. They carry the settings that a configuration would
 * have of them.
 * @module
 */
import type { ProviderDeclaration } from "./connector.ts";
import type { CapabilityPath, ModelInfo, Provider } from "./provider.ts";
import type { Runtime } from "./runtime.ts";

/**
 * A key, or what finds it when a client becomes ready, such as `() => secrets.get("OPENAI_API_KEY")`. Everyone who has
 * the page has the key: use one of its visitor's.
 */
export type ApiKey = string | (() => Promise<string | undefined>);

/** Settings of a provider instance; those left out have the built-in defaults. */
export interface InstanceSettings {
  /**
   * Its models, in order of preference; those with an empty `defaultFor` are asked only when they are named. A server
   * on one's own machine is asked for them when it has none here.
   */
  readonly models?: readonly ModelInfo[];
  /** Its key: sent with every call, and redacted from records and messages. */
  readonly apiKey?: ApiKey;
  /** What its vendor's connector declares, such as the rewording that all its models need. */
  readonly facts?: Partial<ProviderDeclaration>;
  /** Limit of a complete response, and of idle time in a stream, ms. */
  readonly timeout?: number;
  /** Retries on the same model, beyond the first try. */
  readonly maxRetries?: number;
  /** Statuses that are retried whatever their class. */
  readonly retryableCodes?: readonly number[];
  /** Statuses that are not retried whatever their class. */
  readonly nonRetryableCodes?: readonly number[];
}

/** A provider made by the program. Any {@linkcode Provider} is one. */
export interface GivenProvider extends Provider {
  /** Its settings. */
  readonly instanceSettings?: InstanceSettings;
  /** Called with the runtime before the first call. */
  attach?(runtime: Runtime): void;
}

/** What a vendor's function, such as `openai`, takes. */
export interface VendorOptions {
  /** The key. A vendor needs one, unless it is a server on one's own machine or at a `baseUrl` that adds the key. */
  readonly apiKey?: ApiKey;
  /** The only models, in order of preference: ids, or what is known of them; the vendor's defaults when left out. */
  readonly models?: readonly (string | ModelInfo)[];
  /** Replaces the vendor's address; with the version prefix, such as `https://api.acme.example/v1`. */
  readonly baseUrl?: string;
  /** Its id, and the prefix of its models' names; by default the vendor's name, such as `openai`. */
  readonly id?: string;
}

/**
 * How a key is sent: `api_key` as `Authorization: Bearer`, `x-api-key` and `api-key` in the header of that name, `none`
 * not at all.
 */
export type AuthMethod = "api_key" | "x-api-key" | "api-key" | "none";

/** What `createBrowserProviderConfig` takes. */
export interface BrowserProviderOptions {
  /** Its id, and the prefix of its models' names; by default the host it is at, such as `api.acme.example`. */
  readonly id?: string;
  /**
   * Its address with the version prefix, such as `https://api.acme.example/v1`. Not needed where a subclass has an
   * endpoint of its own, or where `proxyUrl` is a ModelMesh proxy.
   */
  readonly baseUrl?: string;
  /** The key, or what finds it; or the token of the proxy. */
  readonly apiKey?: ApiKey;
  /** The ids of its models, or what is known of them. Behind a ModelMesh proxy: names of its pools or models. */
  readonly models: readonly (string | ModelInfo)[];
  /** Capabilities of those models that name none; `chat-completion` by default. Short names or full paths. */
  readonly capabilities?: readonly CapabilityPath[];
  /** Limit of a complete response, and of idle time in a stream, ms; by default 240 000 and 60 000. */
  readonly timeout?: number;
  /** Retries on the same model, beyond the first try; 2 by default. */
  readonly maxRetries?: number;
  /** How the key is sent; `api_key` by default. */
  readonly authMethod?: AuthMethod;
  /** Statuses that are retried, in place of the built-in ones. */
  readonly retryableCodes?: readonly number[];
  /** Statuses that are not retried, in place of the built-in ones. */
  readonly nonRetryableCodes?: readonly number[];
  /**
   * Alone: the address of a ModelMesh proxy, which keeps the keys. With another address: a forwarder in front of it,
   * which is asked for `<proxyUrl>/<address>`.
   */
  readonly proxyUrl?: string;
}

/** A checked configuration of a browser provider: complete, frozen. `createBrowserProviderConfig` makes it. */
export interface BrowserProviderConfig extends InstanceSettings {
  /** Its id, where the program chose one. */
  readonly id?: string;
  /** Its address, without a slash at the end; empty when only a subclass knows it. */
  readonly baseUrl: string;
  /** Its models; each with its capabilities. */
  readonly models: readonly ModelInfo[];
  /** Capabilities of those models that name none. */
  readonly capabilities: readonly CapabilityPath[];
  /** Retries on the same model, beyond the first try. */
  readonly maxRetries: number;
  /** How the key is sent. */
  readonly authMethod: AuthMethod;
  /** Statuses that are retried whatever their class. */
  readonly retryableCodes: readonly number[];
  /** Statuses that are not retried whatever their class. */
  readonly nonRetryableCodes: readonly number[];
  /** The proxy or forwarder, without a slash at the end. */
  readonly proxyUrl?: string;
}
