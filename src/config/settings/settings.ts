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
import type { Authorities } from "../../contracts/runtime.ts";
import type { SinkSettings } from "./observability.ts";
import type { ProxySettings } from "./proxy.ts";
import type { StorageSettings } from "./storage.ts";
import type { BudgetSettings, RetryBudgetSettings, RoutingSettings } from "./routing.ts";

export type * from "./proxy.ts";
export type * from "./routing.ts";

export interface PoolSettings {
  readonly name: string;
  /** As written; undefined when `models` alone selects the members. */
  readonly capability?: string;
  /** Names; empty: selected by capability. */
  readonly models: readonly string[];
  /** Entry ids; empty: all. */
  readonly providers: readonly string[];
  /** Entry ids. */
  readonly excludedProviders: readonly string[];
  readonly routing: RoutingSettings;
  readonly budget?: BudgetSettings;
}

/** How a provider's tokens are fetched, secret references unresolved. */
export interface TokenSettings {
  /** `oauth`: a refresh token where there is one, else client credentials; `service_account`: a signed assertion. */
  readonly method: "oauth" | "service_account";
  /** Undefined: a service account's own address. */
  readonly tokenUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly refreshToken?: string;
  /** Separated by spaces. */
  readonly scope?: string;
  /** JSON key of a service account, as text or parsed. */
  readonly credentials?: string | Readonly<Record<string, unknown>>;
}

export interface ProviderEntry {
  readonly id: string;
  /** Connector id. */
  readonly connector: string;
  /** Used in place of a connector. */
  readonly instance?: Provider;
  /** False: kept in the document, not used. */
  readonly enabled: boolean;
  /** Keys as written, secret references unresolved. */
  readonly apiKeys: readonly string[];
  readonly tokens?: TokenSettings;
  /** Replaces the vendor's address, secret references unresolved. */
  readonly baseUrl?: string;
  /** Where it was found: `config`, or the variable's name. */
  readonly source: string;
  /** Limit of a whole response, ms. */
  readonly timeoutMs: number;
  /** Maximum time between two events of a stream, ms. */
  readonly silenceMs: number;
  /** Limit for connecting, ms. */
  readonly connectTimeoutMs: number;
  /** The file of certificate authorities to trust beside the runtime's own. */
  readonly authoritiesFile?: string;
  /** What is in it; undefined before the start. */
  readonly authorities?: Authorities;
  readonly retryBudget: RetryBudgetSettings;
  readonly budget?: BudgetSettings;
  /** Whether its models are listed at the start; undefined: if it has no catalogue and no configured models. */
  readonly enumerateModels?: boolean;
  /** How often its list is asked for again, ms; undefined: as often as those of others. */
  readonly refreshMs?: number;
  /** What its vendor is asked for at the start. */
  readonly queries?: ProviderQueries;
  /** What it is used for beside requests to models. */
  readonly infrastructure?: InfrastructureSettings;
  readonly quotaReset?: "monthly" | "daily" | "daily_utc" | "rolling";
  /** Attributes for the connector, secret references unresolved. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Files, batches and fine-tuning at a provider; what is undefined is as its connector knows it. */
export interface InfrastructureSettings {
  readonly files?: boolean;
  /** Largest file, bytes. */
  readonly maxFileBytes?: number;
  readonly batch?: boolean;
  /** Requests of one batch. */
  readonly maxItems?: number;
  readonly fineTuning?: boolean;
}

/** Batches of a model. */
export interface BatchSettings {
  /** Requests of one batch. */
  readonly maxItems?: number;
  /** Of one batch's file, bytes. */
  readonly maxBytes?: number;
  /** Expected turnaround, ms. */
  readonly windowMs?: number;
  /** Price relative to that of a single request. */
  readonly priceFactor?: number;
  /** Whether the end of a batch is an event. */
  readonly isAnnounced: boolean;
  /** Whether open batches are asked for in the background. */
  readonly isPolled: boolean;
  /** Whether responses can be had while parts are under way. */
  readonly hasPartialResults: boolean;
}

/** What a vendor is asked for at the start. */
export interface ProviderQueries {
  /** Sizes and features of its models. */
  readonly details?: boolean;
  readonly capabilities?: boolean;
  readonly pricing?: boolean;
  /** What is left of the account. */
  readonly quota?: boolean;
}

/** One model as configured; what is left out is taken from the catalogue. */
export interface ConfiguredModel {
  readonly name: string;
  /** Entry id. */
  readonly provider: string;
  /** Upstream id. */
  readonly id: string;
  /** Capability leaves as written. */
  readonly capabilities?: readonly CapabilityPath[];
  /** Can only narrow the modes of its capabilities. */
  readonly delivery: { readonly synchronous?: boolean; readonly streaming?: boolean; readonly batch?: boolean };
  readonly features: ModelFeatures;
  readonly constraints: ModelConstraints;
  /** Replace the catalogue's field by field. */
  readonly pricing?: DatedPricing;
  readonly limits: RateLimits;
  readonly batch?: BatchSettings;
  /** For strategies that weigh models. */
  readonly weight: number;
  /** Applied after the connector's own rules. */
  readonly parameters?: ParameterRules;
  /** The space that its embeddings are in. */
  readonly embeddingSpace?: string;
  /** The vendor's voice by the voice asked for. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Of a transcription, or of the sound of a speech. */
  readonly responseFormats?: readonly string[];
}

export interface SecretSettings {
  /** Connector id. */
  readonly store: string;
  /** Whether a missing secret fails the start. */
  readonly failOnMissing: boolean;
  readonly config: Readonly<Record<string, unknown>>;
  /** How long values are reused, ms; 0: each use looks them up. */
  readonly cacheTtlMs: number;
  /** Whether a provider's keys are looked up again when rotation selects it, and when it recovers. */
  readonly reloadOnRotation: boolean;
}

/** Background probes of providers. */
export interface HealthSettings {
  /** Connector id. */
  readonly connector: string;
  /** False: no probes, whatever the interval. */
  readonly enabled: boolean;
  /** ms; undefined: no probes. */
  readonly intervalMs?: number;
  /** Limit of one probe, ms. */
  readonly timeoutMs: number;
  /** Consecutive failed probes that deactivate a provider's models. */
  readonly failureThreshold: number;
  /** Entry ids; undefined: all enabled providers. */
  readonly providers?: readonly string[];
}

/** Keeping the list of models up to date. */
export interface SyncSettings {
  /** Connector id. */
  readonly connector: string;
  /** False: no sync, whatever the intervals. */
  readonly enabled: boolean;
  /** ms; undefined: only providers with an interval of their own. */
  readonly intervalMs?: number;
  /** Entry ids; undefined: all enabled providers. */
  readonly providers?: readonly string[];
  /** What it does with what it finds, as written. */
  readonly actions: Readonly<Record<string, unknown>>;
}

export interface Settings {
  /** Path of the document, for messages. */
  readonly source?: string;
  /** Undefined when a program passes instances with their keys. */
  readonly secrets?: SecretSettings;
  /** By entry id, in the order of the document. */
  readonly providers: ReadonlyMap<string, ProviderEntry>;
  /** By name, in the order of the document. */
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  /** By name, in the order of the document. */
  readonly pools: ReadonlyMap<string, PoolSettings>;
  /** For pools made on demand. */
  readonly defaultRouting: RoutingSettings;
  /** For each pool made on demand. */
  readonly defaultBudget?: BudgetSettings;
  /** Of all requests together. */
  readonly budget?: BudgetSettings;
  /** Undefined: state lives in memory. */
  readonly storage?: StorageSettings;
  readonly health?: HealthSettings;
  readonly sync?: SyncSettings;
  /** From name to pool or model. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Paths of leaves added to the tree. */
  readonly capabilities: readonly CapabilityPath[];
  /** Names of the only models in pools made on demand; undefined: the providers' defaults. */
  readonly only?: readonly string[];
  /** Undefined in pages. */
  readonly proxy?: ProxySettings;
  /** Of a request, ms. */
  readonly deadlineMs: number;
  /** Empty: no sinks. */
  readonly observability: readonly SinkSettings[];
  /** Problems that leave the configuration valid. */
  /** The document as written, where a storage keeps it; secret references unresolved. */
  readonly document?: unknown;
  readonly warnings: readonly ConfigProblem[];
}
