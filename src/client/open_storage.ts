/**
 * Opens a storage from a configuration section, without a mesh.
 * @module
 */
import { openStorage } from "../background/open_storage.ts";
import { groupConnectors } from "../config/settings/known.ts";
import { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import { validate } from "../config/build/validate.ts";
import type { Storage } from "../contracts/storage.ts";
import { Redactor } from "../observe/redact.ts";
import { ConnectorCatalogue } from "../registry/catalogue.ts";
import type { CreateOptions } from "./options.ts";
import { type ConnectedRuntime, runtimeWith } from "./runtime_with.ts";

/**
 * Opens a storage.
 *
 * @param parts Connectors and runtime.
 * @param section The `storage` section of a configuration.
 * @param options Replacements for parts of the runtime.
 */
export async function storageOfSection(
  parts: ConnectedRuntime,
  section: Readonly<Record<string, unknown>>,
  options: Pick<CreateOptions, "env" | "fetch" | "clock">,
): Promise<Storage> {
  const runtime = runtimeWith(parts, options);
  const catalogue = new ConnectorCatalogue(parts.connectors);
  const written = validate({ storage: section }, { knownConnectors: groupConnectors(parts.connectors), detected: [] });
  const redactor = new Redactor();
  const settings = await (await SettingsSecrets.open(written, { runtime, catalogue, redactor })).resolve();
  return await openStorage(settings.storage!, { catalogue, runtime, redactor, settings });
}
