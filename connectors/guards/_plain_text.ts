/**
 * Texts in a form in which patterns find what a reader would: digits of any script as ASCII digits, without invisible
 * characters, with the escapes of JSON resolved. Each character knows its place in the original.
 * @module
 */

/** A text as patterns read it. */
interface PlainText {
  readonly text: string;
  /** Where each character begins in the original, and where the last one ends. Undefined: at the same place. */
  readonly starts: readonly number[] | undefined;
}

const invisible = /^[\p{Cf}\p{Mn}\p{Me}\u115f\u1160\u3164\uffa0]$/u; // format characters, combining marks, fillers
const digit = /^\p{Nd}$/u;
const dash = /^\p{Pd}$/u;
const space = /^\p{Zs}$/u;
const escaped: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

const backslash = 0x5c;

const encoder = /* @__PURE__ */ new TextEncoder();
const encoded = /* @__PURE__ */ new Uint8Array(4096);

/** Whether a text is all ASCII. An encoder takes a tenth of the time of a pattern. */
export function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += encoded.length) {
    const part = text.length <= encoded.length ? text : text.slice(at, at + encoded.length);
    const { read, written } = encoder.encodeInto(part, encoded);
    if (read !== part.length || written !== part.length) return false;
  }
  return true;
}

/**
 * Reads a text.
 *
 * @param isJson Whether it is JSON, as tool arguments are.
 */
export function readPlainText(original: string, isJson: boolean): PlainText {
  if (isAscii(original) && !(isJson && original.includes("\\"))) return { text: original, starts: undefined };
  const changes: Change[] = [];
  for (let at = 0; at < original.length;) {
    const code = original.charCodeAt(at);
    if (code < 0x80 && (code !== backslash || !isJson)) {
      at++;
      continue;
    }
    const { character, length } = readCharacter(original, at, isJson);
    const plain = simplify(character);
    if (plain.length !== length || plain !== original.slice(at, at + length)) changes.push({ at, length, plain });
    at += length;
  }
  return applyChanges(original, changes);
}

/** What stands for one character, and the character as patterns read it. */
interface Change {
  readonly at: number;
  readonly length: number;
  readonly plain: string;
}

function applyChanges(original: string, changes: readonly Change[]): PlainText {
  let text = "";
  let end = 0;
  for (const { at, length, plain } of changes) {
    text += original.slice(end, at) + plain;
    end = at + length;
  }
  text += original.slice(end);
  if (changes.every(({ length, plain }) => plain.length === length)) return { text, starts: undefined };
  const starts: number[] = [];
  let next = 0;
  for (const { at, length, plain } of changes) {
    while (next < at) starts.push(next++);
    for (let index = 0; index < plain.length; index++) starts.push(at);
    next = at + length;
  }
  while (next <= original.length) starts.push(next++);
  return { text, starts };
}

/** One character, and the length of what stands for it. */
function readCharacter(text: string, at: number, isJson: boolean): { character: string; length: number } {
  if (isJson && text[at] === "\\") {
    const code = /^\\u([0-9a-f]{4})/i.exec(text.slice(at, at + 6));
    if (code !== null) return { character: String.fromCharCode(parseInt(code[1]!, 16)), length: 6 };
    const next = text[at + 1] ?? "";
    if (next !== "") return { character: escaped[next] ?? next, length: 2 };
  }
  const character = String.fromCodePoint(text.codePointAt(at)!);
  return { character, length: character.length };
}

/** Characters as patterns read them: texts repeat a few. */
const simplified = /* @__PURE__ */ new Map<string, string>();
const maxSimplified = 1000;

function simplify(character: string): string {
  if (character <= "\x7f" || character === "") return character;
  let plain = simplified.get(character);
  if (plain !== undefined) return plain;
  plain = toPlain(character);
  if (simplified.size < maxSimplified) simplified.set(character, plain);
  return plain;
}

function toPlain(character: string): string {
  if (invisible.test(character)) return "";
  if (dash.test(character)) return "-";
  if (space.test(character)) return " ";
  if (digit.test(character)) return String(digitValue(character.codePointAt(0)!));
  const folded = character.normalize("NFKC");
  return folded.length === 1 && folded <= "\x7f" ? folded : character;
}

/** Digits of a script are ten neighbours, from zero on; mathematical ones five times ten. */
function digitValue(code: number): number {
  if (code >= 0x1d7ce && code <= 0x1d7ff) return (code - 0x1d7ce) % 10;
  let value = 0;
  while (value < 9 && digit.test(String.fromCodePoint(code - value - 1))) value++;
  return value;
}
