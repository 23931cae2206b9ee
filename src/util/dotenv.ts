/**
 * Parser of dotenv files. It is strict, so that a mistake does not lose a secret, and has no variable expansion, so
 * that a `$` in an API key is kept.
 * @module
 */

export interface DotenvEntry {
  readonly name: string;
  /** Value with quotes and escapes resolved. */
  readonly value: string;
  /** Number of its first line, starting at 1. */
  readonly line: number;
  /** Offsets of its first character and of the next line in `text`. */
  readonly span: readonly [from: number, to: number];
}

/** A line that is not an assignment. The message does not quote the line, which may contain a secret. */
interface DotenvProblem {
  /** Line number, starting at 1. */
  readonly line: number;
  readonly message: string;
}

/** A parsed file. */
export interface Dotenv {
  /** The text without byte order mark, with LF line endings. `span` refers to it. */
  readonly text: string;
  /** Assignments in order. The last one of a name takes precedence. */
  readonly entries: readonly DotenvEntry[];
  readonly problems: readonly DotenvProblem[];
}

const blanks = /[^\S\n]*/y;
const nothing = /[^\S\n]*(?:#[^\n]*)?(?:\n|$)/y;
const bare = /[^\n]*/y;
const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", '"': '"', "\\": "\\", "$": "$" };

/** Matches a valid name. */
export const dotenvName: RegExp = /^[A-Za-z_][\w.-]*$/;

/**
 * Parses a dotenv file: `NAME=value`, `export NAME=value`, empty lines and `#` comments. Values may be in single quotes
 * or backticks (literal) or double quotes (escapes `\n`, `\r`, `\t`, `\"`, `\\`, `\$`), and span lines.
 *
 * @example
 * ```ts
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
  const [key, ...rest] = text.slice(at, to).split("=");
  const name = key!.trim().replace(/^export\s+(?=\S)/, "");
  if (rest.length === 0 || !dotenvName.test(name)) return { to, message: "expected NAME=value, a comment or nothing" };
  const start = at + key!.length + 1;
  const from = start + matchAt(blanks, text, start)![0].length;
  const quote = text[from] ?? "";
  const value = "'\"`".includes(quote) && quote !== "" ? readQuoted(text, from, quote) : readBare(text, from);
  if ("message" in value) return { to, message: value.message };
  if (value.value.includes("\0")) return { to, message: "contains a NUL character" };
  return value.value.includes("\uFFFD") ? { to, message: "is not UTF-8" } : { ...value, name };
}

/** Reads an unquoted value, up to the end of the line or a `#` after white space. */
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
      if (matchAt(nothing, text, at + 1) === undefined) return { message: "has characters after the closing quote" };
      return { to: endOfLine(text, at), value };
    }
    const escaped = isDouble && character === "\\" ? escapes[text[at + 1] ?? ""] : undefined;
    value += escaped ?? character;
    if (escaped !== undefined) at++;
  }
  return { message: "has an unclosed quote" };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end + 1;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}
