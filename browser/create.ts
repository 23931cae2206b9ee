/**
 * `create` for pages: no environment variables, no files, and only the connectors that the page imports.
 * @module
 */
import { stickUntilFailure } from "../connectors/strategies/stick_until_failure.ts";
import { persistenceOnDemand } from "../src/background/persistence_on_demand.ts";
import { createMockClient, type MockOptions } from "../src/client/mock.ts";
import type { MeshClient } from "../src/client/client.ts";
import { createClient, type CreateParts } from "../src/client/create.ts";
import type { CreateOptions } from "../src/client/options.ts";
import { findPlan } from "../src/client/planned_config.ts";
import type { MeshConfigBase } from "../src/config/load/mesh_config.ts";
import { explicitPlan } from "../src/config/build/explicit.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { ConfigSource } from "../src/config/load/sources.ts";
import type { CapabilityName } from "../src/contracts/names.ts";
import { ConfigError } from "../src/errors.ts";
import { browserRuntime, sendWith } from "../src/runtime/browser.ts";

export type { DeepPartial, MockBody, MockOptions, MockResponse, Scripted } from "../src/client/mock.ts";

/** Created on use: importing the package has no side effects. */
const pageParts = (): CreateParts => ({
  connectors: [],
  runtime: browserRuntime(),
  sendWith,
  createPlan: (options) => explicitPlan(options, { builtIn: stickUntilFailure, ids: [] }),
  createPersistence: ({ config }, engine) => config === undefined ? undefined : persistenceOnDemand(engine),
  configure: configureInPage,
});

/**
 * A `MeshConfig` brings its own parser. The parser of a plain document is imported when the client becomes ready, so
 * that pages without one do not load it.
 */
function configureInPage(engine: Engine, options: CreateOptions): (() => Promise<void>) | undefined {
  const { config } = options;
  const plan = findPlan(config);
  if (plan !== undefined) {
    engine.config = config as MeshConfigBase;
    return engine.configureBy(plan());
  }
  if (typeof config !== "object") {
    throw new ConfigError([{
      path: "config",
      message: "expected a document as an object, or a MeshConfig: a page has no files",
    }]);
  }
  return async () => {
    const [{ browserConnectors }, { configureByDocument }] = await Promise.all([
      import("../connectors/browser_connectors.ts"),
      import("../src/client/configure.ts"),
    ]);
    for (const connector of browserConnectors()) engine.catalogue.register(connector.id, connector);
    await configureByDocument(engine, options)?.();
  };
}

/**
 * Creates a client for a capability.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options Providers and strategy.
 * @throws {NoProvidersError} If no provider is passed.
 * @throws {ConfigError} If the capability is unknown or an option is invalid.
 *
 * @example
 * ```ts
 * import { anthropic, create, openai, roundRobin } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", {
 *   providers: [openai({ apiKey: "the-key-of-this-user" }), anthropic({ apiKey: "another-key-of-this-user" })],
 *   strategy: roundRobin,
 * });
 * ```
 */
export function create<Capability extends string, Strategy extends string, Vendor extends string>(
  capability: CapabilityName<Capability>,
  options: CreateOptions<Capability, Strategy, Vendor>,
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
 * @param options A configuration, and further options.
 * @throws {NoProvidersError} If no provider is passed.
 * @throws {ConfigError} If an option is invalid. An invalid document is reported by `ready()` and by calls.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core/browser";
 *
 * const client = create({ config: await (await fetch("/modelmesh.json")).json() });
 * ```
 *
 * @example With a secret store
 * ```ts
 * import { create, memorySecrets, MeshConfig } from "@modelmesh/core/browser";
 *
 * const document = await (await fetch("/modelmesh.json")).json();
 * const secrets = memorySecrets({ OPENAI_API_KEY: "the-key-of-this-user" });
 * const client = create({ config: MeshConfig.parse(document, { secrets }) });
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
export function create(first: CapabilityName | CreateOptions, second?: CreateOptions): MeshClient {
  return createClient(pageParts(), first, second);
}

/**
 * Creates a client with scripted responses and no network access, for tests of pages that use a client.
 *
 * @param options The responses, returned in order; the last one repeats.
 *
 * @example
 * ```ts
 * import { mockClient } from "@modelmesh/core/browser";
 *
 * const client = mockClient({ responses: ["Hello"] });
 * const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
 * console.log(completion.choices[0]?.message.content); // Hello
 * ```
 */
export function mockClient(options: MockOptions): MeshClient {
  return createMockClient(pageParts(), options);
}
