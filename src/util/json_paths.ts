/**
 * Edits of inner values in the text of JSON; every other byte is unchanged.
 * @module
 */
import { topLevelItems, topLevelMembers } from "./json_members.ts";

/** The way to an inner value: keys of objects, and positions in arrays. */
export type JsonPath = readonly (string | number)[];

/**
 * Replaces an inner value.
 *
 * @param text A valid JSON object or array.
 * @param path The way to the value. Without such a value, nothing changes.
 * @param edit Returns the new text of the value.
 *
 * @example
 * ```ts
 * editJsonAt('{"a":[1.0, 2]}', ["a", 1], () => "3"); // '{"a":[1.0, 3]}'
 * ```
 */
export function editJsonAt(text: string, path: JsonPath, edit: (value: string) => string): string {
  const [step, ...inner] = path;
  if (step === undefined) return edit(text);
  const found = typeof step === "number" ? findItem(text, step) : findMember(text, step);
  if (found === undefined) return text;
  const { value, end } = found;
  return text.slice(0, value) + editJsonAt(text.slice(value, end), inner, edit) + text.slice(end);
}

interface Extent {
  readonly value: number;
  readonly end: number;
}

function findItem(text: string, position: number): Extent | undefined {
  let at = 0;
  for (const item of topLevelItems(text)) if (at++ === position) return item;
  return undefined;
}

/** Of a repeated key, the last one applies, as in `JSON.parse`. */
function findMember(text: string, name: string): Extent | undefined {
  let found: Extent | undefined;
  for (const member of topLevelMembers(text)) if (member.key === name) found = member;
  return found;
}
