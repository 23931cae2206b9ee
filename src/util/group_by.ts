/**
 * Groups items.
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
    const known = groups.get(keyOf(item));
    if (known === undefined) groups.set(keyOf(item), [item]);
    else known.push(item);
  }
  return groups;
}
