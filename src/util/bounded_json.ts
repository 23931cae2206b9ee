/**
 * Bounds of JSON from outside. A parser blocks all other requests while it creates objects, and what is nested without
 * limit cannot be written again in every runtime. Texts are therefore scanned before they are parsed.
 * @module
 */

/** What JSON may consist of. */
interface JsonBounds {
  /** Maximum number of objects and arrays. */
  readonly containers: number;
  /** Maximum number of members of all objects. */
  readonly members: number;
  /** Maximum levels of objects and arrays. */
  readonly depth: number;
}

/** Maximum number of members of one object: parsers take far longer for names that do not recur. */
const maxMembersPerObject = 50_000;

/** Bounds of a request's body; its depth is checked when it is validated. */
export const bodyBounds: JsonBounds = { containers: 200_000, members: 500_000, depth: Infinity };

/** Bounds of JSON within a string of a body, such as the arguments of a tool call. */
export const innerBounds: JsonBounds = { ...bodyBounds, depth: 256 };

/** Bounds of a provider's response, which may have log probabilities. */
export const responseBounds: JsonBounds = { containers: 1_000_000, members: 2_000_000, depth: 256 };

/** Minimum length of the text of a member with a name of its own, such as `"abc":1,`. */
const minMemberChars = 5;

/**
 * Determines how JSON exceeds bounds.
 *
 * @param text Any text; invalid JSON is left to the parser.
 * @returns Such as `over 200000 objects and arrays`; undefined if it does not exceed them.
 */
export function findJsonExcess(text: string, bounds: JsonBounds): string | undefined {
  const isSmall = text.length <= minMemberChars * maxMembersPerObject && text.length <= 2 * bounds.containers;
  return isSmall && isShallow(text, bounds.depth) ? undefined : scan(text, bounds);
}

/** Whether a text has too few brackets, even with those in strings, to exceed a depth. It costs a fraction of a scan. */
function isShallow(text: string, depth: number): boolean {
  if (text.length <= 2 * depth) return true;
  let left = depth;
  for (const open of ["[", "{"]) {
    for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + 1)) if (--left < 0) return false;
  }
  return true;
}

/**
 * Parses JSON within bounds.
 *
 * @throws {SyntaxError} If it is invalid, or exceeds the bounds.
 */
export function parseBoundedJson(text: string, bounds: JsonBounds = innerBounds): unknown {
  const excess = findJsonExcess(text, bounds);
  if (excess !== undefined) throw new SyntaxError(`The JSON has ${excess}`);
  return JSON.parse(text);
}

function scan(text: string, { containers, members, depth }: JsonBounds): string | undefined {
  const open: number[] = []; // members of each open object
  let seenContainers = 0;
  let seenMembers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = endOfString(text, at);
      if (at < 0) return undefined; // invalid JSON, reported by the parser
    } else if (code === 91 || code === 123) {
      if (++seenContainers > containers) return `over ${containers} objects and arrays`;
      if (open.push(0) > depth) return `over ${depth} levels of objects and arrays`;
    } else if (code === 93 || code === 125) open.pop();
    else if (code === 58) {
      if (++open[open.length - 1]! > maxMembersPerObject) return `an object with over ${maxMembersPerObject} members`;
      if (++seenMembers > members) return `over ${members} members`;
    }
  }
  return undefined;
}

/** The index of the closing quote of a string; -1 if there is none. */
function endOfString(text: string, at: number): number {
  for (;;) {
    at = text.indexOf('"', at + 1);
    if (at < 0) return -1;
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 92) slashes--;
    if ((at - slashes) % 2 === 0) return at;
  }
}
