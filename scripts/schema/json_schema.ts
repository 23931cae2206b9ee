/**
 * JSON Schema of the configuration, for editors. Every key has one definition under its path; nested and dotted
 * spellings refer to it. Constraints between parts of a document are left to `modelmesh check`.
 * @module
 */
import type { Field } from "../../src/config/schema/field.ts";
import { schema } from "../../src/config/schema/schema.ts";
import { durationPattern, maxUnitLength, sizePattern } from "../../src/config/schema/units.ts";
import { suggestionsFor } from "./connectors.ts";
import { type Key, writtenDefault } from "./keys.ts";

/** A JSON Schema, or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The draft with the best editor support. */
const draft = "http://json-schema.org/draft-07/schema#";
const names = { maxLength: 200, pattern: "^\\S(?:.*\\S)?$" };

/**
 * Returns the schema of a document.
 *
 * @param keys All keys.
 * @param document The document.
 */
export function jsonSchema(keys: readonly Key[], document: Field = schema): JsonSchema {
  return {
    $schema: draft,
    title: "Configuration of ModelMesh",
    ...toSchema(document, ""),
    type: "object",
    definitions: Object.fromEntries(keys.flatMap((key) => [[key.path, toDefinition(key)], ...toEntrySchema(key)])),
  };
}

/** Returns the schema of a section's entries. */
function toEntrySchema({ path, field: { type, item } }: Key): [path: string, entry: JsonSchema][] {
  return type === "map" && item?.fields ? [[`${path}.*`, toSchema(item, `${path}.*`)]] : [];
}

/** Returns the schema of an entry. */
function itemOf({ item }: Field, path: string): JsonSchema {
  return item!.fields ? reference(path, "*") : toSchema(item!, path);
}

function toDefinition({ path, field, about }: Key): JsonSchema {
  const defaultValue = writtenDefault(field);
  const names = suggestionsFor(path);
  const isMap = field.type === "map";
  return {
    description: about,
    ...toSchema(field, path),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
    ...(names.length === 0 || isMap ? {} : { examples: names }),
    ...(names.length > 0 && isMap
      ? { properties: Object.fromEntries(names.map((name) => [name, reference(path, "*")])) }
      : {}),
  };
}

function toSchema(field: Field, path: string): JsonSchema {
  switch (field.type) {
    case "text":
      return { type: "string", pattern: "\\S" };
    case "flag":
      return orReference({ type: "boolean" }, path);
    case "integer":
    case "number":
      return orReference({ type: field.type, ...toRangeSchema(field) }, path);
    case "duration":
      return {
        ...written(durationPattern, field, path),
        ...errorMessage('Write a duration such as "500ms" or "1h30m"'),
      };
    case "size":
      return { ...written(sizePattern, field, path), ...errorMessage('Write a size such as "512MB" or "64KiB"') };
    case "choice":
      return { enum: field.values };
    case "list":
      return toListSchema(field, path);
    case "map":
    case "record":
      return { type: ["object", "null"], additionalProperties: itemOf(field, path), propertyNames: names };
    case "object":
      return objectSchema(field, path);
    case "either": {
      const [only, ...others] = field.options!.filter(isWritable).map((option) => toSchema(option, path));
      return others.length === 0 ? only! : { anyOf: [only, ...others] };
    }
    case "any":
      return { type: ["object", "null"] };
    case "instance":
      return { not: {} };
  }
}

function toListSchema({ item, min, isSingleAllowed }: Field, path: string): JsonSchema {
  const single = toSchema(item!, path);
  const many = { type: "array", items: single, ...(min ? { minItems: min } : {}) };
  return isSingleAllowed ? { anyOf: [single, many] } : many;
}

function objectSchema({ fields = {}, required, isOpen }: Field, path: string): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const patterns: Record<string, JsonSchema> = {};
  const writable = Object.entries(fields).filter(([, field]) => isWritable(field));
  for (const [key] of writable) properties[key] = reference(path, key);
  for (const [key, field] of writable) addDotted({ field, path: under(path, key), spelling: key });
  return {
    // an empty section is null in YAML
    type: required === undefined ? ["object", "null"] : "object",
    properties,
    ...(Object.keys(patterns).length === 0 ? {} : { patternProperties: patterns }),
    additionalProperties: isOpen === true,
    ...(required === undefined ? {} : { required }),
  };

  /** Adds the dotted spelling of nested keys. */
  function addDotted({ field, path, spelling }: { field: Field; path: string; spelling: string }): void {
    const { type, item, isOpen, isSingleAllowed } = field;
    for (const [key, inner] of Object.entries(field.fields ?? {})) {
      properties[`${spelling}.${key}`] = reference(path, key);
      addDotted({ field: inner, path: under(path, key), spelling: `${spelling}.${key}` });
    }
    const start = `^${spelling.replaceAll(".", "\\.")}\\.`;
    if (type === "any" || isOpen) patterns[start] = {};
    if (type === "map" || type === "record") patterns[start] = itemOf(field, path);
    if (isSingleAllowed) addDotted({ field: item!, path, spelling });
    for (const option of field.options ?? []) addDotted({ field: option, path, spelling });
  }
}

/** Whether a key can be written in a file. Some can be set by programs only. */
function isWritable({ type }: Field): boolean {
  return type !== "instance";
}

function under(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function reference(path: string, key: string): JsonSchema {
  return { $ref: `#/definitions/${encodeURIComponent(under(path, key))}` };
}

function toRangeSchema({ min, max, above }: Field): JsonSchema {
  return {
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
    ...(above === undefined ? {} : { exclusiveMinimum: above }),
  };
}

/** A string with a secret reference. */
const referencePattern = "\\$\\{secrets:[^}]+\\}";

/** Whether secret references are possible; the section of the store has none. */
function mayRefer(path: string): boolean {
  return !path.startsWith("secrets.");
}

/** Accepts a secret reference, too. */
function orReference(own: JsonSchema, path: string): JsonSchema {
  return mayRefer(path) ? { anyOf: [own, { type: "string", pattern: referencePattern }] } : own;
}

/** Returns a pattern. Numbers above 0 need a non-zero digit. */
function written({ source }: RegExp, { min = 1 }: Field, path: string): JsonSchema {
  const own = min > 0 ? source.replace("^", "^(?=.*[1-9])") : source;
  const bounded = own.replace("^", `^(?=.{1,${maxUnitLength}}$)`);
  return { type: "string", pattern: mayRefer(path) ? `${bounded}|${referencePattern}` : bounded };
}

/** Returns the error message for editors, instead of the pattern; other validators ignore it. */
function errorMessage(message: string): JsonSchema {
  return { patternErrorMessage: message };
}
