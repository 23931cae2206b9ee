/**
 * The same client in a browser. There is no environment there: keys come in `apiKeys`, or better, `config` points at a
 * proxy that keeps them.
 *
 * @example
 * ```ts ignore
 * import { create } from "@modelmesh/core/browser";
 *
 * const client = create("chat-completion", { apiKeys: { openai: keyOfThisUser } });
 * ```
 * @module
 */
import { browserConnectors } from "./connectors/browser.ts";
import type { MeshClient } from "./src/client/client.ts";
import { createClient } from "./src/client/create.ts";
import type { CreateOptions } from "./src/client/options.ts";
import { browserRuntime, sendWith } from "./src/runtime/browser.ts";

/**
 * Makes a client for a capability.
 *
 * @param capability A short name such as `chat-completion`, a full path or an inner node.
 * @param options Keys, providers, strategy; or a configuration as an object.
 * @throws {NoProvidersError} When no provider has a key.
 * @throws {ConfigError} When the capability is unknown or an option does not hold.
 */
export function create(capability: string, options?: CreateOptions): MeshClient;
/**
 * Makes a client of a configuration, or of options alone.
 *
 * @param options A configuration as an object, and more.
 * @throws {NoProvidersError} When no provider has a key.
 * @throws {ConfigError} When an option or the document does not hold.
 */
export function create(options: CreateOptions): MeshClient;
export function create(first: string | CreateOptions, second?: CreateOptions): MeshClient {
  return createClient({ connectors: browserConnectors, runtime: browserRuntime(), sendWith }, first, second);
}

export * from "./src/exports.ts";
