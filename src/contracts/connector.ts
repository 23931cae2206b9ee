/**
 * Connectors: what can be plugged in, and how a connector declares itself.
 * @module
 */
import type { Discovery } from "./discovery.ts";
import type { Guard } from "./guard.ts";
import type { ModerationResponse } from "./moderation.ts";
import type { InfrastructureFacts } from "./infrastructure.ts";
import type { Observability } from "./observability.ts";
import type { ChatApi, DatedPricing, ModelInfo, ParameterRules, Provider } from "./provider.ts";
import type { SelectionStrategy } from "./rotation.ts";
import type { Runtime } from "./runtime.ts";
import type { SecretStore } from "./secret_store.ts";
import type { Storage } from "./storage.ts";

/** The id of a connector: `<vendor>.<kind>.v1`. */
export type ConnectorId = string;

/** The kinds of connectors, and the type that each kind creates. */
export interface ConnectorKinds {
  /** Gives access to a vendor's models. */
  provider: Provider;
  /** Selects one of the candidates for a request. */
  strategy: SelectionStrategy;
  /** Supplies secrets. */
  secretStore: SecretStore;
  /** Persists state across restarts. */
  storage: Storage;
  /** Receives events, logs, statistics and traces. */
  observability: Observability;
  /** Syncs the model registry, or monitors the health of providers. */
  discovery: Discovery;
  /** Checks the texts of requests and responses. */
  guard: Guard;
}

/**
 * The type of an attribute's value. A `duration` is configured with a unit and passed to the connector in ms, a `size`
 * in bytes. A `url` is http or https, a `list` one of strings.
 */
export type AttributeType = "text" | "flag" | "integer" | "object" | "list" | "duration" | "size" | "url";

/** An attribute that a connector reads from its configuration. */
export interface Attribute {
  /** The accepted type, or a list of accepted types. A secret reference may replace a string. */
  readonly type: AttributeType | readonly AttributeType[];
  /** The accepted strings; any string when omitted. */
  readonly values?: readonly string[];
  /** Minimum value: an integer, ms or bytes. */
  readonly min?: number;
  /** Whether the attribute is required. */
  readonly isRequired?: boolean;
  /** The default; of a duration in ms, of a size in bytes. */
  readonly default?: string | number | boolean;
  /** Description, shown in the documentation. */
  readonly about: string;
}

/** Attributes by name. */
export type Attributes = Readonly<Record<string, Attribute>>;

/**
 * Who sees the records of a storage: this process, until it ends (`none`); other processes, once they are written
 * (`records`); other processes, with counters that change at once (`state`).
 */
export type StorageSharing = "none" | "records" | "state";

/** What is known about a connector before its code is loaded. */
export interface ConnectorDeclaration<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> {
  /** The id by which a configuration refers to it. */
  readonly id: ConnectorId;
  /** The kind of connector. */
  readonly kind: Kind;
  /**
   * The attributes that it reads: those of `secrets`, of `storage`, of an entry of `observability`, or of `config` in a
   * provider's entry. Other attributes are rejected, with the nearest name as a suggestion. When omitted, every
   * attribute is passed through.
   */
  readonly attributes?: Attributes;
  /**
   * The sections of `observability` that this sink supports; other sections reject it.
   * @default all
   */
  readonly sections?: readonly ("routing" | "logging" | "statistics" | "tracing")[];
  /**
   * Who sees the records of this storage. Settings that cannot act on it, such as those of locking, are reported. When
   * omitted, none are.
   */
  readonly sharing?: StorageSharing;
  /** Whether its storages have `entries`. */
  readonly hasEntries?: boolean;
  /** Whether it writes to the storage of the mesh. If so, the configuration needs a `storage` section. */
  readonly needsStorage?: boolean;
}

/** Parts of the mesh that a sink may use. A mesh provides all of them. */
export interface MeshParts {
  /** The storage of the `storage` section; undefined until it is open. */
  storage(): Storage | undefined;
  /** Version of this package. */
  readonly version?: string;
  /** Identifies the mesh among all processes, from the start to the end of its statistics. */
  readonly instanceId?: string;
  /** Reports a warning. */
  warn?(message: string): void;
  /**
   * Has inputs classified by a pool that serves `moderation`, without guards. Only guards have it.
   *
   * @param pool Name of the pool.
   * @param inputs The texts.
   * @returns The results, in order.
   * @throws A `MeshError` if no model serves the request; the reason of the signal.
   */
  moderate?(pool: string, inputs: readonly string[], signal: AbortSignal): Promise<ModerationResponse["results"]>;
}

/** Creates the instances of a connector. */
export interface ConnectorImplementation<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> {
  /**
   * Creates an instance. Only sinks and guards receive `mesh`.
   *
   * @throws A `ConfigError` if the settings are invalid.
   */
  create(settings: Readonly<Record<string, unknown>>, runtime: Runtime, mesh?: MeshParts): ConnectorKinds[Kind];
  /**
   * Loads the packages that instances import lazily, so that `modelmesh check` reports a missing package.
   *
   * @throws A `ConnectorError` that names the install command.
   */
  loadPackages?(): Promise<unknown>;
}

/** A connector: its declaration, and a factory of instances. */
export interface Connector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds>
  extends ConnectorDeclaration<Kind>, ConnectorImplementation<Kind> {}

/** A connector whose implementation `ready()` imports, and only if a configuration names it. */
export interface LazyConnector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds>
  extends ConnectorDeclaration<Kind> {
  /** Imports the implementation. */
  load(): Promise<ConnectorImplementation<Kind>>;
}

/** A connector, either loaded or lazy. */
export type PluggableConnector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> =
  | Connector<Kind>
  | LazyConnector<Kind>;

/** The settings that a provider's connector receives. */
export interface ProviderSettings extends Readonly<Record<string, unknown>> {
  /** The entry id of the provider. */
  readonly id: string;
  /** Overrides the vendor's base URL. */
  readonly baseUrl?: string;
  /** Whether calls are authorized by the identity of the machine (`auth.method: ambient`). */
  readonly isAmbient?: boolean;
}

/** An issued credential. */
export interface IssuedToken<Value = string> {
  /** The credential; of an access token, the value of `Authorization` after its scheme. */
  readonly value: Value;
  /**
   * Lifetime, ms. Infinity: until the server rejects it.
   * @default Infinity
   */
  readonly lifetimeMs?: number;
  /**
   * How long before callers would wait for the next one it is fetched in the background, ms.
   * @default 0
   */
  readonly aheadMs?: number;
}

/** Fetches an access token. Its errors contain no credential. */
export type TokenGrant = () => Promise<IssuedToken>;

/** How a provider authenticates without a configured credential: as the machine that it is called from. */
export interface AmbientIdentity {
  /**
   * Sets of environment variables. If all variables of one are set, the identity is used by a provider that has no
   * credential; otherwise only if `auth.method` asks for it.
   */
  readonly announcedBy: readonly (readonly string[])[];
  /**
   * Imports the function that creates a source of access tokens for a scope. Omitted by a connector that authenticates
   * its calls itself (`ProviderSettings.isAmbient`).
   */
  readonly load?: () => Promise<(runtime: Runtime, scope: string) => TokenGrant>;
}

/** Environment variables by which a provider is detected. Names are in order of precedence. */
export interface Detection {
  /** Variables that hold the API key. */
  readonly keys: readonly string[];
  /** Variables that hold the base URL; they override the default URL. */
  readonly baseUrl?: readonly string[];
  /** Variables whose presence alone enables a server that needs no key. */
  readonly host?: readonly string[];
  /** Port used if such a host variable has none. */
  readonly port?: number;
  /** Further required variables, by the setting that each one fills. */
  readonly requires?: Readonly<Record<string, readonly string[]>>;
}

/**
 * What a vendor may report when it is asked at startup: context windows, output limits, features and prices of its
 * models (`details`), their capabilities, their prices alone (`pricing`), the account's quota.
 */
export type VendorQuery = "details" | "capabilities" | "pricing" | "quota";

/** What a vendor takes for its prompt cache. */
export interface PromptCacheFacts {
  /** Whether prompts are marked: requests have `CompletionRequest.promptCache`, unless that is switched off. */
  readonly marks?: boolean;
  /** The APIs in which `prompt_cache_key` brings requests to the cache of earlier ones. */
  readonly keyApis?: readonly ChatApi[];
}

/** What is known about a provider's connector. A vendor's facts are data, so that they can be read without a call. */
export interface ProviderDeclaration extends ConnectorDeclaration<"provider"> {
  /** The vendor's short name, which prefixes its model names. */
  readonly vendor: string;
  /** Further short names by which configurations may refer to it, such as that of its models: `claude`. */
  readonly otherNames?: readonly string[];
  /**
   * The vendor's name in telemetry: the value of `gen_ai.provider.name` in OpenTelemetry's semantic conventions.
   * @default `vendor`; the entry's id if `needsBaseUrl` is set
   */
  readonly telemetryName?: string;
  /** Environment variables by which it is detected. */
  readonly detection?: Detection;
  /** The catalogue of known models. */
  readonly models: readonly ModelInfo[];
  /** Parameter rules that apply to all of its models. */
  readonly parameters?: ParameterRules;
  /**
   * Returns the parameter rules of a chat model that the catalogue does not know, in addition to `parameters`.
   *
   * @param model Its id and its configured facts.
   */
  readonly findRules?: (model: ModelInfo) => ParameterRules | undefined;
  /** Whether it is a local server: its models are free, and the server itself lists them. */
  readonly local?: boolean;
  /**
   * The queries that its `describeModels` and `checkQuota` support. A configuration that enables another one causes a
   * warning. When omitted, the support is known only after a query.
   */
  readonly queries?: readonly VendorQuery[];
  /**
   * For a vendor whose responses state their cost (`BilledUsage.cost`): high prices, from which a budget reserves the
   * cost of a request to a model without known prices. Without them, such a model cannot be used under a budget.
   */
  readonly assumedPrices?: DatedPricing;
  /**
   * Completes a row of prices that the catalogue does not contain, such as configured ones, by the vendor's rules.
   *
   * @param model The upstream model id.
   */
  readonly completePrices?: (row: DatedPricing, model: string) => DatedPricing;
  /** Whether audio in a chat is billed by its duration (`per_minute`) instead of by tokens. */
  readonly billsAudioByDuration?: boolean;
  /** The APIs through which it can send a chat request (`Provider.apis`); its own alone when omitted. */
  readonly apis?: readonly ChatApi[];
  /** What it takes for its prompt cache (`prompt_cache`). Omitted if it takes nothing, or caches prompts by itself. */
  readonly promptCache?: PromptCacheFacts;
  /** Whether it has no default URL: `base_url` must be configured. */
  readonly needsBaseUrl?: boolean;
  /** Whether it works without an API key. */
  readonly keyless?: boolean;
  /**
   * Name of the header that carries the API key, in lower case. A configuration cannot set this header.
   * @default {"authorization"}
   */
  readonly credentialHeader?: string;
  /**
   * What its models accept from earlier responses: keys of `extra_content`, and the members `reasoning_details`, `images`
   * and `annotations` of assistant messages.
   * @default the key of its vendor, and all of these members
   */
  readonly ownState?: readonly string[];
  /** The OAuth scope of its access tokens, unless `auth.scope` overrides it. */
  readonly tokenScope?: string;
  /** How it authenticates as the machine; omitted if it cannot. */
  readonly ambient?: AmbientIdentity;
  /**
   * The file, batch and fine-tuning features that it supports. Empty if that depends on the server; omitted if the
   * connector supports none.
   */
  readonly infrastructure?: InfrastructureFacts;
}

/** A provider's connector. */
export interface ProviderConnector extends ProviderDeclaration, ConnectorImplementation<"provider"> {}

/** A provider's connector whose implementation `ready()` imports. */
export interface LazyProviderConnector extends ProviderDeclaration, LazyConnector<"provider"> {}
