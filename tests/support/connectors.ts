/**
 * The connectors of servers with their code, for tests of it.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import type { Connector, ProviderConnector } from "../../src/contracts/connector.ts";
import { implementationOf } from "../../src/registry/catalogue.ts";

/** All of them, loaded, in order. */
export const loadedConnectors: readonly Connector[] = await Promise.all(
  serverConnectors.map(async (connector) => ({ ...connector, ...await implementationOf(connector) })),
);

/** Those of providers. */
export const loadedProviders: readonly ProviderConnector[] = loadedConnectors.filter((one): one is ProviderConnector =>
  one.kind === "provider"
);
