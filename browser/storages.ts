/**
 * Where a page keeps its state, and keys.
 * @module
 */
import { type IndexedDbOptions, IndexedDbStorage } from "../connectors/storage/indexeddb.ts";
import { type LocalStorageOptions, LocalStorageStorage } from "../connectors/storage/localstorage.ts";
import { MemoryStorage } from "../connectors/storage/memory.ts";
import type { Storage } from "../src/contracts/storage.ts";
import { browserRuntime } from "../src/runtime/browser.ts";

export { browserSecrets, type BrowserSecretsOptions } from "../connectors/secrets/browser.ts";
export { memorySecrets, type WritableSecretStore } from "../connectors/secrets/memory.ts";
export type { WebStorage } from "../connectors/storage/localstorage.ts";
export type { StatePersistence } from "../src/state/persistence/state_store.ts";
export type { IndexedDbOptions, LocalStorageOptions };
export { stateIn, type StateInOptions } from "../src/state/persistence/state_in.ts";

/**
 * State in the page's `localStorage`: standbys, spent budgets and counts of limits outlive a reload. For small sites;
 * {@linkcode indexedDbStorage} has exact locks and more room.
 *
 * @param options Prefix of its items.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers, storage: stateIn(localStorageStorage()) });
 * ```
 */
export function localStorageStorage(options?: LocalStorageOptions): Storage {
  return new LocalStorageStorage(browserRuntime().clock, options);
}

/**
 * State in the page's IndexedDB: standbys, spent budgets and counts of limits outlive a reload.
 *
 * @param options The database's name.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers, storage: stateIn(indexedDbStorage()) });
 * ```
 */
export function indexedDbStorage(options?: IndexedDbOptions): Storage {
  return new IndexedDbStorage(browserRuntime().clock, options);
}

/**
 * State in memory, for several clients of one page and for tests.
 *
 * @example
 * ```ts ignore
 * const storage = stateIn(memoryStorage());
 * const client = create("chat-completion", { providers, storage });
 * ```
 */
export function memoryStorage(): Storage {
  return new MemoryStorage(browserRuntime().clock);
}
