/**
 * Server connectors with their implementations.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import type { Connector, ProviderConnector } from "../../src/contracts/connector.ts";
import { loadImplementation } from "../../src/registry/catalogue.ts";

/** All connectors, loaded, in order. */
export const loadedConnectors: readonly Connector[] = await Promise.all(
  serverConnectors.map(async (connector) => ({ ...connector, ...await loadImplementation(connector) })),
);

/** The provider connectors. */
export const loadedProviders: readonly ProviderConnector[] = loadedConnectors.filter((
  connector,
): connector is ProviderConnector => connector.kind === "provider");
