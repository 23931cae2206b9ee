/**
 * Merges the parameters of a tool into one object, for vendors that reject combined schemas.
 * @module
 */
import { isObject } from "./is_object.ts";
import { resolvePointer } from "./json_pointer.ts";

type ParameterSchema = Readonly<Record<string, unknown>>;

/** Levels of combined schemas that are merged. */
const maxDepth = 20;
/** Maximum size of what is merged, characters: references may repeat it. */
const maxMergedChars = 1_000_000;
/** What a schema counts in addition to its properties. */
const schemaChars = 50;

/** An object as a schema describes it. */
interface ObjectShape {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<unknown>;
}

/**
 * Puts the target in place of a reference at the top level, and merges `anyOf`, `oneOf` and `allOf` there into the properties of one object, which accepts at least the same
 * values. A property is required if every alternative requires it.
 *
 * @param schema The parameters of a tool; not modified.
 * @returns The same object if there is nothing to merge.
 */
export function mergeParameters(schema: ParameterSchema): ParameterSchema {
  const plain = withoutReference(schema);
  const { anyOf, oneOf, allOf, $ref: _, ...others } = plain;
  if (![anyOf, oneOf, allOf].some(Array.isArray)) return plain;
  const { properties, required } = new Merger(schema).read(plain, 0);
  return {
    ...others,
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

/** Follows references at the top level; one that has no target, or leads back to itself, stays. */
function withoutReference(schema: ParameterSchema): ParameterSchema {
  let plain = schema;
  for (let depth = 0; typeof plain.$ref === "string" && depth < maxDepth; depth++) {
    const { $ref, ...others } = plain;
    const target = resolvePointer(schema, $ref as string);
    if (!isObject(target)) return schema;
    plain = { ...target, ...others };
  }
  return typeof plain.$ref === "string" ? schema : plain;
}

class Merger {
  readonly #root: ParameterSchema;
  #mergedChars = 0;

  /** @param root The document to which references refer. */
  constructor(root: ParameterSchema) {
    this.#root = root;
  }

  read({ $ref, properties, required, anyOf, oneOf, allOf }: ParameterSchema, depth: number): ObjectShape {
    const target = typeof $ref === "string" ? resolvePointer(this.#root, $ref) : undefined;
    const shapes: ObjectShape[] = [{
      properties: new Map(Object.entries(Object(properties))),
      required: new Set(Array.isArray(required) ? required : []),
    }];
    for (const part of toObjects([target, ...toList(allOf)])) shapes.push(...this.#readInner(part, depth));
    for (const alternatives of [anyOf, oneOf]) {
      const each = toObjects(toList(alternatives)).flatMap((alternative) => this.#readInner(alternative, depth));
      if (each.length > 0) shapes.push({ properties: this.#combine(each, "anyOf"), required: findCommon(each) });
    }
    if (shapes.length === 1) return shapes[0]!;
    const all = new Set(shapes.flatMap((shape) => [...shape.required]));
    return { properties: this.#combine(shapes, "allOf"), required: all };
  }

  #readInner(schema: ParameterSchema, depth: number): readonly ObjectShape[] {
    this.#mergedChars += schemaChars;
    if (depth === maxDepth || this.#mergedChars > maxMergedChars) return [];
    return [this.read(schema, depth + 1)];
  }

  /** @param keyword Combines different schemas of one property. */
  #combine(shapes: readonly ObjectShape[], keyword: "anyOf" | "allOf"): ReadonlyMap<string, unknown> {
    const all = new Map<string, Map<string, unknown>>();
    for (const { properties } of shapes) {
      for (const [name, schema] of properties) {
        if (this.#mergedChars > maxMergedChars) break;
        const text = JSON.stringify(schema) ?? "";
        this.#mergedChars += text.length;
        const distinct = all.get(name) ?? new Map();
        all.set(name, distinct.set(text, schema));
      }
    }
    return new Map(Array.from(all, ([name, distinct]) => {
      const schemas = [...distinct.values()];
      return [name, schemas.length === 1 ? schemas[0] : { [keyword]: schemas }];
    }));
  }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The schemas that an object may match; `null` is a common alternative. */
function toObjects(schemas: readonly unknown[]): readonly ParameterSchema[] {
  return schemas.filter(isObject).filter(({ type = "object" }) => type === "object" || toList(type).includes("object"));
}

/** The properties that every alternative requires. */
function findCommon([first, ...others]: readonly ObjectShape[]): ReadonlySet<unknown> {
  return new Set([...first!.required].filter((name) => others.every(({ required }) => required.has(name))));
}
