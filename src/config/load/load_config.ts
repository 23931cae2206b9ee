/**
 * Loads configurations from files; not available in browsers.
 * @module
 */
import type { FileSystem } from "../../contracts/runtime.ts";
import { MeshError } from "../../errors.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { loadDocument } from "./load.ts";
import { checkDocument, type CheckedDocument } from "./mesh_config.ts";

/** Connectors and files that configurations may use. */
export interface ConfigEnvironment {
  readonly known: KnownConnectors;
  /** File access; absent in browsers. */
  readonly files?: FileSystem;
}

/**
 * Reads and validates a configuration file.
 *
 * @param path Path of the file; it ends in `.yaml`, `.yml` or `.json`.
 * @throws {ConfigError} If the configuration is invalid; lists every problem with its path.
 */
export async function loadConfig(path: string, { known, files }: ConfigEnvironment): Promise<CheckedDocument> {
  if (files === undefined) throw new MeshError(`Cannot load configuration "${path}": this runtime has no file access`);
  return checkDocument(await loadDocument(path, files), { known, source: path });
}
