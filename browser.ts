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
import { browserConnectors, ollamaConnector, stickUntilFailure } from "./connectors/browser.ts";
import { providerOf } from "./connectors/providers/_instance.ts";
import { type IndexedDbOptions, IndexedDbStorage } from "./connectors/storage/indexeddb.ts";
import { type LocalStorageOptions, LocalStorageStorage } from "./connectors/storage/localstorage.ts";
import { MemoryStorage } from "./connectors/storage/memory.ts";
import type { Connector } from "./src/contracts/connector.ts";
import type { MockOptions } from "./src/client/_mock_script.ts";
import type { CreateOptions, PlannedConfig } from "./src/client/options.ts";
import type { MeshClient } from "./src/client/client.ts";
import { configuredPersistence } from "./src/background/configured_store.ts";
import { createClient, type CreateParts } from "./src/client/create.ts";
import { type MeshOptions, ModelMeshBase } from "./src/client/model_mesh.ts";
import { createMockClient } from "./src/client/mock.ts";
import { explicitPlan, type SettingsPlan } from "./src/config/build/explicit.ts";
import { knownConnectors } from "./src/config/settings/known.ts";
import { checkDocument, type CheckedDocument, MeshConfigBase } from "./src/config/load/mesh_config.ts";
import type { GivenProvider, VendorOptions } from "./src/contracts/browser_provider.ts";
import type { StatePersistence } from "./src/state/persistence/state_store.ts";
import type { SecretStore } from "./src/contracts/secret_store.ts";
import type { Storage } from "./src/contracts/storage.ts";
import type { Engine } from "./src/engine/engine.ts";
import { ConfigError, NoProvidersError } from "./src/errors.ts";
import { browserRuntime, sendWith } from "./src/runtime/browser.ts";

/** Made when it is used: importing the package does nothing. */
const partsOfHere = (): CreateParts => ({
  connectors: [],
  runtime: browserRuntime(),
  sendWith,
  planOf: (options) => explicitPlan(options, { builtIn: stickUntilFailure, ids: [] }),
  persistenceOf: ({ config }, engine) => isPlanned(config) ? config.persistence(engine) : undefined,
  configure: configureInPage,
});

/** A `MeshConfig` brings what reads documents: a page without one does not load it. */
function configureInPage(engine: Engine, { config }: CreateOptions): undefined {
  if (isPlanned(config)) return engine.configureBy(config.plan());
  const what = typeof config === "string" ? "a page has no files: " : "";
  const message = `${what}expected what MeshConfig.parse(document) of this entry returns`;
  throw new ConfigError([{ path: "config", message }]);
}

function isPlanned(config: CreateOptions["config"]): config is MeshConfigBase & PlannedConfig {
  return typeof config === "object" && "plan" in config && typeof config.plan === "function";
}

/**
 * Makes a client for a capability.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options The providers, the strategy.
 * @throws {NoProvidersError} When no provider is given.
 * @throws {ConfigError} When the capability is unknown, or an option does not hold.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", {
 *   providers: [openai({ apiKey: keyOfThisUser }), anthropic({ apiKey: otherKeyOfThisUser })],
 *   strategy: roundRobin,
 * });
 * ```
 */
export function create(capability: string, options: CreateOptions): MeshClient;
/**
 * Makes a client of providers, with a pool for each capability of theirs, or of a configuration.
 *
 * @param options The providers, or a configuration.
 * @throws {NoProvidersError} When no provider is given.
 * @throws {ConfigError} When an option does not hold.
 *
 * @example
 * ```ts ignore
 * const secrets = memorySecrets({ OPENAI_API_KEY: keyOfThisUser });
 * const client = create({ config: MeshConfig.parse(document, { secrets }) });
 * ```
 */
export function create(options: CreateOptions): MeshClient;
export function create(first: string | CreateOptions, second?: CreateOptions): MeshClient {
  return createClient(partsOfHere(), first, second);
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
  return createMockClient(partsOfHere(), options);
}

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

/**
 * Ollama on the visitor's own machine, asked for its models unless they are given.
 *
 * @param options Its address and models.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: [ollama()] });
 * ```
 */
export function ollama(options: VendorOptions = {}): GivenProvider {
  return providerOf(ollamaConnector, options);
}

/**
 * The engine behind clients, for pages that want it bare: its statistics, states, and what an operator may do.
 *
 * @example
 * ```ts ignore
 * const mesh = new ModelMesh();
 * await mesh.initialize(document);
 * console.log(mesh.stats());
 * ```
 */
export class ModelMesh extends ModelMeshBase {
  /**
   * Makes one.
   *
   * @param options HTTP client, time and chance, where they are not the browser's own; where states are kept.
   */
  constructor(options: MeshOptions = {}) {
    super({ connectors: browserConnectors(), runtime: browserRuntime(), sendWith }, options);
  }
}

/** What {@linkcode MeshConfig.parse} takes beside a document. */
export interface ParseOptions {
  /** Where its secret references are looked up, when a client becomes ready. */
  readonly secrets?: SecretStore;
}

/**
 * A configuration as a value: parsed, checked whole, and written again. There are no files in a browser.
 *
 * @example
 * ```ts ignore
 * const document = await (await fetch("/modelmesh.json")).json();
 * const client = create({ config: MeshConfig.parse(document, { secrets: browserSecrets() }) });
 * ```
 */
export class MeshConfig extends MeshConfigBase implements PlannedConfig {
  readonly #secrets: SecretStore | undefined;

  private constructor(checked: CheckedDocument, secrets: SecretStore | undefined) {
    super(checked);
    this.#secrets = secrets;
  }

  /**
   * Checks a document.
   *
   * @param document A configuration as an object.
   * @param options Where its secrets are.
   * @throws {ConfigError} With everything that is wrong.
   */
  static parse(document: unknown, { secrets }: ParseOptions = {}): MeshConfig {
    return new MeshConfig(checkDocument(document, { known: knownConnectors(browserConnectors()) }), secrets);
  }

  /**
   * What a client is made of.
   *
   * @throws {NoProvidersError} When it has no providers.
   *
   * @internal
   */
  plan(): SettingsPlan {
    const { settings } = this;
    if (settings.providers.size === 0) {
      throw new NoProvidersError(
        'The configuration has no "providers", and a browser has no environment to find any in',
      );
    }
    const secrets = this.#secrets;
    const store: Connector[] = secrets === undefined
      ? []
      : [{ id: settings.secrets!.store, kind: "secretStore", create: () => secrets }];
    return { settings, connectors: [...browserConnectors(), ...store] };
  }

  /**
   * Keeps states where its section `storage` says.
   *
   * @param engine Configured by it.
   *
   * @internal
   */
  persistence(engine: () => Engine): StatePersistence {
    return configuredPersistence(engine);
  }
}

export { stateIn, type StateInOptions } from "./src/state/persistence/state_in.ts";
export type { StatePersistence } from "./src/state/persistence/state_store.ts";
export * from "./src/exports.ts";
export { anthropic, gemini, groq, mistral, openai, openrouter } from "./connectors/browser.ts";
export { costFirst, latencyFirst, loadBalanced, prioritySelection } from "./connectors/browser.ts";
export { rateLimitAware, roundRobin, sessionStickiness, stickUntilFailure } from "./connectors/browser.ts";
export { providerOf } from "./connectors/providers/_instance.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
export type { FaultReader } from "./connectors/providers/_http.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type {
  OpenAiCompatible,
  Post,
  PostedRequest,
  VendorOperation,
  VendorOperations,
} from "./connectors/providers/_openai_vendor.ts";
export { BrowserBaseProvider } from "./connectors/providers/browser_base.ts";
export { browserSecrets, type BrowserSecretsOptions } from "./connectors/secrets/browser.ts";
export { memorySecrets, type WritableSecretStore } from "./connectors/secrets/memory.ts";
export type { IndexedDbOptions } from "./connectors/storage/indexeddb.ts";
export type { LocalStorageOptions, WebStorage } from "./connectors/storage/localstorage.ts";
export { type MeshOptions, ModelMeshBase } from "./src/client/model_mesh.ts";
export type { MockBody, MockOptions, MockResponse } from "./src/client/_mock_script.ts";
export { createBrowserProviderConfig } from "./src/config/build/browser_provider.ts";
export { MeshConfigBase } from "./src/config/load/mesh_config.ts";
