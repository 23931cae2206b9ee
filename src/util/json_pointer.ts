/**
 * JSON pointers (RFC 6901) within one document, as in the `$ref` of a JSON Schema.
 * @module
 */
import { isObject } from "./is_object.ts";

/**
 * Resolves a pointer.
 *
 * @param pointer A pointer in a URI fragment, such as `#/$defs/Person`.
 * @returns The value; undefined if there is none, or if the pointer refers to another document.
 */
export function resolvePointer(root: unknown, pointer: string): unknown {
  if (pointer !== "#" && !pointer.startsWith("#/")) return undefined;
  let value = root;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(value) && !Array.isArray(value) || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
