/**
 * Keys of the configuration from the schema, with their descriptions.
 * @module
 */
import type { Field, Shape } from "../../src/config/schema/field.ts";
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

/**
 * Returns all keys; those of an object follow it.
 *
 * @throws {Error} When a key has no comment, or a comment has no key.
 */
export function readKeys(): readonly Key[] {
  const comments = new Map(readComments());
  const fields = new Map(listFields(schema()));
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
export function* listFields({ shape }: Field, path = ""): Generator<[path: string, field: Field]> {
  for (const [key, field] of Object.entries(shape.fields ?? {})) {
    const fullPath = path === "" ? key : `${path}.${key}`;
    yield [fullPath, field];
    yield* listFields(field, fullPath);
  }
  if (shape.item !== undefined) yield* listFields(shape.item, shape.type === "map" ? `${path}.*` : path);
  for (const option of shape.options ?? []) yield* listFields(option, path);
}

/**
 * Returns the default of a key as it would be written.
 *
 * @param shape The shape of its field.
 */
export function writtenDefault({ type, default: standard, options = [] }: Shape): unknown {
  if (standard === undefined) return options.map(({ shape }) => writtenDefault(shape)).find((one) => one !== undefined);
  if (type === "duration") return formatDuration(Number(standard));
  return type === "size" ? formatSize(Number(standard)) : standard;
}

function formatSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let [size, unit] = [bytes, 0];
  for (; size % 1024 === 0 && unit < units.length - 1; unit++) size /= 1024;
  return `${size}${units[unit]}`;
}
