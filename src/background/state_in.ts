/**
 * Where states are kept on a server.
 * @module
 */
import type { Storage } from "../contracts/storage.ts";
import { defaultStorage } from "../config/defaults.ts";
import { CodedStorage } from "../storage/coded_storage.ts";
import type { StateKeeping } from "./state_keeper.ts";
import { StateStore } from "./state_store.ts";

/**
 * Keeps states in a storage, spent budgets and counts of limits included: read at the start, written at every change of
 * a state and at the end.
 *
 * @param storage Where; what `openStorage` gives keeps the format and the key of its section.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { storage: stateIn(await openStorage({ path: "state.json" })) });
 * ```
 */
export function stateIn(storage: Storage): StateKeeping {
  const coded = storage instanceof CodedStorage
    ? storage
    : new CodedStorage(storage, { format: defaultStorage.format, isCompressed: false });
  return { keeperOf: (parts) => new StateStore({ ...parts, storage: coded, settings: defaultStorage }) };
}
