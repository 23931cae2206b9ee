/**
 * A configuration after validation: complete, in base units (ms, bytes, nano-dollars) and frozen. The engine reads only
 * this.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import type { CapabilityPath } from "../../contracts/provider.ts";
import type { Authorities } from "../../contracts/runtime.ts";
import type { Completed } from "../schema/complete.ts";
import type { model } from "../schema/models.ts";
import type { AuthValues, provider } from "../schema/providers.ts";
import type { cache, discovery, guard, secrets } from "../schema/schema.ts";
import type { SinkSettings } from "./observability.ts";
import type { LimitSettings, ProxySettings, TeamSettings } from "./proxy.ts";
import type { StorageSettings } from "./storage.ts";
import type { BudgetSettings, RetryBudgetSettings, RoutingSettings } from "./routing.ts";

export type * from "./proxy.ts";
export type * from "./routing.ts";

export interface PoolSettings {
  readonly name: string;
  /** Capability as configured; undefined if `models` alone selects the members. */
  readonly capability?: string;
  /** Names of members; if empty, members are selected by capability. */
  readonly models: readonly string[];
  /** Entry ids of included providers; if empty, all. */
  readonly providers: readonly string[];
  /** Entry ids of excluded providers. */
  readonly excludedProviders: readonly string[];
  readonly routing: RoutingSettings;
  readonly budget?: BudgetSettings;
}

/**
 * How a provider's access tokens are fetched, with unresolved secret references. `oauth`: the refresh token grant if
 * there is a refresh token, otherwise client credentials; `service_account`: a signed JWT assertion; `ambient`: as the
 * connector's cloud issues them to this machine. Without a URL of
 * the token endpoint, that of the service account's key.
 */
export interface TokenSettings
  extends Omit<Completed<typeof provider.fields.auth>, "method" | "apiKey" | "keyRotation"> {
  readonly method: Exclude<Required<AuthValues>["method"], "api_key">;
}

type ProviderSection = Completed<typeof provider>;

/** Keys of an entry that have settings of another form. */
type ConvertedProviderKey =
  | "connector"
  | "apiKey"
  | "auth"
  | "execution"
  | "error"
  | "retry"
  | "budget"
  | "infrastructure"
  | "config";

/**
 * An entry of `providers`. Those of a program have no further sections. A `timeoutMs` is the time limit of a complete
 * response.
 */
export interface ProviderEntry
  extends
    Partial<Omit<ProviderSection, ConvertedProviderKey | "enabled">>,
    Pick<ProviderSection, "enabled">,
    Omit<ProviderSection["execution"], "baseUrl" | "maxRetries" | "ca" | "userAgent"> {
  readonly id: string;
  /** Connector id. */
  readonly connector: string;
  /** API keys as configured, with unresolved secret references. */
  readonly apiKeys: readonly string[];
  readonly tokens?: TokenSettings;
  /** Origin of the entry: `config`, or the name of an environment variable. */
  readonly source: string;
  /** Idle timeout: maximum time between two events of a stream, ms. */
  readonly silenceMs: number;
  /** The same as configured, which also applies before the first content of a stream, ms. */
  readonly configuredSilenceMs?: number | undefined;
  /** Path of a PEM file with certificate authorities to trust in addition to the runtime's own. */
  readonly authoritiesFile?: string;
  /** The content of that file; undefined before the start. */
  readonly authorities?: Authorities;
  /** Whether the provider receives the `User-Agent` of the client. */
  readonly forwardsUserAgent?: boolean;
  readonly retryBudget: RetryBudgetSettings;
  readonly budget?: BudgetSettings;
  /** Attributes of the connector, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Batch settings of a model. */
export interface BatchSettings extends Omit<Required<Completed<typeof model>>["batch"], "polling"> {
  /** Whether open batches are polled in the background. */
  readonly polling: boolean;
}

/** A configured model; omitted facts are taken from the catalogue. */
export interface ConfiguredModel extends Omit<Completed<typeof model>, "model" | "batch" | "baseModel"> {
  readonly name: string;
  /** The upstream model id. */
  readonly id: string;
  /** The catalogue entry whose facts apply, if that is not the one of the id. */
  readonly base?: { readonly connector: string; readonly id: string };
  readonly batch?: BatchSettings;
}

/** Settings of the secret store. A cache time of 0 disables the cache. */
export interface SecretSettings extends Omit<Completed<typeof secrets.fields.resolution>, "cacheEnabled"> {
  /** Connector id. */
  readonly store: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Settings of health probes, which run with an interval. Undefined providers: all enabled ones. */
export type HealthSettings = Completed<typeof discovery.fields.health>;

/** Registry sync settings. Without an interval, only providers with their own are synced; undefined providers: all enabled ones. */
export interface SyncSettings
  extends Pick<Completed<typeof discovery.fields.sync>, "connector" | "enabled" | "intervalMs" | "providers"> {
  /** How changes are handled, under the names of the document. */
  readonly actions: Readonly<Record<string, unknown>>;
}

/** Settings of the renewal of the catalogue. */
export type CatalogueSettings = Completed<typeof discovery.fields.catalogue>;

/** A guard, with unresolved secret references. */
export interface GuardSettings extends Completed<typeof guard> {
  /** Attributes of the connector. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Settings of the cache of responses. */
export interface CacheSettings extends Omit<NonNullable<Completed<typeof cache>>, "storage"> {
  /** Its own storage, with unresolved secret references; undefined for that of the mesh, or memory. */
  readonly storage?: {
    /** Connector id. */
    readonly connector: string;
    readonly config: Readonly<Record<string, unknown>>;
  };
}

/** Numbers and booleans that secrets stand for. */
export interface DeferredSettings {
  /** The secrets. */
  readonly names: readonly string[];
  /**
   * The settings with their values.
   *
   * @throws {ConfigError} If a value does not fit its key, or is missing and may not be.
   */
  resolve(
    secrets: { readonly values: ReadonlyMap<string, string>; readonly failOnMissing: boolean },
  ): Settings;
}

export interface Settings {
  /** Path of the document, for error messages. */
  readonly source?: string;
  /** Secret store settings; undefined if a program passes instances with their API keys. */
  readonly secrets?: SecretSettings;
  /** By entry id, in document order. */
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  /** By name, in document order. */
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  /** By name, in document order. */
  readonly pools: ReadonlyMap<string, PoolSettings>;
  /** Routing settings of on-demand pools. */
  readonly defaultRouting: RoutingSettings;
  /** Budget of each on-demand pool. */
  readonly defaultBudget?: BudgetSettings;
  /** Budget of all requests together. */
  readonly budget?: BudgetSettings;
  /** Whether a budget may have windows other than the UTC day and month; their code is imported then. */
  readonly hasLimitLists?: boolean;
  /** Whether there are teams, or limits of clients, tags or end users; their code is imported then. */
  readonly hasLimits?: boolean;
  /** Teams of clients, by name; undefined without any. */
  readonly teams?: ReadonlyMap<string, TeamSettings>;
  /** Limits of tags, by name; undefined without any. */
  readonly tags?: ReadonlyMap<string, LimitSettings>;
  /** Limits of each end user; undefined without any. */
  readonly users?: LimitSettings;
  /** Storage settings; undefined keeps state in memory. */
  readonly storage?: StorageSettings;
  readonly health?: HealthSettings;
  readonly sync?: SyncSettings;
  /** Renewal of the catalogue; undefined: only the built-in one. */
  readonly catalogue?: CatalogueSettings;
  /** By name; undefined without guards. */
  readonly guards?: ReadonlyMap<string, GuardSettings>;
  /** The cache of responses; undefined without one. */
  readonly cache?: CacheSettings;
  /** Pool or model name by alias. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Paths of custom capability leaves. */
  readonly capabilities: readonly CapabilityPath[];
  /** Names of the only models in on-demand pools; undefined: the providers' default models. */
  readonly only?: readonly string[];
  /** Proxy settings; undefined in pages. */
  readonly proxy?: ProxySettings;
  /** Deadline of a request, ms. */
  readonly deadlineMs: number;
  /** Sinks. */
  readonly observability: readonly SinkSettings[];
  /** Numbers and booleans that are not known yet; the settings have sample values in their place. */
  readonly deferred?: DeferredSettings;
  /** The document as written, where a storage keeps it; secret references unresolved. */
  readonly document?: unknown;
  /** Problems that leave the configuration valid. */
  readonly warnings: readonly ConfigProblem[];
}
