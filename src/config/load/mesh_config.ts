/**
 * A validated configuration. The entry points bind it to their connectors and files.
 * @module
 */
import { type ConfigProblem, MeshError } from "../../errors.ts";
import { under } from "../schema/report.ts";
import { copyTree, deepFreeze } from "../schema/tree.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { Settings } from "../settings/settings.ts";
import { validate } from "../build/validate.ts";
import type { FileSystem } from "../../contracts/runtime.ts";

/** A valid document, and its settings. */
export interface CheckedDocument {
  readonly document: Readonly<Record<string, unknown>>;
  readonly settings: Settings;
}

/**
 * Validates a document, which is copied.
 *
 * @throws {ConfigError} If the document is invalid; lists every problem with its path.
 */
export function checkDocument(
  document: unknown,
  options: { readonly knownConnectors: KnownConnectors; readonly source?: string },
): CheckedDocument {
  return checkedDocument(document, validate(document, options));
}

/** Copies a document and pairs it with its settings: later modifications by the program have no effect. */
export function checkedDocument(document: unknown, settings: Settings): CheckedDocument {
  const copy = copyTree(document, () => {}, "") as Readonly<Record<string, unknown>>;
  return { document: deepFreeze(copy), settings };
}

/**
 * Base class of `MeshConfig`, without connectors and files. Each entry point derives its own, whose `parse` and `load`
 * know the connectors of that entry point.
 */
export class MeshConfigBase {
  readonly #checked: CheckedDocument;

  /**
   * Called by `load` and `parse`.
   *
   * @param checked A valid document.
   * @internal
   */
  constructor(checked: CheckedDocument) {
    this.#checked = checked;
  }

  /** Warnings about valid but questionable settings, such as ones without effect. */
  get warnings(): readonly ConfigProblem[] {
    return this.#checked.settings.warnings;
  }

  /** Path of its file; undefined if there is none. */
  get source(): string | undefined {
    return this.#checked.settings.source;
  }

  /** The document as written, frozen, with unresolved secret references. */
  get document(): Readonly<Record<string, unknown>> {
    return this.#checked.document;
  }

  /** Serializes the document as YAML. */
  toYaml(): string {
    return writeYaml(this.#writable());
  }

  /** Serializes the document as JSON. */
  toJson(): string {
    return `${JSON.stringify(this.#writable(), null, 2)}\n`;
  }

  #writable(): Readonly<Record<string, unknown>> {
    const path = findInstance(this.document, "");
    if (path === undefined) return this.document;
    throw new MeshError(
      `Cannot write the configuration: "${path}" is an object of the program, which a file cannot contain`,
    );
  }
}

/** The path of the first value that cannot be serialized. */
function findInstance(value: unknown, path: string): string | undefined {
  if (value === null || value === undefined || ["string", "number", "boolean"].includes(typeof value)) return undefined;
  const isPlain = Array.isArray(value) || typeof value === "object" && Object.getPrototypeOf(value) === null;
  if (!isPlain) return path;
  for (const [key, member] of Object.entries(value)) {
    const found = findInstance(member, Array.isArray(value) ? `${path}[${key}]` : under(path, key));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Connectors and files that configurations may use. */
export interface ConfigEnvironment {
  readonly knownConnectors: KnownConnectors;
  /** File access; absent in browsers. */
  readonly files?: FileSystem;
}

/**
 * Reads and validates a configuration file.
 *
 * @param path Path of the file; it ends in `.yaml`, `.yml` or `.json`.
 * @throws {ConfigError} If the configuration is invalid; lists every problem with its path.
 */
export async function loadConfig(
  path: string,
  { knownConnectors, files }: ConfigEnvironment,
): Promise<CheckedDocument> {
  if (files === undefined) throw new MeshError(`Cannot load configuration "${path}": this runtime has no file access`);
  const { loadDocument } = await import("./load.ts"); // imported on demand: a document may be an object
  return checkDocument(await loadDocument(path, files), { knownConnectors, source: path });
}

const plainText = /^[A-Za-z][A-Za-z0-9_./-]*$/;
const readAsOther = /^(?:true|false|yes|no|on|off|null|y|n)$/i;
const unprintable = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g;

/** Serializes plain values as YAML. Strings are quoted unless every parser reads them as strings. */
export function writeYaml(document: Readonly<Record<string, unknown>>): string {
  return `${lines(document).join("\n")}\n`;
}

function lines(value: unknown): string[] {
  if (Array.isArray(value)) return value.length === 0 ? ["[]"] : value.flatMap((item) => nest("-", lines(item)));
  if (typeof value !== "object" || value === null) return [scalar(value)];
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return ["{}"];
  return members.flatMap(([key, member]) => {
    const isBlock = typeof member === "object" && member !== null && Object.keys(member).length > 0;
    return isBlock
      ? [`${scalar(key)}:`, ...lines(member).map((line) => `  ${line}`)]
      : [`${scalar(key)}: ${lines(member)[0]}`];
  });
}

function nest(mark: string, [first = "", ...others]: readonly string[]): string[] {
  return [`${mark} ${first}`, ...others.map((line) => `  ${line}`)];
}

function scalar(value: unknown): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "null";
  if (plainText.test(value) && !readAsOther.test(value)) return value;
  return JSON.stringify(value).replace(unprintable, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
