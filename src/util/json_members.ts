/**
 * Edits top-level members in the text of a JSON object and leaves every other byte unchanged: numbers beyond double
 * precision, white space, and megabytes of images that need no re-encoding.
 * @module
 */

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
  const left: (string | undefined)[] = Object.keys(edits);
  let edited = "";
  for (const members = new MemberScanner(text); members.next();) {
    const { key, start, value, end } = members;
    if (!Object.hasOwn(edits, key)) {
      edited += "," + text.slice(start, end);
      continue;
    }
    const index = left.indexOf(key);
    if (index < 0 || edits[key] === undefined) continue;
    left[index] = undefined;
    edited += "," + text.slice(start, value) + JSON.stringify(edits[key]);
  }
  for (const key of left) {
    if (key === undefined || edits[key] === undefined) continue;
    edited += "," + JSON.stringify(key) + ":" + JSON.stringify(edits[key]);
  }
  return `{${edited.slice(1)}}`;
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
  let count = 0;
  for (const members = new MemberScanner(text); members.next();) count++;
  return count === Object.keys(value).length ? undefined : firstRepeated(text);
}

/**
 * Returns the text of a top-level member's value.
 *
 * @param text A valid JSON object that has this member once.
 * @param name Key of the member.
 */
export function memberText(text: string, name: string): string {
  const members = new MemberScanner(text);
  while (members.next() && members.key !== name);
  return text.slice(members.value, members.end);
}

function firstRepeated(text: string): string | undefined {
  const keys = new Set<string>();
  for (const members = new MemberScanner(text); members.next(); keys.add(members.key)) {
    if (keys.has(members.key)) return members.key;
  }
  return undefined;
}

/** Scans the top-level members of an object, one after the other. */
class MemberScanner {
  /** Offsets of the current member. */
  start = 0;
  value = 0;
  /** Exclusive. */
  end = 0;
  readonly #text: string;
  #keyEnd = 0;
  #next: number;

  constructor(text: string) {
    this.#text = text;
    this.#next = skipSpace(text, text.indexOf("{") + 1);
  }

  get key(): string {
    const key = this.#text.slice(this.start + 1, this.#keyEnd - 1);
    return key.includes("\\") ? JSON.parse(`"${key}"`) : key;
  }

  /** Continues with the next member. Returns whether there is one. */
  next(): boolean {
    const text = this.#text;
    const start = this.#next;
    if (text.charCodeAt(start) !== 34) return false;
    this.start = start;
    this.#keyEnd = skipString(text, start);
    this.value = skipSpace(text, skipSpace(text, this.#keyEnd) + 1);
    this.end = skipValue(text, this.value);
    const after = skipSpace(text, this.end);
    this.#next = text.charCodeAt(after) === 44 ? skipSpace(text, after + 1) : after;
    return true;
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
