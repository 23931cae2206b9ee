/**
 * One OpenAI-compatible entry point over many AI providers: name a capability, get an answer from whichever model is
 * up.
 *
 * @example
 * ```ts ignore
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion"); // providers are found by their keys in the environment
 * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
 * console.log(answer.choices[0]?.message.content);
 * await client.close();
 * ```
 * @module
 */
import { serverConnectors } from "./connectors/server.ts";
import { redisAddress, type RedisOptions } from "./connectors/storage/_redis_address.ts";
import { MemoryStorage } from "./connectors/storage/memory.ts";
import { RedisStorage } from "./connectors/storage/redis.ts";
import { stateIn } from "./src/state/persistence/state_in.ts";
import { configuredPersistence } from "./src/background/configured_store.ts";
import { configureByDocument } from "./src/client/configure.ts";
import { createClient, type CreateParts } from "./src/client/create.ts";
import { createMockClient } from "./src/client/mock.ts";
import type { MockOptions } from "./src/client/_mock_script.ts";
import { ModelMeshBase } from "./src/client/model_mesh.ts";
import type { MeshOptions } from "./src/client/options.ts";
import { planOfNames } from "./src/client/plan_of_names.ts";
import type { MeshClient } from "./src/client/client.ts";
import type { CreateOptions } from "./src/client/options.ts";
import { knownConnectors } from "./src/config/settings/known.ts";
import { loadConfig } from "./src/config/load/load_config.ts";
import { checkDocument, MeshConfigBase } from "./src/config/load/mesh_config.ts";
import { storedDocument } from "./src/config/load/save.ts";
import type { CapabilityName } from "./src/contracts/names.ts";
import type { Storage } from "./src/contracts/storage.ts";
import { sendWith, serverRuntime } from "./src/runtime/server.ts";

/** Made on first use: importing the package does nothing yet. */
let parts: CreateParts | undefined;
const partsOfHere = (): CreateParts =>
  parts ??= {
    connectors: serverConnectors,
    runtime: serverRuntime(),
    sendWith,
    planOf: planOfNames,
    persistenceOf: (_options, engine) => configuredPersistence(engine),
    configure: configureByDocument,
  };

/**
 * Makes a client for a capability. Providers are found by their keys in the environment, unless a configuration says
 * more. Returns at once; what has to be read (a file, secrets) is read by `client.ready()`, which every call awaits.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options Providers, strategy, keys; or a configuration.
 * @throws {NoProvidersError} When no provider has a key.
 * @throws {ConfigError} When the capability is unknown or an option does not hold.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { providers: ["openai", "anthropic"], strategy: "round-robin" });
 * ```
 */
export function create(capability: CapabilityName, options?: CreateOptions): MeshClient;
/**
 * Makes a client of a configuration, or of options alone.
 *
 * @param options A configuration's path or document, and more.
 * @throws {NoProvidersError} When no provider has a key.
 * @throws {ConfigError} When an option or the document does not hold; a file is read by `client.ready()`.
 *
 * @example
 * ```ts ignore
 * const client = create({ config: "modelmesh.yaml" });
 * await client.ready();
 * ```
 */
export function create(options: CreateOptions): MeshClient;
export function create(first: string | CreateOptions, second?: CreateOptions): MeshClient {
  return createClient(partsOfHere(), first, second);
}

/**
 * Makes a client without network, for the tests of programs that use one.
 *
 * @param options The answers, taken in order; the last one repeats.
 *
 * @example
 * ```ts
 * import { mockClient } from "@modelmesh/core";
 *
 * const client = mockClient({ responses: ["Hello", new Error("Out of luck")] });
 * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
 * console.log(answer.choices[0]?.message.content); // Hello
 * ```
 */
export function mockClient(options: MockOptions): MeshClient {
  return createMockClient(partsOfHere(), options);
}

export type { RedisOptions };
export type { MockBody, MockOptions, MockResponse } from "./src/client/_mock_script.ts";

/**
 * The engine behind clients and proxies, for programs that want it bare.
 *
 * @example
 * ```ts ignore
 * const mesh = new ModelMesh();
 * await mesh.initialize({
 *   providers: { "openai.llm.v1": { api_key: "${secrets:OPENAI_API_KEY}" } },
 *   pools: { chat: { capability: "chat-completion" } },
 * });
 * console.log(mesh.poolStatus());
 * ```
 */
export class ModelMesh extends ModelMeshBase {
  /**
   * Makes one.
   *
   * @param options Environment, HTTP client, time and chance, where they are not the runtime's own; where states are kept.
   */
  constructor(options: MeshOptions = {}) {
    super(partsOfHere(), options);
  }

  /**
   * Makes one of a file, ready for requests.
   *
   * @param path A name that ends in `.yaml`, `.yml` or `.json`.
   * @param options As for the constructor.
   * @throws {ConfigError} With everything that is wrong.
   * @throws {NoProvidersError} When it has no providers and none is detected.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   *
   * @example
   * ```ts ignore
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * ```
   */
  static async fromYaml(path: string, options: MeshOptions = {}): Promise<ModelMesh> {
    const mesh = new ModelMesh(options);
    return await started(mesh, async () => await mesh.initialize(path));
  }

  /**
   * Makes one of a storage: the configuration is its record `config` (JSON, as `saveConfig(storage)` writes it), states
   * are read from its record `state` and written there from now on.
   *
   * @param storage Where both are.
   * @param options As for the constructor.
   * @throws {ConfigError} With everything that is wrong; or when there is no record `config`.
   * @throws {ConnectorError} When the storage cannot be read.
   *
   * @example
   * ```ts ignore
   * await mesh.saveConfig(storage);
   * const other = await ModelMesh.fromStorage(storage);
   * ```
   */
  static async fromStorage(storage: Storage, options: Omit<MeshOptions, "storage"> = {}): Promise<ModelMesh> {
    const mesh = new ModelMesh({ ...options, storage: stateIn(storage) });
    return await started(
      mesh,
      async () => await mesh.start({ document: await storedDocument(storage), source: "config" }),
    );
  }
}

/** A mesh once it has started; one that cannot is closed. */
async function started(mesh: ModelMesh, start: () => Promise<void>): Promise<ModelMesh> {
  try {
    await start();
    return mesh;
  } catch (error) {
    await mesh.close();
    throw error;
  }
}

/**
 * A storage in memory, for several meshes of one process and for tests.
 *
 * @example
 * ```ts ignore
 * const client = create("chat-completion", { storage: stateIn(memoryStorage()) });
 * ```
 */
export function memoryStorage(): Storage {
  return new MemoryStorage(partsOfHere().runtime.clock);
}

/**
 * A storage in a Redis (6.2 or later), which several processes share. Needs the package `@redis/client`; connects at
 * first use, and is given back by its `close()`.
 *
 * @param options Where it is.
 * @throws {ConfigError} With all that does not hold.
 *
 * @example
 * ```ts ignore
 * const storage = redisStorage({ url: "redis://127.0.0.1" });
 * const mesh = await ModelMesh.fromYaml("modelmesh.yaml", { storage: stateIn(storage) });
 * ```
 */
export function redisStorage({ prefix, ...address }: RedisOptions = {}): Storage {
  return new RedisStorage(partsOfHere().runtime.clock, {
    address: redisAddress({ ...address }),
    ...(prefix === undefined ? {} : { prefix }),
  });
}

/**
 * Opens the storage that a section `storage` describes: for `saveConfig(storage)`, `ModelMesh.fromStorage(storage)` and
 * `stateIn(storage)`.
 *
 * @param section The section, as in a configuration.
 * @param options Environment, HTTP client and time, where they are not the runtime's own.
 * @throws {ConfigError} With everything that is wrong, or when there is no key to encrypt with.
 * @throws {SecretNotFoundError} When a secret it refers to does not exist.
 *
 * @example
 * ```ts ignore
 * const storage = await openStorage({ connector: "aws.s3.v1", bucket: "state", persistence: { encryption: true } });
 * const mesh = await ModelMesh.fromStorage(storage);
 * ```
 */
export async function openStorage(
  section: Readonly<Record<string, unknown>>,
  options: Pick<MeshOptions, "env" | "fetch" | "clock"> = {},
): Promise<Storage> {
  const { storageOfSection } = await import("./src/client/open_storage.ts"); // most programs open none
  return await storageOfSection(partsOfHere(), section, options);
}

const configEnvironment = () => ({ known: knownConnectors(serverConnectors), files: partsOfHere().runtime.files });

/**
 * A configuration as a value: loaded or parsed, checked whole, and written again.
 *
 * @example
 * ```ts ignore
 * const config = await MeshConfig.load("modelmesh.yaml");
 * await Deno.writeTextFile("modelmesh.json", config.toJson());
 * ```
 */
export class MeshConfig extends MeshConfigBase {
  /**
   * Reads and checks a file.
   *
   * @param path A name that ends in `.yaml`, `.yml` or `.json`.
   * @throws {ConfigError} With everything that is wrong.
   */
  static async load(path: string): Promise<MeshConfig> {
    return new MeshConfig(await loadConfig(path, configEnvironment()));
  }

  /**
   * Checks a document.
   *
   * @param document A configuration as an object.
   * @throws {ConfigError} With everything that is wrong.
   */
  static parse(document: unknown): MeshConfig {
    return new MeshConfig(checkDocument(document, configEnvironment()));
  }
}

export * from "./src/exports.ts";
export { stateIn, type StateInOptions } from "./src/state/persistence/state_in.ts";
export type { StatePersistence } from "./src/state/persistence/state_store.ts";
export { ModelMeshBase } from "./src/client/model_mesh.ts";
export type { ConfigSource } from "./src/config/load/config_source.ts";
export type { NewProvider } from "./src/config/load/new_provider.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type {
  OpenAiCompatible,
  Post,
  PostedRequest,
  VendorOperation,
  VendorOperations,
} from "./connectors/providers/_openai_vendor.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
export type { FaultReader } from "./connectors/providers/_http.ts";
export { MeshConfigBase } from "./src/config/load/mesh_config.ts";
