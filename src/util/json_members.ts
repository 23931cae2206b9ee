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
  const members = new MemberReader(text);
  const written = new Set<string>();
  let edited = "";
  while (members.next()) {
    const { key, start, value, end } = members;
    let part: string;
    if (Object.hasOwn(edits, key)) {
      const edit = edits[key];
      if (edit === undefined || written.has(key)) continue;
      written.add(key);
      part = text.slice(start, value) + JSON.stringify(edit);
    } else part = text.slice(start, end);
    edited += edited === "" ? part : `,${part}`;
  }
  for (const key in edits) {
    if (edits[key] === undefined || written.has(key)) continue;
    const part = `${JSON.stringify(key)}:${JSON.stringify(edits[key])}`;
    edited += edited === "" ? part : `,${part}`;
  }
  return `{${edited}}`;
}

/** Counts the top-level members in the text of a JSON object. Duplicate keys count each time. */
export function countMembers(text: string): number {
  const members = new MemberReader(text);
  let count = 0;
  while (members.next()) count++;
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
 * Whether any object in JSON has two members of one name. It is parsed for that: a value that was parsed earlier may have
 * got members since, which would make up for those that it lacks.
 *
 * @param text Valid JSON.
 */
export function hasRepeatedMember(text: string): boolean {
  return countColons(text) !== countNames(JSON.parse(text));
}

/** Counts the colons in JSON outside of strings: one for each member of any object. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === 58) count++;
    at = code === 34 ? skipString(text, at) : at + 1;
  }
  return count;
}

/** Counts the members of all objects in a value. */
function countNames(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const isList = Array.isArray(value);
  const members = isList ? value : Object.values(value);
  let count = isList ? 0 : members.length;
  for (const member of members) count += countNames(member);
  return count;
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
  const members = new MemberReader(text);
  while (members.next()) {
    const { key, start, value, end } = members;
    yield { key, start, value, end };
  }
}

/** Reads the top-level members of the text of a JSON object one after the other, without creating objects. */
class MemberReader implements JsonMember {
  key = "";
  start = 0;
  value = 0;
  end = 0;
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = skipSpace(text, text.indexOf("{") + 1);
  }

  /** Moves to the next member; false if there is none. */
  next(): boolean {
    const text = this.#text;
    const start = this.start = this.#at;
    if (text.charCodeAt(start) !== 34) return false;
    const keyEnd = skipString(text, start);
    const key = text.slice(start + 1, keyEnd - 1);
    this.key = key.includes("\\") ? JSON.parse(`"${key}"`) : key;
    this.value = skipSpace(text, skipSpace(text, keyEnd) + 1);
    this.end = skipValue(text, this.value);
    const next = skipSpace(text, this.end);
    this.#at = text.charCodeAt(next) === 44 ? skipSpace(text, next + 1) : next;
    return true;
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
