/**
 * Converts Gemini's schemas, a subset of OpenAPI 3.0, to JSON Schema. Shared keywords are unchanged, so that JSON
 * Schema passes through.
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

const snakeCase = /_([a-z])/g;

/**
 * Converts a schema.
 *
 * @param schema A Gemini schema, in camelCase or snake_case.
 */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const fields = Object.fromEntries(
    Object.entries(schema).map((
      [name, value],
    ) => [name.replace(snakeCase, (_, letter) => letter.toUpperCase()), value]),
  );
  const kept = Object.entries(fields).filter(([name, value]) =>
    !own.has(name) && value !== null && value !== "TYPE_UNSPECIFIED"
  );
  const result: JsonObject = Object.fromEntries(kept.map(([name, value]) => [name, keyword(name, value)]));
  if (result.format === "enum" || result.format === "") delete result.format;
  return fields.nullable === true ? nullable(result) : result;
}

function keyword(name: string, value: unknown): unknown {
  if (name === "type" && typeof value === "string") return value.toLowerCase();
  if (counts.has(name) && typeof value === "string") return Number(value);
  if (name === "items" && isObject(value)) return jsonSchemaOf(value);
  if (name === "anyOf" && Array.isArray(value)) return value.map((one) => isObject(one) ? jsonSchemaOf(one) : one);
  if (name === "properties" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([property, inner]) => [property, isObject(inner) ? jsonSchemaOf(inner) : inner]),
    );
  }
  return value;
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
