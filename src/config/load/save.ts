/**
 * Where a configuration is kept: a file, or a storage.
 * @module
 */
import type { FileSystem } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { ConfigError, ConnectorError, MeshError } from "../../errors.ts";
import { formatOf, readJsonDocument } from "./load.ts";
import type { MeshConfigBase } from "./mesh_config.ts";

/** The record that holds the configuration, as JSON. */
export const configKey = "config";

/**
 * Writes a configuration to a file, whole or not at all.
 *
 * @param path A name that ends in `.yaml`, `.yml` or `.json`, which says how.
 * @param files Undefined in browsers.
 * @throws {ConfigError} For another name.
 * @throws {MeshError} When it has what only a program can give, or the file cannot be written: `config_not_saved`.
 */
export async function saveConfigFile(
  config: MeshConfigBase,
  path: string,
  files: FileSystem | undefined,
): Promise<void> {
  const text = formatOf(path) === "json" ? config.toJson() : config.toYaml();
  try {
    await files!.replaceText(path, text);
  } catch (cause) {
    const reason = files === undefined ? "there are no files here" : reasonOf(cause);
    throw new MeshError(`Cannot save the configuration as "${path}": ${reason}`, { code: "config_not_saved", cause });
  }
}

/**
 * Writes a configuration to a storage.
 *
 * @throws {MeshError} When it has what only a program can give.
 * @throws {ConnectorError} When the storage does not take it.
 */
export async function storeConfig(config: MeshConfigBase, storage: Storage): Promise<void> {
  const bytes = new TextEncoder().encode(config.toJson());
  await storage.save(configKey, bytes).catch((error) => fail(error, "save"));
}

/**
 * The document that {@linkcode storeConfig} wrote.
 *
 * @throws {ConfigError} When there is none, or what is there is none.
 * @throws {ConnectorError} When the storage cannot be read.
 */
export async function storedDocument(storage: Storage): Promise<unknown> {
  const bytes = await storage.load(configKey).catch((error) => fail(error, "read"));
  if (bytes !== undefined) return readJsonDocument(new TextDecoder().decode(bytes), configKey);
  const message = `the storage has no record "${configKey}": saveConfig(storage) of a mesh writes it`;
  throw new ConfigError([{ path: "", message }]);
}

/** Our connectors say what is the matter; the words of others may quote anything and are not passed on. */
function fail(error: unknown, doing: string): never {
  if (MeshError.isInstance(error)) throw error;
  throw new ConnectorError(`Cannot ${doing} the configuration: the storage failed (see the error's cause)`, error);
}

function reasonOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "its folder does not exist";
  if (code === "EISDIR") return "it is a folder";
  return code === "EACCES" || code === "EPERM" || code === "EROFS"
    ? "writing there is not permitted"
    : "writing failed";
}
