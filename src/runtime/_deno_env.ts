/**
 * The environment on Deno.
 * @module
 */

/** Reads an environment variable; undefined if it is unset, cannot be read, or has an invalid name. */
export function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}
