/**
 * The same client in a browser, where there is no environment: a page gives the providers it uses. What it does not use
 * is left out by its bundler.
 *
 * @example
 * ```ts
 * import { BrowserBaseProvider, create, createBrowserProviderConfig } from "@modelmesh/core/browser";
 *
 * // through a ModelMesh proxy, which keeps the keys
 * const proxy = new BrowserBaseProvider(
 *   createBrowserProviderConfig({ proxyUrl: "http://127.0.0.1:8080", models: ["chat-completion"] }),
 * );
 * const client = create("chat-completion", { providers: [proxy] });
 * console.log(client.describe().pools[0]?.name); // chat-completion
 * ```
 * @module
 */
import { browserConnectors, browserStrategies } from "./connectors/browser.ts";
import { type IndexedDbOptions, IndexedDbStorage } from "./connectors/storage/indexeddb.ts";
import { type LocalStorageOptions, LocalStorageStorage } from "./connectors/storage/localstorage.ts";
import { MemoryStorage } from "./connectors/storage/memory.ts";
import type { BrowserCreateOptions } from "./src/client/browser_options.ts";
import type { Storage } from "./src/contracts/storage.ts";
import type { MeshClient } from "./src/client/client.ts";
import { type BrowserCreateParts, createBrowserClient } from "./src/client/create_browser.ts";
import type { MockOptions } from "./src/client/_mock_script.ts";
import { createBrowserMockClient } from "./src/client/mock_browser.ts";
import { knownConnectors } from "./src/config/known.ts";
import { checkDocument, MeshConfigBase } from "./src/config/mesh_config.ts";
import { browserRuntime, sendWith } from "./src/runtime/browser.ts";

/** Made when it is used: importing the package does nothing. */
const partsOfHere = (): BrowserCreateParts => ({ runtime: browserRuntime(), sendWith, strategies: browserStrategies });

/**
 * Makes a client for a capability.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options The providers, keys, strategy.
 * @throws {NoProvidersError} When no provider is given.
 * @throws {ConfigError} When the capability is unknown, a key is missing, or an option does not hold.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", {
 *   providers: [openai, anthropic],
 *   apiKeys: { openai: keyOfThisUser, anthropic: otherKeyOfThisUser },
 *   strategy: "round-robin",
 * });
 * ```
 */
export function create(capability: string, options: BrowserCreateOptions): MeshClient;
/**
 * Makes a client of providers, with a pool for each capability of theirs, or of a configuration.
 *
 * @param options The providers, or a configuration.
 * @throws {NoProvidersError} When no provider is given.
 * @throws {ConfigError} When a key is missing, or an option does not hold.
 *
 * @example
 * ```ts ignore
 * const client = create({ config: MeshConfig.parse(document), apiKeys: { OPENAI_API_KEY: keyOfThisUser } });
 * ```
 */
export function create(options: BrowserCreateOptions): MeshClient;
export function create(first: string | BrowserCreateOptions, second?: BrowserCreateOptions): MeshClient {
  return createBrowserClient(partsOfHere(), first, second);
}

/**
 * Makes a client without network, for the tests of pages that use one.
 *
 * @param options The answers, taken in order; the last one repeats.
 *
 * @example
 * ```ts
 * import { mockClient } from "@modelmesh/core/browser";
 *
 * const client = mockClient({ responses: ["Hello"] });
 * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
 * console.log(answer.choices[0]?.message.content); // Hello
 * ```
 */
export function mockClient(options: MockOptions): MeshClient {
  return createBrowserMockClient(partsOfHere(), options);
}

/**
 * State in the page's `localStorage`: what rests before a reload rests after it. For small sites;
 * {@linkcode indexedDbStorage} has exact locks and more room.
 *
 * @param options Prefix of its items.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: [openai], apiKeys, storage: stateIn(localStorageStorage()) });
 * ```
 */
export function localStorageStorage(options?: LocalStorageOptions): Storage {
  return new LocalStorageStorage(browserRuntime().clock, options);
}

/**
 * State in the page's IndexedDB: what rests before a reload rests after it.
 *
 * @param options The database's name.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: [openai], apiKeys, storage: stateIn(indexedDbStorage()) });
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
 * const client = create("chat-completion", { providers: [openai], apiKeys, storage });
 * ```
 */
export function memoryStorage(): Storage {
  return new MemoryStorage(browserRuntime().clock);
}

/**
 * A configuration as a value: parsed, checked whole, and written again. There are no files in a browser.
 *
 * @example
 * ```ts ignore
 * const config = MeshConfig.parse(await (await fetch("/modelmesh.json")).json());
 * const client = create({ config, apiKeys: { OPENAI_API_KEY: keyOfThisUser } });
 * ```
 */
export class MeshConfig extends MeshConfigBase {
  /**
   * Checks a document.
   *
   * @param document A configuration as an object.
   * @throws {ConfigError} With everything that is wrong.
   */
  static parse(document: unknown): MeshConfig {
    const known = knownConnectors(browserConnectors);
    return new MeshConfig({ ...checkDocument(document, { known }), connectors: browserConnectors });
  }
}

export { stateIn } from "./src/background/state_sync.ts";
export type { StateKeeping } from "./src/background/state_keeper.ts";
export * from "./src/exports.ts";
export { anthropic, gemini, groq, mistral, ollama, openai, openrouter } from "./connectors/browser.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
export type { FaultReader } from "./connectors/providers/_http.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type { OpenAiCompatible } from "./connectors/providers/_openai_compatible.ts";
export { BrowserBaseProvider } from "./connectors/providers/browser_base.ts";
export { browserSecrets, type BrowserSecretsOptions } from "./connectors/secrets/browser.ts";
export { memorySecrets, type WritableSecretStore } from "./connectors/secrets/memory.ts";
export type { IndexedDbOptions } from "./connectors/storage/indexeddb.ts";
export type { LocalStorageOptions, WebStorage } from "./connectors/storage/localstorage.ts";
export type { BrowserCreateOptions } from "./src/client/browser_options.ts";
export type { MockOptions, MockResponse } from "./src/client/_mock_script.ts";
export { createBrowserProviderConfig } from "./src/config/browser_provider.ts";
export { MeshConfigBase } from "./src/config/mesh_config.ts";
