/**
 * Connectors by id: pre-shipped and registered ones alike.
 * @module
 */
import { knownConnectors, type Surroundings } from "../config/known.ts";
import type { Connector, ConnectorKinds, ProviderConnector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";

/** All connectors of a mesh. */
export class ConnectorCatalogue {
  /** By kind and id: `mesh.memory.v1` is both a storage and a secret store. */
  readonly #connectors: Map<string, Connector> = new Map();

  /** @param connectors Those it begins with, in order. */
  constructor(connectors: Iterable<Connector>) {
    for (const connector of connectors) this.register(connector.id, connector);
  }

  /** Adds a connector under an id; one of its kind that had it is replaced. */
  register(id: string, connector: Connector): void {
    const named = connector.id === id ? connector : Object.create(connector, { id: { value: id, enumerable: true } });
    this.#connectors.set(`${connector.kind} ${id}`, named);
  }

  /** All of them, in order. */
  get all(): readonly Connector[] {
    return [...this.#connectors.values()];
  }

  /** The ids of a kind, in order. */
  ids(kind: keyof ConnectorKinds): string[] {
    return [...this.#connectors.values()].flatMap((one) => one.kind === kind ? one.id : []);
  }

  /**
   * A connector of a kind.
   *
   * @throws {ConfigError} When there is none; the message lists those that exist.
   */
  get<Kind extends keyof ConnectorKinds>(kind: Kind, id: string): Connector<Kind> {
    const found = this.#connectors.get(`${kind} ${id}`);
    if (found !== undefined) return found as Connector<Kind>;
    throw new ConfigError([{
      path: "",
      message: `no ${kind} connector "${id}"; there are ${this.ids(kind).join(", ")}`,
    }]);
  }
}

/**
 * What settings are made with: the connectors that can be named and detected, and the environment.
 *
 * @param mesh Whose connectors and runtime they are.
 */
export function surroundingsOf(
  { catalogue, runtime }: { readonly catalogue: ConnectorCatalogue; readonly runtime: Pick<Runtime, "env"> },
): Surroundings {
  const { all } = catalogue;
  return {
    known: knownConnectors(all),
    providers: all.filter((one): one is ProviderConnector => one.kind === "provider"),
    env: (name) => runtime.env(name),
  };
}
