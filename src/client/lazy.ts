/**
 * Resources of a client whose code is imported at their first call, which keeps pages small.
 * @module
 */

/** The methods of a resource. */
export type Lazy<Resource> = Pick<Resource, keyof Resource>;

/**
 * Makes a resource whose methods import its code when they are called.
 *
 * @param load Imports the resource.
 * @param names The names of its methods.
 */
export function lazy<Resource>(load: () => Promise<Resource>, ...names: (keyof Resource)[]): Lazy<Resource> {
  const createLazyCall = (name: keyof Resource) => async (...given: unknown[]) =>
    await (await load() as Record<keyof Resource, (...given: unknown[]) => unknown>)[name](...given);
  return Object.fromEntries(names.map((name) => [name, createLazyCall(name)])) as unknown as Lazy<Resource>;
}
