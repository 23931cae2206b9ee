/**
 * Persistence for configurations that are read at the start. The code that opens storages is imported then.
 * @module
 */
import { type StatePersistence, statePersistence, type StateStore } from "../state/persistence/state_store.ts";
import type { ConfiguredMesh } from "./configured_store.ts";

/**
 * Returns the persistence that the configuration's `storage` section defines.
 *
 * @param mesh Returns the mesh, which is configured before its state is loaded.
 */
export function persistenceOnDemand(mesh: () => ConfiguredMesh): StatePersistence {
  return statePersistence(() => {
    let store: StateStore | undefined;
    return {
      get storage() {
        return store?.storage;
      },
      async load(state) {
        const { ConfiguredStore } = await import("./configured_store.ts");
        await (store ??= new ConfiguredStore(mesh)).load(state);
      },
      mark: () => store?.mark(),
      close: async () => await store?.close(),
    };
  });
}
