/**
 * Adapts a JSON Schema to Claude's structured output and strict tools: objects are closed, and constraints that the
 * grammar does not support are moved into descriptions.
 *
 * Source: https://platform.claude.com/docs/en/build-with-claude/structured-outputs, "JSON Schema limitations"
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { isObject } from "../../src/util/is_object.ts";

const plainKeywords = ["$ref", "type", "enum", "const", "title", "default", "required"];
const listKeywords = ["anyOf", "allOf"];
const mapKeywords = ["properties", "$defs", "definitions"];
const textFormats = [
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "uri",
  "ipv4",
  "ipv6",
  "uuid",
];

/** Rewrites a schema. It accepts the same values, except for constraints that become descriptions. */
export function closedSchema(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  const advice: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) assignKeyword(keyword, value, { closed, advice });
  if (closed.type === "object" || closed.properties !== undefined) {
    closed.additionalProperties = schema.additionalProperties ?? false;
  }
  const words = [
    schema.description,
    ...Object.entries(advice).map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
  const description = words.filter((word) => typeof word === "string" && word !== "").join("\n");
  if (description !== "") closed.description = description;
  return closed;
}

function assignKeyword(
  keyword: string,
  value: unknown,
  { closed, advice }: { readonly closed: JsonObject; readonly advice: JsonObject },
): void {
  if (keyword === "description" || keyword === "additionalProperties" || keyword === "$schema") return;
  if (plainKeywords.includes(keyword)) closed[keyword] = value;
  else if (listKeywords.includes(keyword) && Array.isArray(value)) closed[keyword] = value.map(closeAny);
  else if (keyword === "oneOf" && Array.isArray(value)) closed.anyOf = value.map(closeAny);
  else if (mapKeywords.includes(keyword) && isObject(value)) closed[keyword] = mapValues(value);
  else if (keyword === "items") closed.items = closeAny(value);
  else if (keyword === "format" && textFormats.includes(value as string)) closed.format = value;
  else if (keyword === "minItems" && (value === 0 || value === 1)) closed.minItems = value;
  else advice[keyword] = value;
}

function mapValues(map: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, closeAny(value)]));
}

function closeAny(value: unknown): unknown {
  return isObject(value) ? closedSchema(value) : value;
}
