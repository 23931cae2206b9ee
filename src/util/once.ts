/**
 * Memoization, and calls of code of others at once.
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
  let created: { readonly value: Value } | undefined;
  return () => (created ??= { value: make() }).value;
}

/**
 * Memoizes an asynchronous function until it fails. After a failure the next call tries again.
 *
 * @param make Called by the first call, and by the first call after a failure.
 */
export function onceResolved<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let created: Promise<Value> | undefined;
  return () =>
    created ??= make().catch((error) => {
      created = undefined;
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
  const existing = map.get(key);
  if (existing !== undefined) return existing;
  const created = create();
  map.set(key, created);
  return created;
}

/**
 * Returns the result of a function of the program, which is needed at once. A promise is not a result: its rejection is
 * handled here, since nothing else waits for it.
 *
 * @throws {TypeError} When it is a promise.
 */
export function requireResult<Result>(result: Result): Result {
  if (!isThenable(result)) return result;
  Promise.resolve(result).catch(() => {});
  throw new TypeError("The function returned a promise, and its result is needed at once");
}

/** Whether a value is a promise; it may come from another realm or library. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === "function";
}

/**
 * Calls an observer without waiting for it. Catches its errors, including rejected promises.
 *
 * @param notify Calls the observer.
 * @param onFailure Called once when the observer has failed.
 */
export function notifySafely(notify: () => unknown, onFailure: () => void = () => {}): void {
  try {
    const pending = notify();
    if (isThenable(pending)) Promise.resolve(pending).catch(onFailure);
  } catch {
    onFailure();
  }
}
