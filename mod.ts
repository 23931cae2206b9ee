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
import { serverParts } from "./src/background/server_parts.ts";
import type { MeshClient } from "./src/client/client.ts";
import { createClient, type CreateParts } from "./src/client/create.ts";
import { createMockClient, type MockOptions } from "./src/client/mock.ts";
import type { CreateOptions } from "./src/client/options.ts";
import { runtimeWith } from "./src/client/runtime_with.ts";
import { knownConnectors } from "./src/config/known.ts";
import { loadConfig } from "./src/config/load_config.ts";
import { checkDocument, MeshConfigBase } from "./src/config/mesh_config.ts";
import { settingsOf } from "./src/config/sources.ts";
import { Mesh } from "./src/mesh.ts";
import { surroundingsOf } from "./src/registry/catalogue.ts";
import { sendWith, serverRuntime } from "./src/runtime/server.ts";

/** Made on first use: importing the package does nothing yet. */
let parts: CreateParts | undefined;
const partsOfHere = (): CreateParts => parts ??= { connectors: serverConnectors, runtime: serverRuntime(), sendWith };

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
export function create(capability: string, options?: CreateOptions): MeshClient;
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

export type { MockOptions, MockResponse } from "./src/client/mock.ts";

/** Options of {@linkcode ModelMesh}. */
export type MeshOptions = Pick<CreateOptions, "env" | "fetch" | "clock" | "random" | "on">;

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
export class ModelMesh extends Mesh {
  /**
   * Makes one.
   *
   * @param options Environment, HTTP client, time and chance, where they are not the runtime's own.
   */
  constructor(options: MeshOptions = {}) {
    super({
      ...serverParts,
      connectors: serverConnectors,
      runtime: runtimeWith(partsOfHere(), options),
      on: options.on,
    });
  }

  /**
   * Loads a configuration and makes ready for requests. Without a `providers` section the providers are those detected.
   *
   * @param config A configuration document, as an object.
   * @throws {ConfigError} With all that is wrong.
   * @throws {NoProvidersError} When it has no providers and none is detected.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   */
  async initialize(config: unknown): Promise<void> {
    this.configure(settingsOf(config, surroundingsOf(this)));
    await this.ready();
  }
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
export { openAiCompatible, OpenAiCompatibleProvider } from "./connectors/providers/_openai_compatible.ts";
export type { OpenAiCompatible } from "./connectors/providers/_openai_compatible.ts";
export { BaseProvider } from "./connectors/providers/_base.ts";
export type { FaultReader } from "./connectors/providers/_http.ts";
export { MeshConfigBase } from "./src/config/mesh_config.ts";
