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

/** A connector, as names refer to it. */
export type NamedConnector =
  & Pick<PluggableConnector, "id">
  & Partial<Pick<ProviderDeclaration, "vendor" | "otherNames" | "detection">>;

type ListNames = (connector: NamedConnector) => readonly (string | undefined)[];

/** How a provider's connector may be named besides its id, best first. */
const providerNames: readonly ListNames[] = [
  ({ vendor }) => [vendor],
  ({ otherNames = [] }) => otherNames,
  ({ detection }) => detection?.keys.map((key) => /^(.+)_API_KEY$/.exec(key)?.[1]?.toLowerCase()) ?? [],
];

/** How another connector may be named besides its id, best first. */
const otherNames: readonly ListNames[] = [
  ({ id }) => [toShortName(id)],
  ({ id }) => [toShortName(id).split(".").at(-1)],
  ({ id }) => [id.slice(0, id.indexOf("."))],
];

/**
 * Finds the connectors that a name means: the one with this id. Else, providers with this vendor or another name, or
 * whose variable is `<NAME>_API_KEY`; and of other kinds those whose id without vendor and version is the name or ends
 * in it, or whose id begins with it.
 *
 * @param name A name such as `openai.llm.v1`, `openai`, `gemini`, `redis` or `s3`.
 * @param connectors Connectors of one kind.
 * @returns The ids; several if the name is ambiguous.
 */
export function findConnectors(name: string, connectors: readonly NamedConnector[]): string[] {
  if (connectors.some(({ id }) => id === name)) return [name];
  const isProviders = connectors.some(({ vendor }) => vendor !== undefined);
  for (const listNames of isProviders ? providerNames : otherNames) {
    const meant = connectors.filter((connector) => listNames(connector).includes(name));
    if (meant.length > 0) return meant.map(({ id }) => id);
  }
  return [];
}

/** The names of providers to suggest for a misspelt one: ids, or the short names. */
export function listProviderNames(misspelt: string, connectors: readonly NamedConnector[]): string[] {
  if (misspelt.includes(".")) return connectors.map(({ id }) => id);
  const names = providerNames.flatMap((listNames) => connectors.flatMap(listNames));
  return [...new Set(names)].filter((name) => name !== undefined);
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
