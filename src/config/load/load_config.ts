/**
 * Configurations from files, which browsers do not have.
 * @module
 */
import type { FileSystem } from "../../contracts/runtime.ts";
import { MeshError } from "../../errors.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { loadDocument } from "./load.ts";
import { checkDocument, type CheckedDocument } from "./mesh_config.ts";

/** What configurations are checked against, and read from. */
export interface ConfigEnvironment {
  /** The connectors they may name. */
  readonly known: KnownConnectors;
  /** Where files are; absent in browsers. */
  readonly files?: FileSystem;
}

/**
 * Reads and checks a file.
 *
 * @param path A name that ends in `.yaml`, `.yml` or `.json`.
 * @param environment What it is checked against.
 * @throws {ConfigError} With everything that is wrong.
 */
export async function loadConfig(path: string, { known, files }: ConfigEnvironment): Promise<CheckedDocument> {
  if (files === undefined) throw new MeshError(`Cannot load configuration "${path}": there are no files here`);
  return checkDocument(await loadDocument(path, files), { known, source: path });
}
