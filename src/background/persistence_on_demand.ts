/**
 * Keeps states where a configuration says. What opens storages is imported where it has one.
 * @module
 */
import { type StatePersistence, statePersistence } from "../state/persistence/state_store.ts";
import { storeOnDemand } from "../state/persistence/store_on_demand.ts";
import type { ConfiguredMesh } from "./open_store.ts";

/**
 * The keeping that a configuration's section `storage` asks for; without one, states last as long as the process.
 *
 * @param mesh The mesh, which is configured by the time its state is loaded.
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
