/**
 * A configuration after validation: complete, in base units (ms, bytes, USD), frozen. The rest of the engine
 * reads this and never asks whether something is set.
 * @module
 */
import type { ConfigProblem } from "../errors.ts";
import type {
  CapabilityPath,
  DatedPricing,
  ModelConstraints,
  ModelFeatures,
  ParameterRules,
  RateLimits,
} from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Provider } from "../contracts/provider.ts";
import type { SecretStore } from "../contracts/secret_store.ts";

/** How the wait before a retry is found. */
export type Backoff = "fixed" | "exponential_jitter" | "retry_after";

/** Where a request may go after a failure. */
export type RetryScope = "same_model" | "same_provider" | "any";

/** Retrying one model. */
export interface RetrySettings {
  /** Retries on the same model, beyond the first try. */
  readonly maxAttempts: number;
  /** How the wait is found. */
  readonly backoff: Backoff;
  /** First wait, ms. */
  readonly initialDelayMs: number;
  /** Longest wait, ms. */
  readonly maxDelayMs: number;
  /** Statuses that are retried whatever their class. */
  readonly retryableCodes: ReadonlySet<number>;
  /** Statuses that are not retried whatever their class. */
  readonly nonRetryableCodes: ReadonlySet<number>;
  /** Where a request may go next. */
  readonly scope: RetryScope;
  /** Whether a provider's hint is followed. */
  readonly honorRetryAfter: boolean;
}

/** The share of a provider's traffic that may be same-model retries. */
export interface RetryBudgetSettings {
  /** Retries per request. */
  readonly ratio: number;
  /** Retries that are always allowed per window. */
  readonly min: number;
  /** Window, ms. */
  readonly windowMs: number;
}

/** When a model is set aside. */
export interface DeactivationSettings {
  /** Requests it failed to serve in a row. */
  readonly retryLimit: number;
  /** Statuses that count toward the limit although their class does not. */
  readonly errorCodes: ReadonlySet<number>;
}

/** When it is taken back. */
export interface RecoverySettings {
  /** Time in standby, ms. */
  readonly cooldownMs: number;
}

/** A pool's routing settings, merged: the pool's own, those of `*`, the built-in ones. */
export interface RoutingSettings {
  /** Strategy id, or an instance. */
  readonly strategy: string | SelectionStrategy;
  /** Asked when the strategy leaves the choice open. */
  readonly fallbackStrategy?: string;
  /** Ordered model preference. */
  readonly modelPriority: readonly string[];
  /** Ordered provider preference. */
  readonly providerPriority: readonly string[];
  /** Retrying; per provider, since providers may have code lists of their own. */
  readonly retry: (provider: string) => RetrySettings;
  /** Setting aside. */
  readonly deactivation: DeactivationSettings;
  /** Taking back. */
  readonly recovery: RecoverySettings;
}

/** One pool as configured. */
export interface PoolSettings {
  /** Its name. */
  readonly name: string;
  /** The node it targets, as written; undefined when `models` alone says what is in it. */
  readonly capability?: string;
  /** A fixed list of models, by name. */
  readonly models: readonly string[];
  /** Only these providers, when not empty. */
  readonly providers: readonly string[];
  /** Not these providers. */
  readonly excludedProviders: readonly string[];
  /** Routing. */
  readonly routing: RoutingSettings;
}

/** One provider as configured. */
export interface ProviderEntry {
  /** The entry's id. */
  readonly id: string;
  /** The connector that makes it. */
  readonly connector: string;
  /** A ready-made provider in place of a connector. */
  readonly instance?: Provider;
  /** False: kept in the file, not used. */
  readonly enabled: boolean;
  /** Keys as written, secret references unresolved. */
  readonly apiKeys: readonly string[];
  /** Replaces the vendor's address, secret references unresolved. */
  readonly baseUrl?: string;
  /** Where it was found: `config`, or the variable's name. */
  readonly source: string;
  /** Limit of a whole answer, ms. */
  readonly timeoutMs: number;
  /** Limit of silence in a stream, ms. */
  readonly silenceMs: number;
  /** Limit of connecting, ms. */
  readonly connectTimeoutMs: number;
  /** Same-model retries over all its traffic. */
  readonly retryBudget: RetryBudgetSettings;
  /** When its quota resets. */
  readonly quotaReset?: "monthly" | "daily" | "daily_utc" | "rolling";
  /** Attributes for the connector, secret references unresolved. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** One model as configured; what is left out is taken from the catalogue. */
export interface ConfiguredModel {
  /** Its name. */
  readonly name: string;
  /** Its provider's entry id. */
  readonly provider: string;
  /** The id sent upstream. */
  readonly id: string;
  /** Capability leaves as written. */
  readonly capabilities?: readonly CapabilityPath[];
  /** Delivery modes it is narrowed to. */
  readonly delivery: { readonly synchronous?: boolean; readonly streaming?: boolean; readonly batch?: boolean };
  /** Feature flags. */
  readonly features: ModelFeatures;
  /** Sizes. */
  readonly constraints: ModelConstraints;
  /** Prices, field by field over the catalogue's. */
  readonly pricing?: DatedPricing;
  /** What the vendor allows. */
  readonly limits: RateLimits;
  /** Share under strategies that weigh. */
  readonly weight: number;
  /** Rewording beyond the connector's. */
  readonly parameters?: ParameterRules;
}

/** CORS for browser clients. */
export interface CorsSettings {
  /** On unless switched off. */
  readonly enabled: boolean;
  /** Origins allowed; undefined: any with a token, loopback ones without. */
  readonly origins?: readonly string[];
  /** Request headers allowed; undefined: whatever is asked for. */
  readonly headers?: readonly string[];
  /** Methods allowed; undefined: those of the path. */
  readonly methods?: readonly string[];
  /** How long a preflight answer may be kept, seconds. */
  readonly maxAgeSeconds: number;
}

/** The proxy. */
export interface ProxySettings {
  /** Bind address. */
  readonly host: string;
  /** Port; 0 takes a free one. */
  readonly port: number;
  /** `node`: served through `node:http`, on Deno too. */
  readonly listener?: "node";
  /** Paths without `/v1`; undefined: all. */
  readonly endpoints?: readonly string[];
  /** Tokens, secret references unresolved; none: no token is asked for. */
  readonly tokens: readonly string[];
  /** A token was asked for in the file: a start that ends up with none is refused. */
  readonly tokenRequired: boolean;
  /** CORS. */
  readonly cors: CorsSettings;
  /** Host names served without a token beside loopback ones. */
  readonly allowedHosts: readonly string[];
  /** Requests at once. */
  readonly maxConcurrent: number;
  /** Largest JSON body, bytes. */
  readonly bodyLimit: number;
  /** Time between the signal to stop and refusing connections, ms. */
  readonly drainDelayMs: number;
}

/** Makes a secret store of its connector's id and the attributes for it. */
export type OpenSecretStore = (id: string, config: Readonly<Record<string, unknown>>) => SecretStore;

/** Settings in which nothing refers to a secret any more. */
export interface ResolvedSettings {
  /** The settings. */
  readonly settings: Settings;
  /** Every value that was put in: what records and messages must not show. */
  readonly secrets: ReadonlySet<string>;
}

/** Where secrets come from, and how they get into the settings. */
export interface SecretSettings {
  /** The secret store's connector. */
  readonly store: string;
  /** Whether a secret that does not exist stops a start. */
  readonly failOnMissing: boolean;
  /** Attributes for the store. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Puts secrets in where settings lack them, when a mesh starts. It comes along so that who needs no store has none. */
  readonly resolve: (settings: Settings, open: OpenSecretStore) => Promise<ResolvedSettings>;
}

/** A whole configuration. */
export interface Settings {
  /** Where it came from, for messages: a path, or undefined. */
  readonly source?: string;
  /** Secrets. */
  readonly secrets: SecretSettings;
  /** By entry id, in order. */
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  /** By name, in order. */
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  /** By name, in order. */
  readonly pools: ReadonlyMap<string, PoolSettings>;
  /** Routing of pools that are made on demand. */
  readonly defaultRouting: RoutingSettings;
  /** Name to pool or model. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Nodes added to the capability tree: full paths of leaves. */
  readonly capabilities: readonly CapabilityPath[];
  /** The only models that pools made on demand take in, by name; undefined: the providers' defaults. */
  readonly only?: readonly string[];
  /** The proxy; left out in pages, which have none. */
  readonly proxy?: ProxySettings;
  /** Deadline of a request, ms. */
  readonly deadlineMs: number;
  /** Routing events: connector ids and their attributes; empty: no sinks. */
  readonly observability: readonly { readonly connector: string; readonly config: Readonly<Record<string, unknown>> }[];
  /** What is odd but no reason to stop. */
  readonly warnings: readonly ConfigProblem[];
}
