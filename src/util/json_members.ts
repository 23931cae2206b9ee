/**
 * Edits top-level members in the text of a JSON object and leaves every other byte unchanged: numbers beyond double
 * precision, white space, and megabytes of images that need no re-encoding.
 * @module
 */

interface Member {
  readonly key: string;
  readonly start: number;
  readonly value: number;
  /** End offset, exclusive. */
  readonly end: number;
}

/**
 * Replaces, adds and removes top-level members in the text of a JSON object.
 *
 * @param text A valid JSON object.
 * @param edits New values by key; undefined removes the member. Every occurrence of a duplicate key is edited.
 * @returns The edited text.
 *
 * @example
 * ```ts ignore
 * editMembers('{"model":"chat","seed":12345678901234567890}', { model: "gpt-4o" });
 * // {"model":"gpt-4o","seed":12345678901234567890}
 * ```
 */
export function editMembers(text: string, edits: Readonly<Record<string, unknown>>): string {
  const members = topLevelMembers(text);
  const keys = Object.keys(edits);
  const parts: string[] = [];
  const written: string[] = [];
  for (const { key, start, value, end } of members) {
    if (!keys.includes(key)) {
      parts.push(text.slice(start, end));
    } else if (edits[key] !== undefined && !written.includes(key)) {
      parts.push(text.slice(start, value) + JSON.stringify(edits[key]));
      written.push(key);
    }
  }
  for (const key of keys) {
    const value = edits[key];
    if (value !== undefined && !written.includes(key)) parts.push(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  }
  return `{${parts.join(",")}}`;
}

/**
 * Returns the first duplicate top-level key in the text of a JSON object. Parsers differ in which occurrence they use.
 * Keys are compared with escapes resolved.
 *
 * @param text A valid JSON object.
 * @param value The parsed text.
 * @returns The key; undefined when there is none.
 *
 * @example
 * ```ts ignore
 * repeatedMember('{"model":"a","mo\\u0064el":"b"}', { model: "b" }); // "model"
 * ```
 */
export function repeatedMember(text: string, value: object): string | undefined {
  const members = topLevelMembers(text);
  if (members.length === Object.keys(value).length) return undefined;
  return members.find(({ key }, at) => members.findIndex((member) => member.key === key) < at)?.key;
}

/**
 * Returns the text of a top-level member's value.
 *
 * @param text A valid JSON object that has this member once.
 * @param name Key of the member.
 */
export function memberText(text: string, name: string): string {
  const { value, end } = topLevelMembers(text).find(({ key }) => key === name)!;
  return text.slice(value, end);
}

function topLevelMembers(text: string): Member[] {
  const members: Member[] = [];
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (text.charCodeAt(at) === 34) {
    const start = at;
    const keyEnd = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, value);
    const key = text.slice(start + 1, keyEnd - 1);
    members.push({ key: key.includes("\\") ? JSON.parse(`"${key}"`) : key, start, value, end });
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === 44) at = skipSpace(text, at + 1);
  }
  return members;
}

function skipSpace(text: string, at: number): number {
  while (text.charCodeAt(at) <= 32) at++;
  return at;
}

/** Returns the offset after the closing quote of a string. */
function skipString(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 92) slashes--;
    if ((at - slashes) % 2 === 0) return at + 1;
  }
}

function skipValue(text: string, at: number): number {
  let depth = 0;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = skipString(text, at);
      if (depth === 0) return at;
      continue;
    }
    if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (code === 44 || code <= 32 || Number.isNaN(code))) return at;
    at++;
  }
}
