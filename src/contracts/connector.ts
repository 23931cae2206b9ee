/**
 * What can be plugged in, and how it is described.
 * @module
 */
import type { Discovery } from "./discovery.ts";
import type { InfrastructureFacts } from "./infrastructure.ts";
import type { Observability } from "./observability.ts";
import type { ModelInfo, ParameterRules, Provider } from "./provider.ts";
import type { SelectionStrategy } from "./rotation.ts";
import type { Runtime } from "./runtime.ts";
import type { SecretStore } from "./secret_store.ts";
import type { Storage } from "./storage.ts";

/** `<vendor>.<kind>.v1`. */
export type ConnectorId = string;

/** The kinds of connectors and what each one makes. */
export interface ConnectorKinds {
  /** A vendor of models. */
  provider: Provider;
  /** A way to choose among candidates. */
  strategy: SelectionStrategy;
  /** A place secrets come from. */
  secretStore: SecretStore;
  /** A place that state outlives a process in. */
  storage: Storage;
  /** A place records go to. */
  observability: Observability;
  /** Keeps the list of models up to date, or watches over providers. */
  discovery: Discovery;
}

/**
 * What an attribute takes. A duration is written with its unit and given to the connector in ms, a size in bytes; a URL
 * is http or https.
 */
export type AttributeType = "text" | "flag" | "integer" | "object" | "duration" | "size" | "url";

/** An attribute that a connector reads from its settings. */
export interface Attribute {
  /** The type; a list for one of several. A secret reference may replace a string. */
  readonly type: AttributeType | readonly AttributeType[];
  /** The only strings it takes. */
  readonly values?: readonly string[];
  /** Least integer, ms or bytes. */
  readonly min?: number;
  /** Whether it has to be given. */
  readonly isRequired?: boolean;
  /** The default. */
  readonly default?: string | number | boolean;
  /** What it is for. */
  readonly about: string;
}

/** Attributes by name. */
export type Attributes = Readonly<Record<string, Attribute>>;

/** What is known of a connector before it is used. */
export interface ConnectorDeclaration<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> {
  /** Its name in configuration. */
  readonly id: ConnectorId;
  /** What it makes. */
  readonly kind: Kind;
  /**
   * The attributes it reads: of `secrets`, `storage`, an entry of `observability`, or the `config` of a provider's
   * entry. All others are refused, with the nearest name. Without a declaration everything is passed through.
   */
  readonly attributes?: Attributes;
  /**
   * The sections of `observability` that a sink has an effect in; it is refused in others.
   * @default all
   */
  readonly sections?: readonly ("routing" | "logging" | "statistics" | "tracing")[];
  /** Whether it writes to the storage of the mesh, so that a configuration with it needs a section `storage`. */
  readonly needsStorage?: boolean;
}

/** What a mesh gives its sinks. */
export interface MeshParts {
  /** The storage of its section `storage`, once it is open. */
  storage(): Storage | undefined;
}

/** What makes the instances of a connector. */
export interface ConnectorImplementation<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> {
  /** Makes an instance; only sinks are given parts of the mesh. Throws a `ConfigError` when the settings do not fit. */
  create(settings: Readonly<Record<string, unknown>>, runtime: Runtime, mesh?: MeshParts): ConnectorKinds[Kind];
  /**
   * Loads the packages that its instances import lazily, where there are any, so that `modelmesh check` reports one
   * that is missing. Throws a `ConnectorError` that says how to install it.
   */
  loadPackages?(): Promise<unknown>;
}

/** Something that can be plugged in: an id, a kind and a factory. */
export interface Connector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds>
  extends ConnectorDeclaration<Kind>, ConnectorImplementation<Kind> {}

/** A connector whose code is imported by `ready()`, and only where a configuration names it. */
export interface LazyConnector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds>
  extends ConnectorDeclaration<Kind> {
  /** Imports its implementation. */
  load(): Promise<ConnectorImplementation<Kind>>;
}

/** A connector, loaded or yet to be loaded. */
export type PluggableConnector<Kind extends keyof ConnectorKinds = keyof ConnectorKinds> =
  | Connector<Kind>
  | LazyConnector<Kind>;

/** What a provider's connector is given. */
export interface ProviderSettings extends Readonly<Record<string, unknown>> {
  /** The entry's id. */
  readonly id: string;
  /** Replaces the vendor's own address. */
  readonly baseUrl?: string;
}

/** How a provider is found in the environment. Names in order of precedence. */
export interface Detection {
  /** Variables that hold the key. */
  readonly keys: readonly string[];
  /** Variables that hold the address; always beat the default one. */
  readonly baseUrl?: readonly string[];
  /** Variables whose presence alone makes a server without a key count as there. */
  readonly host?: readonly string[];
  /** Port of such a host that names none. */
  readonly port?: number;
  /** Further variables that must be set, by the setting each one fills. */
  readonly requires?: Readonly<Record<string, readonly string[]>>;
}

/** What is known of a provider's connector: the vendor's facts are data, so that they can be read without a call. */
export interface ProviderDeclaration extends ConnectorDeclaration<"provider"> {
  /** Short vendor name, the prefix of its models' names. */
  readonly vendor: string;
  /** How it is found in the environment. */
  readonly detection?: Detection;
  /** Known models. */
  readonly models: readonly ModelInfo[];
  /** Rewording that all its models need. */
  readonly parameters?: ParameterRules;
  /** Its models are free and listed by the server itself (a server on one's own machine). */
  readonly local?: boolean;
  /** No address of its own: `base_url` has to be configured. */
  readonly needsBaseUrl?: boolean;
  /** Works without a key. */
  readonly keyless?: boolean;
  /** Names in `extra_content` of state that its models accept from earlier responses. @default its vendor alone */
  readonly ownState?: readonly string[];
  /** What its tokens are asked for, unless `auth.scope` says otherwise. */
  readonly tokenScope?: string;
  /**
   * What of files, batches and fine-tuning it has, empty where that depends on the server; left out where its connector
   * cannot ask for any.
   */
  readonly infrastructure?: InfrastructureFacts;
}

/** A provider's connector. */
export interface ProviderConnector extends ProviderDeclaration, ConnectorImplementation<"provider"> {}

/** A provider's connector whose code is imported by `ready()`. */
export interface LazyProviderConnector extends ProviderDeclaration, LazyConnector<"provider"> {}
