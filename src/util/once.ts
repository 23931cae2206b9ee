/**
 * What is made when it is first asked for, and kept.
 * @module
 */

/**
 * Makes something once.
 *
 * @param make Called by the first call; what it throws is not kept.
 *
 * @example
 * ```ts ignore
 * const list = once(() => longWork());
 * list() === list(); // true
 * ```
 */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * Makes something once, unless that fails: what was unavailable for a moment may have recovered at the next call.
 *
 * @param make Called by the first call, and by the first one after a failure.
 */
export function onceResolved<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () =>
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
}
