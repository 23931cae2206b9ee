/**
 * The sinks that settings ask for.
 * @module
 */
import type { RenewedMesh } from "../background/key_renewal.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Storage } from "../contracts/storage.ts";
import type { ConfiguredSink } from "../observe/output.ts";
import type { ConnectorCatalogue } from "../registry/catalogue.ts";

/** Whose sinks they are. */
export interface SinkOwner extends RenewedMesh {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
  /** Where its state is kept, once that is open. */
  readonly storage: Storage | undefined;
}

/**
 * Makes the sinks that are named, and what renews keys: on servers, and in pages whose documents name a secret store.
 *
 * @param settings Names them.
 * @param owner Whose sinks they are.
 * @throws {ConnectorError} When code cannot be imported.
 */
export async function sinksOf(settings: Settings, owner: SinkOwner): Promise<ConfiguredSink[]> {
  const sinks = settings.observability.length === 0
    ? []
    : await (await import("../registry/sinks.ts")).loadSinks(settings, {
      catalogue: owner.catalogue,
      runtime: owner.runtime,
      mesh: { storage: () => owner.storage },
    });
  if (!settings.secrets?.reloadOnRotation) return sinks;
  const { KeyRenewal } = await import("../background/key_renewal.ts");
  return [...sinks, { id: "mesh", sink: new KeyRenewal(owner), routing: { includeMetadata: true } }];
}
