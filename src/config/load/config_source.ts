/**
 * A configuration in any form that a program may pass: path, document, or `MeshConfig`.
 * @module
 */
import type { ConfigDocument } from "../../contracts/config_document.ts";
import type { FileSystem } from "../../contracts/runtime.ts";
import { ConfigError } from "../../errors.ts";
import { loadDocument } from "./load.ts";
import type { MeshConfigBase } from "./mesh_config.ts";

/** The path of a `.yaml`, `.yml` or `.json` file, a document as an object, or a `MeshConfig`. */
export type ConfigSource = string | ConfigDocument | MeshConfigBase;

/** A document and its origin. */
export interface SourcedDocument {
  readonly document: unknown;
  /** Path of its file; undefined for an object. */
  readonly source?: string;
}

/**
 * The document of a configuration that needs no file; undefined for a path.
 *
 * @param config The configuration, unvalidated: JavaScript programs may pass anything.
 */
export function givenDocument(config: unknown): SourcedDocument | undefined {
  if (typeof config === "string") return undefined;
  if (!isMeshConfig(config)) return { document: config };
  const { document, source } = config;
  return source === undefined ? { document } : { document, source };
}

/**
 * The document of a configuration, read from its file if needed.
 *
 * @param files Undefined in runtimes without files.
 * @throws {ConfigError} If the file cannot be read, or is not a document.
 */
export async function readSource(config: unknown, files: FileSystem | undefined): Promise<SourcedDocument> {
  const given = givenDocument(config);
  if (given !== undefined) return given;
  const path = config as string;
  if (files !== undefined) return { document: await loadDocument(path, files), source: path };
  throw new ConfigError(
    [{ path: "", message: "this runtime has no files: pass the configuration as an object" }],
    path,
  );
}

/** Checked by members rather than class: the class may belong to another entry or copy of this package. */
function isMeshConfig(config: unknown): config is MeshConfigBase {
  const isObject = typeof config === "object" && config !== null;
  return isObject && "toYaml" in config && typeof config.toYaml === "function" && "document" in config;
}
