/**
 * The text of a dotenv file: strict, so that a slip costs no secret, and without expansion, so that a `$` in a key
 * stays what it is.
 * @module
 */

export interface DotenvEntry {
  readonly name: string;
  /** Quotes and escapes resolved. */
  readonly value: string;
  /** The line it begins on, from 1. */
  readonly line: number;
  /** Offsets of its text and of the next line in `text`. */
  readonly span: readonly [from: number, to: number];
}

/** One line that is no assignment. It never quotes the line: there may be a secret in it. */
interface DotenvProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

/** A parsed file. */
export interface Dotenv {
  /** Without byte order mark, lines ended by LF; `span` refers to it. */
  readonly text: string;
  /** In order; the last of two with one name wins. */
  readonly entries: readonly DotenvEntry[];
  readonly problems: readonly DotenvProblem[];
}

const assignment = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][\w.-]*)[^\S\n]*=[^\S\n]*/y;
const nothing = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const bare = /[^\n]*/y;
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", "$": "$" };

/** A valid name. */
export const dotenvName: RegExp = /^[A-Za-z_][\w.-]*$/;

/**
 * Reads a dotenv file: `NAME=value`, `export NAME=value`, blank lines and `#` comments. Values may stand in single
 * quotes or backticks (as they are) or double ones (`\n`, `\r`, `\t`, `\"`, `\\`, `\$`), over several lines.
 *
 * @example
 * ```ts ignore
 * parseDotenv("KEY='a b' # mine\n").entries[0]; // { name: "KEY", value: "a b", line: 1, span: [0, 17] }
 * ```
 */
export function parseDotenv(source: string): Dotenv {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const entries: DotenvEntry[] = [];
  const problems: DotenvProblem[] = [];
  let line = 1;
  for (let at = 0; at < text.length;) {
    const read = matchAt(nothing, text, at) === undefined ? readEntry(text, at) : { to: endOfLine(text, at) };
    if ("message" in read) problems.push({ line, message: read.message });
    if ("name" in read) entries.push({ name: read.name, value: read.value, line, span: [at, read.to] });
    for (; at < read.to; at++) if (text[at] === "\n") line++;
  }
  return { text, entries, problems };
}

type Read =
  | { readonly to: number; readonly name: string; readonly value: string }
  | { readonly to: number; readonly message: string };

function readEntry(text: string, at: number): Read {
  const to = endOfLine(text, at);
  const head = matchAt(assignment, text, at);
  if (head === undefined) return { to, message: "expected NAME=value, a comment or nothing" };
  const [all, name = ""] = head;
  const from = at + all.length;
  const quote = text[from] ?? "";
  const value = "'\"`".includes(quote) && quote !== "" ? readQuoted(text, from, quote) : readBare(text, from);
  if ("message" in value) return { to, message: value.message };
  if (value.value.includes("\0")) return { to, message: "has a NUL in it" };
  return value.value.includes("\uFFFD") ? { to, message: "is not written in UTF-8" } : { ...value, name };
}

/** Up to the end of the line, or a `#` after a space. */
function readBare(text: string, from: number): { readonly to: number; readonly value: string } {
  const [remainder = ""] = matchAt(bare, text, from) ?? [];
  const comment = remainder.startsWith("#") ? 0 : remainder.search(/\s#/);
  return { to: endOfLine(text, from), value: (comment < 0 ? remainder : remainder.slice(0, comment)).trim() };
}

function readQuoted(text: string, from: number, quote: string): { to: number; value: string } | { message: string } {
  const isDouble = quote === '"';
  let value = "";
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === quote) {
      if (matchAt(nothing, text, at + 1) === undefined) return { message: "has more after the closing quote" };
      return { to: endOfLine(text, at), value };
    }
    const escaped = isDouble && character === "\\" ? escapes[text[at + 1] ?? ""] : undefined;
    value += escaped ?? character;
    if (escaped !== undefined) at++;
  }
  return { message: "has a quote that is not closed" };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
