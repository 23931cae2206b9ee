/**
 * Reduces JSON Schemas to the subset that the Gemini API supports. Keywords that it would reject or ignore are
 * rewritten where possible: references are resolved, `const` becomes `enum`, `allOf` is merged.
 *
 * Source: `responseJsonSchema` at https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { resolvePointer } from "../../src/util/json_pointer.ts";
import { createRequestFault } from "./_gemini_fault.ts";
import { asObject } from "./_gemini_wire.ts";

const copied: readonly string[] = [
  "type",
  "title",
  "description",
  "minItems",
  "maxItems",
  "minimum",
  "maximum",
  "propertyOrdering",
];
const formats: readonly unknown[] = ["date-time", "date", "time", "int32", "int64", "float", "double"];
const maxDepth = 100;
/**
 * Maximum number of inlined references. Mutual references can expand exponentially; beyond the limit they stay
 * references.
 */
const maxInlined = 500;
/** Number of schemas in a result after which no more references are replaced: each may stand for many. */
const maxNodes = 20_000;

/**
 * Rewrites a schema.
 *
 * @param schema The schema; not modified.
 * @param param The request parameter, for error messages.
 * @throws {UpstreamError} `request` if it is nested too deeply.
 */
export function cleanSchema(schema: JsonObject, param: string): JsonObject {
  return new SchemaCleaner(schema, param).clean();
}

class SchemaCleaner {
  readonly #root: JsonObject;
  readonly #param: string;
  /** Schemas that stay referenced, by name. */
  readonly #referenced = new Map<string, JsonObject>();
  #inlined = 0;
  #nodes = 0;

  constructor(root: JsonObject, param: string) {
    this.#root = root;
    this.#param = param;
  }

  clean(): JsonObject {
    const schema = this.#node(this.#root, [], 0);
    return this.#referenced.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(this.#referenced) };
  }

  /** @param open The references that are being resolved around this node. */
  #node(value: unknown, open: readonly string[], depth: number): JsonObject {
    if (depth > maxDepth) {
      throw createRequestFault(`Cannot use a JSON Schema nested more than ${maxDepth} levels deep`, this.#param);
    }
    this.#nodes++;
    const node = asObject(value) ?? {};
    if (typeof node.$ref === "string") return this.#reference(node.$ref, node, { open, depth });
    const own = this.#keywords(node, open, depth);
    if (!Array.isArray(node.allOf)) return own;
    return merged([own, ...node.allOf.map((member) => this.#node(member, open, depth + 1))]);
  }

  #reference(
    pointer: string,
    { $ref: _, ...beside }: JsonObject,
    { open, depth }: { readonly open: readonly string[]; readonly depth: number },
  ): JsonObject {
    const target = asObject(resolvePointer(this.#root, pointer));
    if (target === undefined) return this.#node(beside, open, depth + 1);
    if (!open.includes(pointer) && this.#nodes < maxNodes && this.#inlined++ < maxInlined) {
      return this.#node({ ...target, ...beside }, [...open, pointer], depth + 1);
    }
    const name = pointer.replace(/[^A-Za-z0-9]+/g, "_");
    if (!this.#referenced.has(name)) {
      this.#referenced.set(name, {});
      this.#referenced.set(name, this.#node(target, [pointer], depth + 1));
    }
    return { $ref: `#/$defs/${name}` };
  }

  #keywords(node: JsonObject, open: readonly string[], depth: number): JsonObject {
    const inner = (value: unknown) => this.#node(value, open, depth + 1);
    const schema: JsonObject = {};
    for (const name of copied) if (node[name] !== undefined) schema[name] = node[name];
    if (formats.includes(node.format)) schema.format = node.format;
    for (const name of ["anyOf", "oneOf", "prefixItems"]) {
      const list = node[name];
      if (Array.isArray(list)) schema[name] = list.map(inner);
    }
    // before draft 2020-12, an array `items` meant `prefixItems`
    if (Array.isArray(node.items)) schema.prefixItems = node.items.map(inner);
    else if (node.items !== undefined) schema.items = inner(node.items);
    const { additionalProperties: others, required } = node;
    if (others !== undefined) schema.additionalProperties = typeof others === "boolean" ? others : inner(others);
    const properties = asObject(node.properties);
    if (properties !== undefined) {
      schema.properties = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, inner(value)]));
    }
    if (Array.isArray(required)) schema.required = required;
    const values = allowedValues(node);
    return values.length === 0 ? schema : { ...schema, enum: values };
  }
}

/** The API supports strings and numbers; null is expressed by the type. */
function allowedValues({ enum: values, const: only }: JsonObject): unknown[] {
  const all = Array.isArray(values) ? values : only === undefined ? [] : [only];
  return all.filter((value) => typeof value === "string" || typeof value === "number");
}

/** Merges schemas into one that requires all of them, as far as possible; a `$ref` excludes other keywords. */
function merged(all: readonly JsonObject[]): JsonObject {
  const schemas = all.filter((schema) => Object.keys(schema).length > 0);
  if (schemas.length < 2) return schemas[0] ?? {};
  const plain = schemas.filter(({ $ref }) => $ref === undefined);
  const union: JsonObject = Object.assign({}, ...plain);
  const properties = plain.flatMap((schema) => Object.entries(asObject(schema.properties) ?? {}));
  const required = plain.flatMap((schema) => Array.isArray(schema.required) ? schema.required : []);
  if (properties.length > 0) union.properties = Object.fromEntries(properties);
  if (required.length > 0) union.required = [...new Set(required)];
  return union;
}
