/**
 * Connectors by id, built-in and registered ones.
 * @module
 */
import { type ConfigContext, groupConnectors, isProvider } from "../config/settings/known.ts";
import type {
  ConnectorDeclaration,
  ConnectorImplementation,
  ConnectorKinds,
  PluggableConnector,
  ProviderDeclaration,
} from "../contracts/connector.ts";
import type { ModelInfo } from "../contracts/provider.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../errors.ts";

/** Built-in models of the providers whose models have been replaced. */
const builtInModels = new WeakMap<object, readonly ModelInfo[]>();

/** Returns the models of a provider's own declaration, which {@linkcode ConnectorCatalogue.renew} may have replaced. */
export function findBuiltInModels(provider: ProviderDeclaration): readonly ModelInfo[] {
  return builtInModels.get(provider) ?? provider.models;
}

/** The connectors of a mesh. */
export class ConnectorCatalogue {
  /** By kind and id, since `mesh.memory.v1` is both a storage and a secret store. */
  readonly #connectors: Map<string, PluggableConnector> = new Map();
  readonly #loaded: Map<PluggableConnector, ConnectorImplementation> = new Map();

  constructor(connectors: Iterable<PluggableConnector>) {
    for (const connector of connectors) this.register(connector.id, connector);
  }

  /** Registers a connector under an id. Replaces the one of its kind that has this id. */
  register(id: string, connector: PluggableConnector): void {
    const named = connector.id === id ? connector : Object.create(connector, { id: { value: id, enumerable: true } });
    this.#connectors.set(`${connector.kind} ${id}`, named);
  }

  /** Replaces the models of a provider. A connector that was loaded stays so. */
  renew(provider: PluggableConnector & ProviderDeclaration, models: readonly ModelInfo[]): void {
    const loaded = this.loaded("provider", provider.id);
    const renewed = Object.create(provider, { models: { value: models, enumerable: true } });
    builtInModels.set(renewed, findBuiltInModels(provider));
    this.register(provider.id, renewed);
    if (loaded !== undefined) this.#loaded.set(renewed, loaded);
  }

  /** Connectors in order of registration. */
  get all(): readonly PluggableConnector[] {
    return [...this.#connectors.values()];
  }

  ids(kind: keyof ConnectorKinds): string[] {
    return [...this.#connectors.values()].flatMap((connector) => connector.kind === kind ? connector.id : []);
  }

  /**
   * Returns the declaration of a connector.
   *
   * @throws {ConfigError} When there is none; the message lists the existing ones.
   */
  get<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): ConnectorDeclaration<Kind> {
    return this.#get(kind, id);
  }

  /**
   * Imports the implementation of a connector, once.
   *
   * @throws {ConfigError} When there is none; the message lists the existing ones.
   * @throws {ConnectorError} When the import fails.
   */
  async load<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): Promise<ConnectorImplementation<Kind>> {
    const connector = this.#get(kind, id);
    const implementation = this.loaded(kind, id) ?? await loadImplementation(connector);
    this.#loaded.set(connector, implementation);
    return implementation;
  }

  /**
   * Returns the implementation of a connector; undefined before {@linkcode ConnectorCatalogue.load} has imported it.
   *
   * @throws {ConfigError} When there is none; the message lists the existing ones.
   */
  loaded<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): ConnectorImplementation<Kind> | undefined {
    const connector = this.#get(kind, id);
    return "create" in connector ? connector : this.#loaded.get(connector) as ConnectorImplementation<Kind> | undefined;
  }

  #get<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): PluggableConnector<Kind> {
    const found = this.#connectors.get(`${kind} ${id}`);
    if (found !== undefined) return found as PluggableConnector<Kind>;
    throw new ConfigError([{
      path: "",
      message: `no ${kind} connector "${id}"; there are ${this.ids(kind).join(", ")}`,
    }]);
  }
}

/**
 * Returns the implementation of a connector, imported if necessary.
 *
 * @throws {ConnectorError} When the import fails.
 */
export async function loadImplementation<Kind extends keyof ConnectorKinds>(
  connector: PluggableConnector<Kind>,
): Promise<ConnectorImplementation<Kind>> {
  if ("create" in connector) return connector;
  try {
    return await connector.load();
  } catch (error) {
    if (ConnectorError.isInstance(error)) throw error; // it names the package that is missing
    throw new ConnectorError(`The connector "${connector.id}" cannot be loaded (see the error's cause)`, error);
  }
}

/** Returns the context in which a configuration is read: connectors and environment. */
export function createConfigContext(
  { catalogue, runtime }: { readonly catalogue: ConnectorCatalogue; readonly runtime: Pick<Runtime, "env"> },
): ConfigContext {
  const { all } = catalogue;
  return {
    knownConnectors: groupConnectors(all),
    providers: all.filter(isProvider),
    env: runtime.env,
  };
}
