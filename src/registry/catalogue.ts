/**
 * Connectors by id: pre-shipped and registered ones alike.
 * @module
 */
import { type ConfigContext, isProvider, knownConnectors } from "../config/settings/known.ts";
import type {
  ConnectorDeclaration,
  ConnectorImplementation,
  ConnectorKinds,
  PluggableConnector,
} from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../errors.ts";

/** All connectors of a mesh. */
export class ConnectorCatalogue {
  /** By kind and id: `mesh.memory.v1` is both a storage and a secret store. */
  readonly #connectors: Map<string, PluggableConnector> = new Map();
  readonly #loaded: Map<PluggableConnector, ConnectorImplementation> = new Map();

  constructor(connectors: Iterable<PluggableConnector>) {
    for (const connector of connectors) this.register(connector.id, connector);
  }

  /** Adds a connector under an id; one of its kind that had it is replaced. */
  register(id: string, connector: PluggableConnector): void {
    const named = connector.id === id ? connector : Object.create(connector, { id: { value: id, enumerable: true } });
    this.#connectors.set(`${connector.kind} ${id}`, named);
  }

  /** In order of registration. */
  get all(): readonly PluggableConnector[] {
    return [...this.#connectors.values()];
  }

  ids(kind: keyof ConnectorKinds): string[] {
    return [...this.#connectors.values()].flatMap((one) => one.kind === kind ? one.id : []);
  }

  /**
   * What is known of a connector.
   *
   * @throws {ConfigError} When there is none; the message lists those that exist.
   */
  get<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): ConnectorDeclaration<Kind> {
    return this.#get(kind, id);
  }

  /**
   * Imports the code of a connector, unless that has been done.
   *
   * @throws {ConfigError} When there is none; the message lists those that exist.
   * @throws {ConnectorError} When its code cannot be imported.
   */
  async load<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): Promise<ConnectorImplementation<Kind>> {
    const connector = this.#get(kind, id);
    const implementation = this.loaded(kind, id) ?? await implementationOf(connector);
    this.#loaded.set(connector, implementation);
    return implementation;
  }

  /**
   * The code of a connector; undefined before {@linkcode ConnectorCatalogue.load} has imported it.
   *
   * @throws {ConfigError} When there is none; the message lists those that exist.
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
 * The code of a connector, imported where that has not been done.
 *
 * @throws {ConnectorError} When its code cannot be imported.
 */
export async function implementationOf<Kind extends keyof ConnectorKinds>(
  connector: PluggableConnector<Kind>,
): Promise<ConnectorImplementation<Kind>> {
  if ("create" in connector) return connector;
  try {
    return await connector.load();
  } catch (error) {
    throw new ConnectorError(`The connector "${connector.id}" cannot be loaded (see the error's cause)`, error);
  }
}

/** What settings are made with: the connectors that can be named and detected, and the environment. */
export function configContextOf(
  { catalogue, runtime }: { readonly catalogue: ConnectorCatalogue; readonly runtime: Pick<Runtime, "env"> },
): ConfigContext {
  const { all } = catalogue;
  return {
    known: knownConnectors(all),
    providers: all.filter(isProvider),
    env: (name) => runtime.env(name),
  };
}
