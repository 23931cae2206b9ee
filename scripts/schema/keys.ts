/**
 * Keys of the configuration from the schema, with their descriptions.
 * @module
 */
import type { Field } from "../../src/config/schema/field.ts";
import { schema } from "../../src/config/schema/schema.ts";
import { formatDuration } from "../../src/config/schema/units.ts";
import { readComments } from "./comments.ts";

/** A key. */
export interface Key {
  /** Its dotted path; `*` stands for names. */
  readonly path: string;
  /** Its field. */
  readonly field: Field;
  /** Its description. */
  readonly about: string;
}

/** A document, and the folder with its schema. */
export interface SchemaSource {
  /** The document. */
  readonly schema: Field;
  /** Folder with the comments of its keys; ends in a slash. */
  readonly folder: URL;
}

const folder = new URL("../../src/config/schema/", import.meta.url);

/**
 * Returns all keys; those of an object follow it.
 *
 * @param source Where they are.
 * @throws {Error} When a key has no comment, or a comment has no key.
 */
export function readKeys(source: SchemaSource = { schema, folder }): readonly Key[] {
  const comments = new Map(readComments(source.folder));
  const fields = new Map(listFields(source.schema));
  const keys = [...fields].map(([path, field]) => {
    const about = comments.get(path);
    if (about === undefined) throw new Error(`No comment was found for "${path}"`);
    comments.delete(path);
    return { path, field, about };
  });
  for (const path of comments.keys()) throw new Error(`The schema has no key "${path}", though a comment was found`);
  return keys;
}

/** Returns the keys within a field. */
export function* listFields(
  { type, fields = {}, item, options }: Field,
  path = "",
): Generator<[path: string, field: Field]> {
  for (const [key, field] of Object.entries(fields)) {
    const fullPath = path === "" ? key : `${path}.${key}`;
    yield [fullPath, field];
    yield* listFields(field, fullPath);
  }
  if (item !== undefined) yield* listFields(item, type === "list" ? path : `${path}.*`);
  for (const option of options ?? []) yield* listFields(option, path);
}

/**
 * Returns a default as it would be written.
 *
 * @param field What has it: a key, or an attribute of a connector.
 */
export function writtenDefault(
  { type, default: defaultValue }: { readonly type: string | readonly string[]; readonly default?: unknown },
): unknown {
  if (defaultValue === undefined) return undefined;
  if (type === "duration") return formatDuration(Number(defaultValue));
  return type === "size" ? formatSize(Number(defaultValue)) : defaultValue;
}

function formatSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let [size, unit] = [bytes, 0];
  for (; size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
  return `${size}${units[unit]}`;
}
