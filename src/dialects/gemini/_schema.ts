/**
 * Converts Gemini's schemas, a subset of OpenAPI 3.0, to JSON Schema. JSON Schema passes through; Google's API also
 * accepts the types of its own schemas there (`OBJECT`), which its clients send.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { isObject } from "../../util/is_object.ts";

/** 64-bit keywords, which Gemini encodes as strings. */
const counts: ReadonlySet<string> = new Set([
  ...["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"],
]);

/** Keywords without a meaning in JSON Schema. */
const own: ReadonlySet<string> = new Set(["propertyOrdering", "example", "nullable"]);

/** Keywords whose values are data, in which nothing is a keyword. */
const data: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** Keywords with a schema for each of their members. */
const groups: ReadonlySet<string> = new Set([
  ...["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"],
]);

const snakeCase = /_([a-z])/g;

/**
 * Converts a schema.
 *
 * @param schema A Gemini schema, in camelCase or snake_case, or JSON Schema.
 */
export function convertSchema(schema: JsonObject): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(schema).map((
      [name, value],
    ) => [name.replace(snakeCase, (_, letter) => letter.toUpperCase()), value]),
  );
  const kept = Object.entries(fields).filter(([name, value]) =>
    !own.has(name) && (value !== null || data.has(name)) && value !== "TYPE_UNSPECIFIED"
  );
  const result: JsonObject = Object.fromEntries(kept.map(([name, value]) => [name, keyword(name, value)]));
  if (result.format === "enum" || result.format === "") delete result.format;
  return fields.nullable === true ? nullable(result) : result;
}

function keyword(name: string, value: unknown): unknown {
  if (name === "type") return Array.isArray(value) ? value.map(toTypeName) : toTypeName(value);
  if (counts.has(name) && typeof value === "string") return Number(value);
  if (data.has(name)) return value;
  if (groups.has(name) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, withPlainSchema(inner)]));
  }
  return Array.isArray(value) ? value.map(withPlainSchema) : withPlainSchema(value);
}

function withPlainSchema(value: unknown): unknown {
  return isObject(value) ? convertSchema(value) : value;
}

function toTypeName(type: unknown): unknown {
  return typeof type === "string" ? type.toLowerCase() : type;
}

function nullable(schema: JsonObject): JsonObject {
  const { type, anyOf, enum: values } = schema;
  return {
    ...schema,
    ...(typeof type === "string" ? { type: [type, "null"] } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: [...anyOf, { type: "null" }] } : {}),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  };
}
