/**
 * Adds many items to a list.
 * @module
 */

/**
 * Adds items to the end of a list. `list.push(...items)` fails for more items than a call may have arguments, which is
 * less than a request or a provider's response may contain.
 */
export function appendAll<Item>(list: Item[], items: Iterable<Item>): void {
  for (const item of items) list.push(item);
}
