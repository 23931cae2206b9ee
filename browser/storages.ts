/**
 * Storages and secret stores for pages.
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
export type { IndexedDbOptions, LocalStorageOptions };
export { stateIn, type StateInOptions, type StatePersistence } from "../src/state/state_persistence.ts";

/**
 * Creates a storage in the page's `localStorage`. Standbys, spent budgets and rate limit counters persist across
 * reloads. For small sites; {@linkcode indexedDbStorage} has exact locks and a larger quota.
 *
 * @param options Prefix of the item keys.
 *
 * @example
 * ```ts
 * import { create, localStorageStorage, ollama, stateIn } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", { providers: [ollama()], storage: stateIn(localStorageStorage()) });
 * ```
 */
export function localStorageStorage(options?: LocalStorageOptions): Storage {
  return new LocalStorageStorage(browserRuntime().clock, options);
}

/**
 * Creates a storage in the page's IndexedDB. Standbys, spent budgets and rate limit counters persist across reloads.
 *
 * @param options Name of the database.
 *
 * @example
 * ```ts
 * import { create, indexedDbStorage, ollama, stateIn } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", { providers: [ollama()], storage: stateIn(indexedDbStorage()) });
 * ```
 */
export function indexedDbStorage(options?: IndexedDbOptions): Storage {
  return new IndexedDbStorage(browserRuntime().clock, options);
}

/**
 * Creates an in-memory storage, for tests and for several clients in one page.
 *
 * @example
 * ```ts
 * import { create, memoryStorage, ollama, stateIn } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", { providers: [ollama()], storage: stateIn(memoryStorage()) });
 * ```
 */
export function memoryStorage(): Storage {
  return new MemoryStorage(browserRuntime().clock);
}
