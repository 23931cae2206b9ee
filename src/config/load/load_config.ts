/**
 * Configurations from files, which browsers do not have.
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
  /** Where files are; absent in browsers. */
  readonly files?: FileSystem;
}

/**
 * Reads and validates a file.
 *
 * @param path A name that ends in `.yaml`, `.yml` or `.json`.
 * @throws {ConfigError} With every problem and its path.
 */
export async function loadConfig(path: string, { known, files }: ConfigEnvironment): Promise<CheckedDocument> {
  if (files === undefined) throw new MeshError(`Cannot load configuration "${path}": there are no files here`);
  return checkDocument(await loadDocument(path, files), { known, source: path });
}
