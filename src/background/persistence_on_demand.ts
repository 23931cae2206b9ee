/**
 * Keeps states where a configuration says that may be read at the start: what opens storages is imported then.
 * @module
 */
import { type StatePersistence, statePersistence, type StateStore } from "../state/persistence/state_store.ts";
import type { ConfiguredMesh } from "./configured_store.ts";

/**
 * The keeping that a configuration's section `storage` asks for.
 *
 * @param mesh The mesh, which is configured by the time its state is loaded.
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
