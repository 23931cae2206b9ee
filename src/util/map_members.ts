/**
 * Maps parts of JSON values. Whatever does not change stays the same object.
 * @module
 */
import { isObject } from "./is_object.ts";

/**
 * Maps the items of an array.
 *
 * @param value Any value; one that is not an array is returned.
 * @param map Maps an item.
 * @returns The same array if no item changes.
 */
export function mapItems(value: unknown, map: (item: unknown) => unknown): unknown {
  if (!Array.isArray(value)) return value;
  let copy: unknown[] | undefined;
  for (let at = 0; at < value.length; at++) {
    const mapped = map(value[at]);
    if (mapped !== value[at]) (copy ??= [...value])[at] = mapped;
  }
  return copy ?? value;
}

/**
 * Maps members of an object.
 *
 * @param value Any value; one that is not an object is returned.
 * @param maps Functions that map a member, by name. A missing member stays missing; a result of undefined removes it.
 * @returns The same object if no member changes.
 */
export function mapMembers(value: unknown, maps: Readonly<Record<string, (member: unknown) => unknown>>): unknown {
  if (!isObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(maps)) {
    if (!Object.hasOwn(value, name)) continue;
    const mapped = maps[name]!(value[name]);
    if (mapped === value[name]) continue;
    copy ??= { ...value };
    if (mapped === undefined) delete copy[name];
    else copy[name] = mapped;
  }
  return copy ?? value;
}
