/**
 * A configuration after validation: complete, in base units (ms, bytes, nano-dollars), frozen. The rest of the engine
 * reads this and never asks whether something is set.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import type {
  CapabilityPath,
  DatedPricing,
  ModelConstraints,
  ModelFeatures,
  ParameterRules,
  RateLimits,
} from "../../contracts/provider.ts";
import type { Provider } from "../../contracts/provider.ts";
import type { StorageSettings } from "./storage.ts";
import type { BudgetSettings, RetryBudgetSettings, RoutingSettings } from "./routing.ts";

export type * from "./routing.ts";

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
  /** The most that may be spent through it. */
  readonly budget?: BudgetSettings;
}

/** How a provider's tokens are fetched, secret references unresolved. */
export interface TokenSettings {
  /** `oauth`: a refresh token where there is one, else client credentials; `service_account`: a signed assertion. */
  readonly method: "oauth" | "service_account";
  /** Where tokens are fetched; a service account's own address unless given. */
  readonly tokenUrl?: string;
  /** The client's id. */
  readonly clientId?: string;
  /** The client's secret. */
  readonly clientSecret?: string;
  /** A refresh token. */
  readonly refreshToken?: string;
  /** Scopes that are asked for, separated by spaces. */
  readonly scope?: string;
  /** A service account's JSON key, as text or parsed. */
  readonly credentials?: string | Readonly<Record<string, unknown>>;
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
  /** Tokens in place of keys. */
  readonly tokens?: TokenSettings;
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
  /** The most that may be spent with it. */
  readonly budget?: BudgetSettings;
  /** Whether it is asked for its models at the start; undefined: where it has no catalogue and no models are configured. */
  readonly enumerateModels?: boolean;
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

/** A client of the proxy: its token, and what it may do. */
export interface ClientSettings {
  /** What it sends, secret references unresolved. */
  readonly token: string;
  /** Its name in records; left out where a token is just a token. */
  readonly name?: string;
  /** The only pools it may use, by name; undefined: everything. */
  readonly pools?: readonly string[];
  /** The most that it may spend. */
  readonly budget?: BudgetSettings;
  /** Requests it may send a minute. */
  readonly rpm?: number;
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
  /** Clients that may use it; none: no token is required. */
  readonly clients: readonly ClientSettings[];
  /** The file requires a token: a start that ends up with none is refused. */
  readonly tokenRequired: boolean;
  /** CORS. */
  readonly cors: CorsSettings;
  /** Host names served without a token beside loopback ones. */
  readonly allowedHosts: readonly string[];
  /** Requests at once. */
  readonly maxConcurrent: number;
  /** Largest JSON body, bytes. */
  readonly bodyLimit: number;
  /** What all bodies that are being read take together, bytes. */
  readonly bodyMemory: number;
  /** Time between the signal to stop and refusing connections, ms. */
  readonly drainDelayMs: number;
}

/** Where secrets come from. */
export interface SecretSettings {
  /** The secret store's connector. */
  readonly store: string;
  /** Whether a secret that does not exist stops a start. */
  readonly failOnMissing: boolean;
  /** Attributes for the store. */
  readonly config: Readonly<Record<string, unknown>>;
  /** How long resolved secrets are kept, ms; 0: each is looked up whenever it is needed. */
  readonly cacheTtlMs: number;
  /** Whether a provider's keys are looked up again when it takes over from another one, and when it recovers. */
  readonly reloadOnRotation: boolean;
}

/** Probing providers in the background. */
export interface HealthSettings {
  /** False switches it off whatever the interval. */
  readonly enabled: boolean;
  /** How often providers are probed, ms; undefined: never. */
  readonly intervalMs?: number;
  /** Limit of a probe, ms. */
  readonly timeoutMs: number;
  /** Failed probes in a row that deactivate a provider's models. */
  readonly failureThreshold: number;
  /** Entry ids of the providers that are probed; undefined: all that are enabled. */
  readonly providers?: readonly string[];
}

/** A whole configuration. */
export interface Settings {
  /** Where it came from, for messages: a path, or undefined. */
  readonly source?: string;
  /** Where secrets come from; left out when a program passes providers with their keys. */
  readonly secrets?: SecretSettings;
  /** By entry id, in order. */
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  /** By name, in order. */
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  /** By name, in order. */
  readonly pools: ReadonlyMap<string, PoolSettings>;
  /** Routing of pools that are made on demand. */
  readonly defaultRouting: RoutingSettings;
  /** The most that may be spent through each pool that is made on demand. */
  readonly defaultBudget?: BudgetSettings;
  /** The most that may be spent in all. */
  readonly budget?: BudgetSettings;
  /** Where state is kept between starts; undefined: nowhere. */
  readonly storage?: StorageSettings;
  /** Probing providers. */
  readonly health?: HealthSettings;
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
  /** Warnings: the configuration is valid with them. */
  readonly warnings: readonly ConfigProblem[];
}
