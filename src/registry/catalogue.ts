/**
 * Connectors by id: pre-shipped and registered ones alike.
 * @module
 */
import type { Connector, ConnectorKinds, ProviderConnector } from "../contracts/connector.ts";
import { ConfigError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";

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

  /** The providers, in order of detection. */
  get providers(): readonly ProviderConnector[] {
    return [...this.#connectors.values()].filter((one): one is ProviderConnector => one.kind === "provider");
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
    const ids = this.ids(kind);
    const hint = nearest(id, ids, 1)[0];
    throw new ConfigError([{
      path: "",
      message: `no ${kind} connector "${id}"${hint === undefined ? "" : ` (did you mean "${hint}"?)`}; there are ${
        ids.join(", ")
      }`,
    }]);
  }
}
