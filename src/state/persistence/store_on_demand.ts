/**
 * A store that is opened on demand.
 * @module
 */
import type { StateStore } from "./state_store.ts";

/**
 * Creates a store that is opened with the first load.
 *
 * @param open Opens it; undefined while there is none.
 */
export function storeOnDemand(open: () => Promise<StateStore | undefined>): StateStore {
  let store: StateStore | undefined;
  return {
    get storage() {
      return store?.storage;
    },
    load: async (state) => await (store ??= await open())?.load(state),
    mark: () => store?.mark(),
    close: async () => await store?.close(),
  };
}
