/**
 * The connectors that a configuration may name, as the shells declare them.
 * @module
 */
import type { Attributes, PluggableConnector, ProviderDeclaration } from "../../contracts/connector.ts";
import type { ModelInfo } from "../../contracts/provider.ts";

/** What has to be known of a model of the catalogue. */
export type KnownModel = Pick<ModelInfo, "id" | "capabilities" | "pricing" | "defaultFor">;

/** What has to be known of a provider's connector; a {@linkcode ProviderDeclaration} is one as it stands. */
export interface KnownProvider
  extends Pick<ProviderDeclaration, "id" | "vendor" | "needsBaseUrl" | "local" | "attributes"> {
  /** Models of the catalogue. */
  readonly models: readonly KnownModel[];
}

/** The connectors a configuration may name. */
export interface KnownConnectors {
  /** Of providers. */
  readonly providers: readonly KnownProvider[];
  /** Ids of strategies. */
  readonly strategies: readonly string[];
  /** Ids of secret stores. */
  readonly secretStores: readonly string[];
  /** Ids of storages. */
  readonly storages: readonly string[];
  /** Ids of sinks. */
  readonly observability: readonly string[];
  /** What a connector of a kind declares that it reads; undefined where it declares nothing. */
  readonly attributesOf?: (kind: PluggableConnector["kind"], id: string) => Attributes | undefined;
}

/** What settings are made with. */
export interface ConfigContext {
  /** The connectors a document may name. */
  readonly known: KnownConnectors;
  /** Those that can be detected, in order. */
  readonly providers: readonly ProviderDeclaration[];
  /** The environment. */
  readonly env: (name: string) => string | undefined;
}

/**
 * Sorts connectors by kind.
 *
 * @param connectors All of a shell's, in order.
 */
export function knownConnectors(connectors: readonly PluggableConnector[]): KnownConnectors {
  const idsOf = (kind: PluggableConnector["kind"]) => connectors.flatMap((one) => one.kind === kind ? [one.id] : []);
  return {
    providers: connectors.filter(isProvider),
    strategies: idsOf("strategy"),
    secretStores: idsOf("secretStore"),
    storages: idsOf("storage"),
    observability: idsOf("observability"),
    attributesOf: (kind, id) => connectors.find((one) => one.kind === kind && one.id === id)?.attributes,
  };
}

/**
 * The id of a strategy by its id or short name.
 *
 * @param name Such as `mesh.round-robin.v1`, `round-robin` or `priority`.
 * @param strategies Ids of those there are.
 */
export function resolveStrategy(name: string, strategies: readonly string[]): string | undefined {
  const short = name === "priority" ? "priority-selection" : name;
  return strategies.find((id) => id === name) ?? strategies.find((id) => shortNameOf(id) === short);
}

/**
 * A connector's id without vendor and version.
 *
 * @param id Such as `mesh.round-robin.v1`.
 */
export function shortNameOf(id: string): string {
  return id.split(".").slice(1, -1).join(".");
}

/**
 * Whether a connector is a provider's.
 *
 * @param connector Any.
 */
export function isProvider(connector: PluggableConnector): connector is PluggableConnector & ProviderDeclaration {
  return connector.kind === "provider";
}
