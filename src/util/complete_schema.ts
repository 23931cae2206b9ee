/**
 * Completes JSON Schemas for vendors that reject what the standard permits.
 * @module
 */
import { isObject } from "./is_object.ts";
import { mapItems, mapMembers } from "./map_members.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Levels of nesting that are completed. */
const maxDepth = 100;

const combining = ["anyOf", "oneOf", "allOf"];
/** Keywords whose schemas apply to the same object, and may name its properties. */
const sameObject: ReadonlySet<string> = new Set([...combining, "not", "if", "then", "else"]);
/** Keywords with a schema, or a list of schemas. */
const schemaKeywords = [
  ...sameObject,
  ...["items", "prefixItems", "contains", "additionalProperties", "propertyNames"],
];
/** Keywords with an object of schemas. */
const mapKeywords = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/**
 * Adds `items` to arrays without, and removes names from `required` that have no property.
 *
 * @param schema Any value; one that is not an object is returned.
 * @returns The same object if it is complete.
 */
export function completeSchema(schema: unknown): unknown {
  return completeNode(schema, [], 0);
}

/** @param outer The properties of the schemas around this one that apply to the same object. */
function completeNode(schema: unknown, outer: readonly Schema[], depth: number): unknown {
  if (!isObject(schema) || depth > maxDepth) return schema;
  const properties = isObject(schema.properties) ? [...outer, schema.properties] : outer;
  const maps: Record<string, (value: unknown) => unknown> = {};
  for (const keyword of schemaKeywords) {
    const inner = (value: unknown) => completeNode(value, sameObject.has(keyword) ? properties : [], depth + 1);
    maps[keyword] = (value) => Array.isArray(value) ? mapItems(value, inner) : inner(value);
  }
  const toInner = (value: unknown) => completeNode(value, [], depth + 1);
  for (const keyword of mapKeywords) {
    maps[keyword] = (value) =>
      mapMembers(value, Object.fromEntries(Object.keys(Object(value)).map((name) => [name, toInner])));
  }
  maps.required = (names) => withProperties(names, schema, properties);
  const completed = mapMembers(schema, maps) as Schema;
  return lacksItems(schema) ? { ...completed, items: {} } : completed;
}

/** A reference may define any property. */
function withProperties(names: unknown, schema: Schema, declared: readonly Schema[]): unknown {
  if (!Array.isArray(names) || schema.$ref !== undefined) return names;
  const members = combining.flatMap((keyword) => Array.isArray(schema[keyword]) ? schema[keyword] : []).filter(
    isObject,
  );
  if (members.some(({ $ref }) => $ref !== undefined)) return names;
  const inMembers = new Set(members.flatMap(({ properties }) => Object.keys(Object(properties))));
  const isDefined = (name: unknown) =>
    typeof name === "string" && (inMembers.has(name) || declared.some((properties) => Object.hasOwn(properties, name)));
  const defined = names.filter(isDefined);
  return defined.length === names.length ? names : defined.length === 0 ? undefined : defined;
}

function lacksItems({ type, items, prefixItems }: Schema): boolean {
  const isArray = type === "array" || Array.isArray(type) && type.includes("array");
  return isArray && items === undefined && prefixItems === undefined;
}
