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
