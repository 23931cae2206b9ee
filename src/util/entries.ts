/**
 * Finds and selects members of objects, and groups items.
 * @module
 */

/**
 * Groups items by a key, in order. (`Map.groupBy` is missing in Node 20.)
 *
 * @param keyOf Returns the key of an item.
 */
export function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/**
 * Returns the members of an object that are not undefined.
 *
 * @param members The object, which is not modified.
 */
export function pickDefined<Members extends object>(members: Members): Members {
  const defined = {} as Members;
  for (const name of Object.keys(members) as (keyof Members)[]) {
    if (members[name] !== undefined) defined[name] = members[name];
  }
  return defined;
}

/** Returns the names of tags: of an object, `name=value`. */
export function listTags(tags: readonly string[] | Readonly<Record<string, string>>): readonly string[] {
  return Array.isArray(tags) ? tags : Object.entries(tags).map(([name, value]) => `${name}=${value}`);
}

/**
 * Returns the value of a key; undefined for an unknown one, such as `constructor`, which every object inherits.
 *
 * @param table Values by key.
 * @param key Any value. A number is equal to its digits.
 */
export function findOwn<Value>(table: Readonly<Record<string, Value>>, key: unknown): Value | undefined {
  const isKey = typeof key === "string" || typeof key === "number";
  return isKey && Object.hasOwn(table, key) ? table[key] : undefined;
}
