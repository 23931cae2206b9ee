/**
 * The connectors that a configuration may name, as declared by the entry points.
 * @module
 */
import type { Attributes, PluggableConnector, ProviderDeclaration, StorageSharing } from "../../contracts/connector.ts";
import type { Environment } from "../../contracts/runtime.ts";
import type { ModelInfo } from "../../contracts/provider.ts";

/** Facts about a catalogue model that validation needs. */
export type KnownModel = Pick<ModelInfo, "id" | "capabilities" | "pricing" | "defaultFor">;

/** Facts about a provider's connector that validation needs; {@linkcode ProviderDeclaration} is assignable. */
export interface KnownProvider extends
  Pick<
    ProviderDeclaration,
    | "id"
    | "vendor"
    | "otherNames"
    | "detection"
    | "needsBaseUrl"
    | "local"
    | "attributes"
    | "infrastructure"
    | "queries"
    | "assumedPrices"
    | "billsAudioByDuration"
    | "apis"
    | "promptCache"
    | "ambient"
    | "credentialHeader"
  > {
  readonly models: readonly KnownModel[];
}

/** Connectors that a configuration may name: ids, and providers with their facts. */
export interface KnownConnectors {
  readonly providers: readonly KnownProvider[];
  readonly strategies: readonly string[];
  readonly secretStores: readonly string[];
  readonly storages: readonly string[];
  readonly observability: readonly string[];
  readonly discovery: readonly string[];
  readonly guards: readonly string[];
  /** Declared attributes of a connector; undefined if it declares none. */
  readonly findAttributes: (kind: PluggableConnector["kind"], id: string) => Attributes | undefined;
  /** The sections of `observability` that a sink supports; undefined for all. */
  readonly findSections: (id: string) => readonly string[] | undefined;
  /** Who sees the records of a storage; undefined if unknown. */
  readonly findSharing: (id: string) => StorageSharing | undefined;
  /** Whether the entries of a storage can expire. */
  readonly hasEntries: (id: string) => boolean;
  /** Whether a sink needs the `storage` section. */
  readonly needsStorage: (id: string) => boolean;
}

/** Dependencies of validation and detection. */
export interface ConfigContext {
  readonly knownConnectors: KnownConnectors;
  /** Providers that can be detected, in order of preference. */
  readonly providers: readonly ProviderDeclaration[];
  readonly env: Environment;
}

/** Groups connectors by kind, in order. */
export function groupConnectors(connectors: readonly PluggableConnector[]): KnownConnectors {
  const listConnectorIds = (kind: PluggableConnector["kind"]) =>
    connectors.flatMap((connector) => connector.kind === kind ? [connector.id] : []);
  return {
    providers: connectors.filter(isProvider),
    strategies: listConnectorIds("strategy"),
    secretStores: listConnectorIds("secretStore"),
    storages: listConnectorIds("storage"),
    observability: listConnectorIds("observability"),
    discovery: listConnectorIds("discovery"),
    guards: listConnectorIds("guard"),
    findAttributes: (kind, id) =>
      connectors.find((connector) => connector.kind === kind && connector.id === id)?.attributes,
    findSections: (id) =>
      connectors.find((connector) => connector.kind === "observability" && connector.id === id)?.sections,
    findSharing: (id) => connectors.find((connector) => connector.kind === "storage" && connector.id === id)?.sharing,
    hasEntries: (id) =>
      connectors.some((connector) => connector.kind === "storage" && connector.id === id && connector.hasEntries),
    needsStorage: (id) =>
      connectors.some((connector) =>
        connector.kind === "observability" && connector.id === id && connector.needsStorage
      ),
  };
}

/**
 * Resolves a strategy's id or short name; undefined if unknown.
 *
 * @param name A name such as `mesh.round-robin.v1`, `round-robin` or `priority`.
 */
export function resolveStrategy(name: string, strategies: readonly string[]): string | undefined {
  const short = name === "priority" ? "priority-selection" : name;
  return strategies.find((id) => id === name) ?? strategies.find((id) => toShortName(id) === short);
}

/**
 * A connector's id without vendor and version.
 *
 * @param id An id such as `mesh.round-robin.v1`.
 */
export function toShortName(id: string): string {
  return id.split(".").slice(1, -1).join(".");
}

/** Narrows a connector to a provider's connector. */
export function isProvider(connector: PluggableConnector): connector is PluggableConnector & ProviderDeclaration {
  return connector.kind === "provider";
}
