/**
 * Memoization.
 * @module
 */

/**
 * Memoizes a function.
 *
 * @param make Called by the first call. A thrown error is not memoized.
 *
 * @example
 * ```ts
 * const list = once(() => new Intl.ListFormat("en"));
 * list() === list(); // true
 * ```
 */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * Memoizes an asynchronous function until it fails. After a failure the next call tries again.
 *
 * @param make Called by the first call, and by the first call after a failure.
 */
export function onceResolved<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () =>
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
}

/**
 * Returns the value of a key, which the first call creates.
 *
 * @param map Values by key.
 * @param create Creates the value of a new key.
 */
export function getOrCreate<Key, Value>(
  map: Pick<Map<Key, Value>, "get" | "set">,
  key: Key,
  create: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const created = create();
  map.set(key, created);
  return created;
}
