/**
 * JSON Schemas within what the Gemini API understands of them. What it would reject, or pass over without a word,
 * is expressed in another way where there is one: references are resolved, `const` becomes `enum`, `allOf` is merged.
 *
 * Source: `responseJsonSchema` at https://ai.google.dev/api/generate-content, read 2026-11-21.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { requestFault } from "./_gemini_fault.ts";
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
const deepest = 100;
/** A few references to each other can stand for millions of nodes: beyond this they stay references. */
const maxInlined = 500;

/**
 * Cleans a schema.
 *
 * @param schema The schema; not changed.
 * @param param The request's field it stands in, for the error.
 * @throws {UpstreamError} `request` when it is nested too deeply.
 */
export function cleanSchema(schema: JsonObject, param: string): JsonObject {
  return new SchemaCleaner(schema, param).clean();
}

class SchemaCleaner {
  readonly #root: JsonObject;
  readonly #param: string;
  /** Schemas that stay behind a reference, by name. */
  readonly #kept = new Map<string, JsonObject>();
  #inlined = 0;

  constructor(root: JsonObject, param: string) {
    this.#root = root;
    this.#param = param;
  }

  clean(): JsonObject {
    const schema = this.#node(this.#root, [], 0);
    return this.#kept.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(this.#kept) };
  }

  /** `open`: the references being resolved around this node. */
  #node(value: unknown, open: readonly string[], depth: number): JsonObject {
    if (depth > deepest) {
      throw requestFault(`Cannot use a JSON Schema nested more than ${deepest} levels deep`, this.#param);
    }
    const node = asObject(value) ?? {};
    if (typeof node.$ref === "string") return this.#reference(node.$ref, node, open, depth);
    const own = this.#keywords(node, open, depth);
    if (!Array.isArray(node.allOf)) return own;
    return merged([own, ...node.allOf.map((member) => this.#node(member, open, depth + 1))]);
  }

  #reference(pointer: string, { $ref: _, ...beside }: JsonObject, open: readonly string[], depth: number): JsonObject {
    const target = asObject(resolve(this.#root, pointer));
    if (target === undefined) return this.#node(beside, open, depth + 1);
    if (!open.includes(pointer) && this.#inlined++ < maxInlined) {
      return this.#node({ ...target, ...beside }, [...open, pointer], depth + 1);
    }
    const name = pointer.replace(/[^A-Za-z0-9]+/g, "_");
    if (!this.#kept.has(name)) {
      this.#kept.set(name, {});
      this.#kept.set(name, this.#node(target, [pointer], depth + 1));
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
    // until 2019 a list of `items` meant what `prefixItems` means
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

/** The API takes strings and numbers; the type expresses null. */
function allowedValues({ enum: values, const: only }: JsonObject): unknown[] {
  const all = Array.isArray(values) ? values : only === undefined ? [] : [only];
  return all.filter((value) => typeof value === "string" || typeof value === "number");
}

/** One schema that asks for all that several ask for, as far as one can; a reference cannot stand beside others. */
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

/** Follows a pointer into the same document, such as `#/$defs/Person`. */
function resolve(root: JsonObject, pointer: string): unknown {
  if (pointer !== "#" && !pointer.startsWith("#/")) return undefined;
  let value: unknown = root;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}
