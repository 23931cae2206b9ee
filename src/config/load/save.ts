/**
 * Saves a configuration to a file or a storage.
 * @module
 */
import type { Clock, FileSystem } from "../../contracts/runtime.ts";
import type { Storage } from "../../contracts/storage.ts";
import { ConfigError, ConnectorError, MeshError } from "../../errors.ts";
import { waitWithin } from "../../util/within.ts";
import { detectFormat, readJsonDocument } from "./load.ts";
import type { MeshConfigBase } from "./mesh_config.ts";

/** Timeout of the storage, ms: above that of an opened storage, whose error names it. */
const timeoutMs = 25_000;

/** Key of the record with the configuration, as JSON. */
export const configKey = "config";

/**
 * Writes a configuration to a file, atomically.
 *
 * @param path Path of the file; its extension `.yaml`, `.yml` or `.json` determines the format.
 * @param files Undefined in browsers.
 * @throws {ConfigError} For another extension.
 * @throws {MeshError} `config_not_saved` if it contains values that cannot be serialized, or the file cannot be
 * written.
 */
export async function saveConfigFile(
  config: MeshConfigBase,
  path: string,
  files: FileSystem | undefined,
): Promise<void> {
  const text = detectFormat(path) === "json" ? config.toJson() : config.toYaml();
  try {
    await files!.replaceText(path, text);
  } catch (cause) {
    const reason = files === undefined ? "this runtime has no file access" : await describeWriteFailure(cause, path);
    throw new MeshError(`Cannot save the configuration as "${path}": ${reason}`, { code: "config_not_saved", cause });
  }
}

/**
 * Writes a configuration to a storage.
 *
 * @throws {MeshError} If it contains values that cannot be serialized.
 * @throws {ConnectorError} If the storage fails.
 */
export async function storeConfig(
  config: MeshConfigBase,
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
): Promise<void> {
  const bytes = new TextEncoder().encode(config.toJson());
  await timed("save", () => storage.save(configKey, bytes), clock);
}

/**
 * Reads the document that {@linkcode storeConfig} wrote.
 *
 * @throws {ConfigError} If the record does not exist, or is not a document.
 * @throws {ConnectorError} If the storage cannot be read.
 */
export async function storedDocument(storage: Storage, clock: Clock): Promise<unknown> {
  const bytes = await timed("read", () => storage.load(configKey), clock);
  if (bytes !== undefined) return readJsonDocument(new TextDecoder().decode(bytes), configKey);
  const message = `the storage has no record "${configKey}": saveConfig(storage) of a mesh writes it`;
  throw new ConfigError([{ path: "", message }]);
}

/** Messages of built-in connectors are exposed; those of other errors are not, since they may quote anything. */
async function timed<T>(action: string, start: () => Promise<T>, clock: Clock): Promise<T> {
  const subject = `Cannot ${action} the configuration: the storage`;
  const expired = () =>
    new ConnectorError(`${subject} did not respond within ${timeoutMs / 1000} s`, undefined, "unavailable");
  try {
    return await waitWithin(start, { clock, ms: timeoutMs, expired });
  } catch (error) {
    throw MeshError.isInstance(error) ? error : new ConnectorError(`${subject} failed (see the error's cause)`, error);
  }
}

async function describeWriteFailure(error: unknown, path: string): Promise<string> {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "its folder does not exist";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "permission denied";
  const { describeDenial, toFolder } = await import("../../util/denial.ts");
  return describeDenial(error, { path: toFolder(path) }) ?? "writing failed"; // a temporary file is written next to it
}
