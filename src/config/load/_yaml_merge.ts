/**
 * Merge keys of YAML: `<<` stands for the members of the objects that it names.
 * @module
 */
import { describeType, type Report, under } from "../schema/report.ts";
import { isPlainObject } from "../schema/tree.ts";

const mergeKey = "<<";

/**
 * Replaces merge keys by the members that they stand for. An object's own members take precedence, then those of earlier
 * objects.
 *
 * @param document A parsed document without cycles.
 * @param report Collects merge keys that name no object.
 */
export function mergeKeys(document: unknown, report: Report): unknown {
  const merged = new Map<object, unknown>();
  return merge(document, "");

  function merge(value: unknown, path: string): unknown {
    if (!Array.isArray(value) && !isPlainObject(value)) return value;
    if (merged.has(value)) return merged.get(value); // an alias
    const result = Array.isArray(value)
      ? value.map((item, index) => merge(item, `${path}[${index}]`))
      : mergeObject(value, path);
    merged.set(value, result);
    return result;
  }

  function mergeObject(value: Readonly<Record<string, unknown>>, path: string): Record<string, unknown> {
    const own = new Map(
      Object.entries(value).filter(([key]) => key !== mergeKey).map(([key, member]) => {
        return [key, merge(member, under(path, key))] as const;
      }),
    );
    const sources = Object.hasOwn(value, mergeKey) ? [value[mergeKey]].flat() : [];
    for (const source of sources) {
      const from = merge(source, under(path, mergeKey));
      if (!isPlainObject(from)) {
        report.problem(
          under(path, mergeKey),
          `expected an object to merge, or a list of objects, found ${describeType(from)}`,
        );
        continue;
      }
      for (const [key, member] of Object.entries(from)) if (!own.has(key)) own.set(key, member);
    }
    return Object.fromEntries(own);
  }
}
