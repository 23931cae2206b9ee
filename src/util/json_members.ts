/**
 * Edits top-level members in the text of a JSON object and leaves every other byte unchanged: numbers beyond double
 * precision, white space, and megabytes of images that need no re-encoding.
 * @module
 */

interface JsonMember {
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
 *
 * @example
 * ```ts
 * editMembers('{"model":"chat","seed":12345678901234567890}', { model: "gpt-4o" });
 * // {"model":"gpt-4o","seed":12345678901234567890}
 * ```
 */
export function editMembers(text: string, edits: Readonly<Record<string, unknown>>): string {
  const left = new Map<string, unknown>();
  for (const key in edits) if (edits[key] !== undefined) left.set(key, edits[key]);
  let edited = "{";
  const add = (part: string) => edited += edited === "{" ? part : `,${part}`;
  for (const { key, start, value, end } of topLevelMembers(text)) {
    if (!Object.hasOwn(edits, key)) {
      add(text.slice(start, end));
    } else if (left.has(key)) {
      add(text.slice(start, value) + JSON.stringify(left.get(key)));
      left.delete(key);
    }
  }
  for (const [key, value] of left) add(`${JSON.stringify(key)}:${JSON.stringify(value)}`);
  return `${edited}}`;
}

/** Counts the top-level members in the text of a JSON object. Duplicate keys count each time. */
export function countMembers(text: string): number {
  let count = 0;
  let at = skipSpace(text, text.indexOf("{") + 1);
  for (; text.charCodeAt(at) === 34; count++) {
    const keyEnd = skipString(text, at);
    at = skipSpace(text, skipValue(text, skipSpace(text, skipSpace(text, keyEnd) + 1)));
    if (text.charCodeAt(at) === 44) at = skipSpace(text, at + 1);
  }
  return count;
}

/**
 * Returns the first duplicate top-level key in the text of a JSON object. Parsers differ in which occurrence they use.
 * Keys are compared with escapes resolved.
 *
 * @param text A valid JSON object.
 * @returns The key; undefined when there is none.
 *
 * @example
 * ```ts
 * repeatedMember('{"model":"a","mo\\u0064el":"b"}'); // "model"
 * ```
 */
export function repeatedMember(text: string): string | undefined {
  const seen = new Set<string>();
  for (const { key } of topLevelMembers(text)) {
    if (seen.has(key)) return key;
    seen.add(key);
  }
  return undefined;
}

/**
 * Returns the text of a top-level member's value.
 *
 * @param text A valid JSON object.
 * @param name Key of the member.
 * @returns The first one; empty if there is none.
 */
export function memberText(text: string, name: string): string {
  for (const { key, value, end } of topLevelMembers(text)) if (key === name) return text.slice(value, end);
  return "";
}

/** Yields the top-level members of the text of a JSON object, in order. */
export function* topLevelMembers(text: string): Generator<JsonMember> {
  let at = skipSpace(text, text.indexOf("{") + 1);
  while (text.charCodeAt(at) === 34) {
    const start = at;
    const keyEnd = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, value);
    const key = text.slice(start + 1, keyEnd - 1);
    yield { key: key.includes("\\") ? JSON.parse(`"${key}"`) : key, start, value, end };
    at = skipSpace(text, end);
    if (text.charCodeAt(at) === 44) at = skipSpace(text, at + 1);
  }
}

/** Yields the offsets of the items in the text of a JSON array, in order. */
export function* topLevelItems(text: string): Generator<Pick<JsonMember, "value" | "end">> {
  let value = skipSpace(text, text.indexOf("[") + 1);
  while (value < text.length && text.charCodeAt(value) !== 93) {
    const end = skipValue(text, value);
    yield { value, end };
    const next = skipSpace(text, end);
    value = text.charCodeAt(next) === 44 ? skipSpace(text, next + 1) : next;
  }
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
