/**
 * Persistence that is imported if the configuration requires it.
 * @module
 */
import { type StatePersistence, statePersistence, storeOnDemand } from "../state/state_persistence.ts";
import type { ConfiguredMesh } from "./configured_store.ts";

/**
 * Returns the persistence for the section `storage`. Without it, states exist as long as the process.
 *
 * @param mesh The mesh, which must be configured before its state is loaded.
 */
export function persistenceOnDemand(mesh: () => ConfiguredMesh): StatePersistence {
  return statePersistence(() =>
    storeOnDemand(async () => {
      if (mesh().settings.storage === undefined) return undefined;
      const { ConfiguredStore } = await import("./configured_store.ts");
      return new ConfiguredStore(mesh);
    })
  );
}
