/**
 * Serialization formats of records.
 * @module
 */
import { ConnectorError } from "../errors.ts";
import { importStd } from "../util/import_std.ts";

/** The formats of `storage.persistence.format`. */
export type RecordFormat = "json" | "yaml" | "msgpack";

/** Optional packages; tests replace them. */
export interface FormatModules {
  readonly yaml: () => Promise<{
    parse(text: string, options?: { schema?: "json" }): unknown;
    stringify(value: unknown, options?: { schema?: "json"; lineWidth?: number }): string;
  }>;
  readonly msgpack: () => Promise<{ decode(bytes: Uint8Array): unknown; encode(value: unknown): Uint8Array }>;
}

export const formatModules: FormatModules = {
  yaml: () => importStd(() => import("@std/yaml"), "yaml/mod.ts"),
  // deno-lint-ignore no-import-prefix -- see CONTRIBUTING: the import map has no npm packages
  msgpack: () => import("npm:@msgpack/msgpack@3.1.3").catch(rethrow),
};

/** Bundlers accept a missing package only if the import is caught. */
function rethrow(error: unknown): never {
  throw error;
}

const installs: Readonly<Record<keyof FormatModules, string>> = {
  yaml: 'the module "@std/yaml" is not installed: add it with "deno add jsr:@std/yaml" or "npx jsr add @std/yaml"',
  msgpack: 'the package "@msgpack/msgpack" is not installed: add it with "npm install @msgpack/msgpack"',
};

/**
 * Encodes JSON in another format.
 *
 * @throws {ConnectorError} If its module is missing.
 */
export async function fromJson(json: Uint8Array, format: RecordFormat, modules: FormatModules): Promise<Uint8Array> {
  if (format === "json") return json;
  const value = JSON.parse(new TextDecoder().decode(json));
  if (format === "msgpack") return (await openFormat("msgpack", modules)).encode(value);
  const { stringify } = await openFormat("yaml", modules);
  return new TextEncoder().encode(stringify(value, { schema: "json", lineWidth: Infinity }));
}

/**
 * Decodes a record; its format is recognized by its first byte.
 *
 * @returns The value as JSON.
 * @throws {ConnectorError} If its module is missing. A damaged record throws the module's own error.
 */
export async function toJson(bytes: Uint8Array, modules: FormatModules): Promise<Uint8Array> {
  const [first = 0x7b] = bytes;
  if (first === 0x7b) return bytes;
  const isMap = first >= 0x80 && first <= 0x8f || first === 0xde || first === 0xdf;
  if (isMap) return toJsonBytes((await openFormat("msgpack", modules)).decode(bytes));
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const value = (await openFormat("yaml", modules)).parse(text, { schema: "json" });
  if (typeof value !== "object") throw new TypeError("It is a string, not a record"); // any text is valid YAML
  return toJsonBytes(value);
}

function toJsonBytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/**
 * Imports the package of a format.
 *
 * @throws {ConnectorError} If its module is missing.
 */
export async function loadFormat(format: RecordFormat): Promise<void> {
  if (format !== "json") await openFormat(format, formatModules);
}

async function openFormat<Name extends keyof FormatModules>(
  name: Name,
  modules: FormatModules,
): Promise<Awaited<ReturnType<FormatModules[Name]>>> {
  try {
    return await modules[name]() as Awaited<ReturnType<FormatModules[Name]>>;
  } catch (cause) {
    const hint = "or set storage.persistence.format to json";
    throw new ConnectorError(`Cannot use the format "${name}": ${installs[name]}, ${hint}`, cause);
  }
}
