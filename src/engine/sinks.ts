/**
 * Creates the sinks that settings name.
 * @module
 */
import type { RenewedMesh } from "../background/key_renewal.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Storage } from "../contracts/storage.ts";
import type { ConfiguredSink } from "../observe/output.ts";
import type { Statistics } from "../observe/statistics.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";
import { version } from "../version.ts";

/** Dependencies of sinks. */
export interface SinkOwner extends RenewedMesh {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  readonly statistics: Pick<Statistics, "instanceId">;
  warn(messages: readonly string[]): void;
  /** The storage of the state, once it is open. */
  readonly storage: Storage | undefined;
}

/**
 * Creates the sinks that settings name, and the sink that renews API keys. Keys are renewed on servers, and in pages
 * whose configuration names a secret store.
 *
 * @param settings Settings.
 * @param owner Dependencies.
 * @throws {ConnectorError} When a sink's code cannot be imported.
 */
export async function createSinks(settings: Settings, owner: SinkOwner): Promise<ConfiguredSink[]> {
  const sinks = settings.observability.length === 0
    ? []
    : await (await import("../registry/sinks.ts")).loadSinks(settings, {
      catalogue: owner.catalogue,
      runtime: owner.runtime,
      mesh: {
        storage: () => owner.storage,
        version,
        instanceId: owner.statistics.instanceId,
        warn: (message) => owner.warn([message]),
      },
    });
  if (!settings.secrets?.reloadOnRotation) return sinks;
  const { KeyRenewal } = await import("../background/key_renewal.ts");
  return [...sinks, { id: "mesh", sink: new KeyRenewal(owner), routing: { includeMetadata: true } }];
}
