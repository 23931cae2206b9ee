/**
 * Reads the claims of a verified token.
 * @module
 */
import { findOwn } from "../../util/entries.ts";
import { isObject } from "../../util/is_object.ts";

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>;

/** Maximum number of values of one claim. */
const maxValues = 100;

/** Claims whose values are separated by spaces (RFC 8693, section 4.2). */
const spaced: ReadonlySet<string> = new Set(["scope", "scp"]);

/**
 * Finds the value of a claim.
 *
 * @param name The name of a claim, which may contain dots; otherwise a path into nested claims.
 */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split(".").reduce<unknown>((value, key) => isObject(value) ? findOwn(value, key) : undefined, claims);
}

/**
 * Reads a claim that is a string or a list of strings.
 *
 * @returns Up to 100 strings that are not empty.
 */
export function readStrings(claims: Claims, name: string | undefined): readonly string[] {
  if (name === undefined) return [];
  return listValues(claims, name).filter((value): value is string => typeof value === "string" && value !== "");
}

/**
 * Finds a claim that does not have any of its accepted values.
 *
 * @param allow The accepted value of each claim, or a list of them.
 */
export function findMismatch(claims: Claims, allow: Claims): string | undefined {
  return Object.keys(allow).find((name) => {
    const accepted = [allow[name]].flat();
    return !listValues(claims, name).some((value) => accepted.includes(value));
  });
}

function listValues(claims: Claims, name: string): readonly unknown[] {
  const value = findClaim(claims, name);
  const values = typeof value === "string" && spaced.has(name) ? value.split(" ") : [value].flat();
  return values.slice(0, maxValues);
}
