/**
 * An OpenAI-compatible client that routes requests over many AI providers. A request names a capability; ModelMesh
 * selects an available model, retries, and fails over to the next one.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion"); // detects providers by the API keys in the environment
 * const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
 * console.log(completion.choices[0]?.message.content);
 * await client.close();
 * ```
 * @module
 */
import { serverConnectors } from "./connectors/server.ts";
import type { RedisOptions } from "./connectors/storage/_redis_address.ts";
import { redisOnDemand } from "./connectors/storage/_redis_on_demand.ts";
import { MemoryStorage } from "./connectors/storage/memory.ts";
import { stateIn } from "./src/state/state_persistence.ts";
import { persistenceOnDemand } from "./src/background/persistence_on_demand.ts";
import { configureByDocument } from "./src/client/configure.ts";
import { createClient, type CreateParts } from "./src/client/create.ts";
import { createMockClient, type MockOptions } from "./src/client/mock.ts";
import { ModelMeshBase } from "./src/client/model_mesh.ts";
import type { CreateOptions, MeshOptions } from "./src/client/options.ts";
import { planOfNames } from "./src/client/plan_of_names.ts";
import type { MeshClient } from "./src/client/client.ts";
import { groupConnectors } from "./src/config/settings/known.ts";
import { checkDocument, loadConfig, MeshConfigBase } from "./src/config/load/mesh_config.ts";
import { getEngine } from "./src/engine/get_engine.ts";
import type { ConfigSource } from "./src/config/load/sources.ts";
import type { CapabilityName } from "./src/contracts/names.ts";
import type { Clock } from "./src/contracts/runtime.ts";
import type { Storage } from "./src/contracts/storage.ts";
import { sendWith, serverRuntime } from "./src/runtime/server.ts";

/** Created on first use: importing the package has no side effects. */
let parts: CreateParts | undefined;
const serverParts = (): CreateParts =>
  parts ??= {
    connectors: serverConnectors,
    runtime: serverRuntime(),
    sendWith,
    createPlan: planOfNames,
    createPersistence: (_options, engine) => persistenceOnDemand(engine),
    configure: configureByDocument,
    loadControls: () => import("./src/client/mesh_controls.ts"),
  };

/**
 * Creates a client for a capability. Providers are detected by the API keys in the environment, unless options or a
 * configuration specify them. Returns at once: files and secrets are read by `client.ready()`, which every call awaits.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options Providers, strategy and API keys, or a configuration.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If the capability is unknown or an option is invalid.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion", { providers: ["openai", "anthropic"], strategy: "round-robin" });
 * ```
 */
export function create<Capability extends string, Strategy extends string, Vendor extends string>(
  capability: CapabilityName<Capability>,
  options?: CreateOptions<Capability, Strategy, Vendor>,
): MeshClient;
/**
 * Creates a client of a configuration for a capability.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options A configuration (path or document), and further options.
 * @throws {NoProvidersError} If no provider is configured or has an API key.
 * @throws {ConfigError} If the capability is unknown, or an option or the document is invalid.
 */
export function create(capability: CapabilityName, options: CreateOptions & { config: ConfigSource }): MeshClient;
/**
 * Creates a client from a configuration.
 *
 * @param options A configuration (path or document), and further options.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If an option or the document is invalid. A file is read and validated by `client.ready()`.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create({ config: "modelmesh.yaml" });
 * await client.ready();
 * ```
 */
export function create(options: CreateOptions & { config: ConfigSource }): MeshClient;
/**
 * Creates a client from options alone, with one pool per capability.
 *
 * @param options Providers, strategy and API keys.
 * @throws {NoProvidersError} If no provider is passed or has an API key.
 * @throws {ConfigError} If an option is invalid.
 */
export function create<Capability extends string, Strategy extends string, Vendor extends string>(
  options: CreateOptions<Capability, Strategy, Vendor>,
): MeshClient;
export function create(first: string | CreateOptions, second?: CreateOptions): MeshClient {
  return createClient(serverParts(), first, second);
}

/**
 * Creates a client with scripted responses and no network access, for tests of programs that use a client.
 *
 * @param options The responses, returned in order; the last one repeats.
 *
 * @example
 * ```ts
 * import { mockClient } from "@modelmesh/core";
 *
 * const client = mockClient({ responses: ["Hello", new Error("Out of luck")] });
 * const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
 * console.log(completion.choices[0]?.message.content); // Hello
 * ```
 */
export function mockClient(options: MockOptions): MeshClient {
  return createMockClient(serverParts(), options);
}

export type { RedisOptions };
export type { MockOptions, MockResponse } from "./src/client/mock.ts";

/**
 * The engine behind clients and proxies, for programs that use it directly.
 *
 * @example
 * ```ts
 * import { ModelMesh } from "@modelmesh/core";
 *
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
   * Creates a mesh; {@linkcode ModelMesh.initialize} starts it.
   *
   * @param options Replacements for the runtime's environment, HTTP client, clock and random source; the storage of its
   * state.
   */
  constructor(options: MeshOptions = {}) {
    super(serverParts(), options);
  }

  /**
   * Creates a mesh from a configuration file and starts it.
   *
   * @param path Path of the file; it ends in `.yaml`, `.yml` or `.json`.
   * @param options As for the constructor.
   * @throws {ConfigError} If the configuration is invalid; reports all errors at once.
   * @throws {NoProvidersError} If it configures no providers and none is detected.
   * @throws {SecretNotFoundError} If a referenced secret does not exist.
   *
   * @example
   * ```ts
   * import { ModelMesh } from "@modelmesh/core";
   *
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * ```
   */
  static async fromYaml(path: string, options: MeshOptions = {}): Promise<ModelMesh> {
    const mesh = new ModelMesh(options);
    return await started(mesh, async () => await mesh.initialize(path));
  }

  /**
   * Creates a mesh from a storage and starts it. The configuration is read from the record `config` (JSON, as
   * `saveConfig(storage)` writes it). State is restored from the record `state`, and persisted to it.
   *
   * @param storage The storage of both records.
   * @param options As for the constructor.
   * @throws {ConfigError} If the configuration is invalid, or the record `config` does not exist.
   * @throws {ConnectorError} If the storage cannot be read.
   *
   * @example
   * ```ts
   * import { ModelMesh, redisStorage } from "@modelmesh/core";
   *
   * const storage = redisStorage({ url: "redis://127.0.0.1" });
   * const mesh = await ModelMesh.fromYaml("modelmesh.yaml");
   * await mesh.saveConfig(storage);
   * const other = await ModelMesh.fromStorage(storage);
   * ```
   */
  static async fromStorage(storage: Storage, options: Omit<MeshOptions, "storage"> = {}): Promise<ModelMesh> {
    const mesh = new ModelMesh({ ...options, storage: stateIn(storage) });
    return await started(
      mesh,
      async () =>
        await mesh.start({ document: await readStored(storage, getEngine(mesh).runtime.clock), source: "config" }),
    );
  }
}

/** Imported on demand: most programs read no record. */
async function readStored(storage: Storage, clock: Clock): Promise<unknown> {
  const { storedDocument } = await import("./src/config/load/save.ts");
  return await storedDocument(storage, clock);
}

/** Starts a mesh; closes it if the start fails. */
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
 * Creates an in-memory storage, for tests and for several meshes in one process.
 *
 * @example
 * ```ts
 * import { create, memoryStorage, stateIn } from "@modelmesh/core";
 *
 * const client = create("chat-completion", { storage: stateIn(memoryStorage()) });
 * ```
 */
export function memoryStorage(): Storage {
  return new MemoryStorage(serverParts().runtime.clock);
}

/**
 * Creates a storage in Redis (6.2 or later) or Valkey, which several processes can share: one server, a cluster, or the
 * master that sentinels name. Needs the package `@redis/client`. Connects on first use; `close()` disconnects.
 *
 * @param options Addresses and key prefix.
 * @throws {ConfigError} If an option is invalid; reports all errors at once.
 *
 * @example
 * ```ts
 * import { ModelMesh, redisStorage, stateIn } from "@modelmesh/core";
 *
 * const storage = redisStorage({ url: "redis://127.0.0.1" });
 * const mesh = await ModelMesh.fromYaml("modelmesh.yaml", { storage: stateIn(storage) });
 * ```
 */
export function redisStorage(options: RedisOptions = {}): Storage {
  return redisOnDemand(serverParts().runtime, options);
}

/**
 * Opens the storage that a `storage` section configures, for `saveConfig(storage)`, `ModelMesh.fromStorage(storage)`
 * and
 * `stateIn(storage)`.
 *
 * @param section The section, as in a configuration.
 * @param options Replacements for the runtime's environment, HTTP client and clock.
 * @throws {ConfigError} If the section is invalid, or the encryption key is missing.
 * @throws {SecretNotFoundError} If a referenced secret does not exist.
 *
 * @example
 * ```ts
 * import { ModelMesh, openStorage } from "@modelmesh/core";
 *
 * const storage = await openStorage({ connector: "aws.s3.v1", bucket: "state", persistence: { encryption: true } });
 * const mesh = await ModelMesh.fromStorage(storage);
 * ```
 */
export async function openStorage(
  section: Readonly<Record<string, unknown>>,
  options: Pick<MeshOptions, "env" | "fetch" | "clock"> = {},
): Promise<Storage> {
  const { storageOfSection } = await import("./src/client/open_storage.ts"); // imported on demand: most programs need none
  return await storageOfSection(serverParts(), section, options);
}

const configEnvironment = () => ({
  knownConnectors: groupConnectors(serverConnectors),
  files: serverParts().runtime.files,
});

/**
 * A validated configuration: loaded from a file or parsed from an object, and serialized again.
 *
 * @example
 * ```ts
 * import { MeshConfig } from "@modelmesh/core";
 *
 * const config = await MeshConfig.load("modelmesh.yaml");
 * await Deno.writeTextFile("modelmesh.json", config.toJson());
 * ```
 */
export class MeshConfig extends MeshConfigBase {
  /**
   * Loads and validates a configuration file.
   *
   * @param path Path of the file; it ends in `.yaml`, `.yml` or `.json`.
   * @throws {ConfigError} If the configuration is invalid; reports all errors at once.
   */
  static async load(path: string): Promise<MeshConfig> {
    return new MeshConfig(await loadConfig(path, configEnvironment()));
  }

  /**
   * Validates a configuration object.
   *
   * @param document The configuration as an object.
   * @throws {ConfigError} If the configuration is invalid; reports all errors at once.
   */
  static parse(document: unknown): MeshConfig {
    return new MeshConfig(checkDocument(document, configEnvironment()));
  }
}

export * from "./src/exports.ts";
export { stateIn, type StateInOptions } from "./src/state/state_persistence.ts";
export type { ConfigSource } from "./src/config/load/sources.ts";
export type { NewProvider } from "./src/config/load/new_provider.ts";
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type { OpenAiCompatible } from "./connectors/providers/_openai_vendor.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
