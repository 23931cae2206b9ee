/**
 * A configuration in whatever form a program has it: a file's path, a document, or a `MeshConfig`.
 * @module
 */
import type { ConfigDocument } from "../../contracts/config_document.ts";
import type { FileSystem } from "../../contracts/runtime.ts";
import { ConfigError } from "../../errors.ts";
import { loadDocument } from "./load.ts";
import type { MeshConfigBase } from "./mesh_config.ts";

/** The path of a `.yaml`, `.yml` or `.json` file, a document as an object, or what `MeshConfig` has loaded or parsed. */
export type ConfigSource = string | ConfigDocument | MeshConfigBase;

/** A document and its origin. */
export interface SourcedDocument {
  readonly document: unknown;
  /** Path of its file; undefined for an object. */
  readonly source?: string;
}

/**
 * A configuration that needs no file; undefined for a path.
 *
 * @param config Anything: programs in plain JavaScript pass what they like.
 */
export function givenDocument(config: unknown): SourcedDocument | undefined {
  if (typeof config === "string") return undefined;
  if (!isMeshConfig(config)) return { document: config };
  const { document, source } = config;
  return source === undefined ? { document } : { document, source };
}

/**
 * A configuration's document, read from its file where it is one.
 *
 * @param files Undefined in runtimes without files.
 * @throws {ConfigError} When the file cannot be read or is no document.
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

/** By its members: the class of another entry, or of another copy of this package, is as good. */
function isMeshConfig(config: unknown): config is MeshConfigBase {
  const isObject = typeof config === "object" && config !== null;
  return isObject && "toYaml" in config && typeof config.toYaml === "function" && "document" in config;
}
