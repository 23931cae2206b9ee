/**
 * Creates sinks by the connectors that settings name.
 * @module
 */
import type { SinkSettings } from "../config/settings/observability.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { MeshParts } from "../contracts/connector.ts";
import type { Observability } from "../contracts/observability.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { ConfiguredSink } from "../observe/output.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";

/**
 * Creates the sinks that settings name. Entries with the same connector and attributes share one.
 *
 * @throws {ConnectorError} When an import fails.
 */
export async function loadSinks(
  { observability }: Pick<Settings, "observability">,
  { catalogue, runtime, mesh }: {
    readonly catalogue: ConnectorCatalogue;
    readonly runtime: Runtime;
    readonly mesh: MeshParts;
  },
): Promise<ConfiguredSink[]> {
  const created = new Map<string, Promise<Observability>>();
  const createSink = ({ connector, config }: SinkSettings) => {
    const key = JSON.stringify([connector, config]);
    const sink = created.get(key) ??
      catalogue.load("observability", connector).then(({ create }) => create(config, runtime, mesh));
    created.set(key, sink);
    return sink;
  };
  return await Promise.all(observability.map(async (settings) => {
    const { connector: id, config: _, ...takes } = settings;
    return { id, sink: await createSink(settings), ...takes };
  }));
}
