/**
 * Opens the secret store that a command line names.
 * @module
 */
import { withTimeouts } from "../config/secrets/timed_store.ts";
import { loadDocument } from "../config/load/load.ts";
import { readSettings } from "../config/load/sources.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { SecretStore } from "../contracts/secret_store.ts";
import { Engine } from "../engine/engine.ts";
import { createConfigContext, loadImplementation } from "../registry/catalogue.ts";
import { nearest } from "../util/nearest.ts";
import { type CommandParts, type Flags, UsageError } from "./command.ts";

/** A store whose secrets do not outlive the process. */
const volatileStore = "mesh.memory.v1";

export interface NamedStore {
  readonly id: string;
  readonly store: SecretStore;
}

/**
 * Opens the store. Options override the configuration.
 *
 * @throws {UsageError} When no store is named, or an unknown one.
 * @throws {ConfigError} When a setting is missing, or the configuration is invalid.
 */
export async function openSecretStore(flags: Flags, parts: CommandParts): Promise<NamedStore> {
  const configured = await configuredStore(flags.value("config"), parts);
  const id = flags.value("store") ?? configured?.store;
  if (id === undefined) throw new UsageError("Missing store: use --store <id> or --config <file>");
  const stores = parts.connectors.filter((one): one is PluggableConnector<"secretStore"> => one.kind === "secretStore");
  const connector = stores.find((one) => one.id === id);
  if (connector === undefined) {
    const ids = stores.map((one) => one.id);
    const hint = nearest(id, ids, 1)[0];
    throw new UsageError(
      `There is no secret store "${id}"${hint === undefined ? "" : `; did you mean "${hint}"?`} There are ${
        ids.join(", ")
      }`,
    );
  }
  if (id === volatileStore) {
    throw new UsageError(`${id} does not persist secrets: use another --store`);
  }
  const settings = configured?.store === id ? configured.config : {};
  const typed = ["path", "region"].flatMap((name) => {
    const value = flags.value(name);
    return value === undefined ? [] : [[name, value]];
  });
  const implementation = await loadImplementation(connector);
  const store = implementation.create({ ...settings, ...Object.fromEntries(typed) }, parts.runtime);
  return { id, store: withTimeouts(store, { id, clock: parts.runtime.clock }) };
}

/** Returns the store that a configuration names. */
async function configuredStore(path: string | undefined, { connectors, runtime }: CommandParts) {
  if (path === undefined) return undefined;
  const document = await loadDocument(path, runtime.files!);
  const context = createConfigContext(new Engine({ connectors, runtime }));
  return readSettings(document, context, { source: path, mayLackProviders: true }).secrets;
}
