/**
 * Formats tables and other text output.
 * @module
 */
import type { Output } from "../contracts/shell.ts";
import type { Runtime } from "../contracts/runtime.ts";

/**
 * Characters with an effect on terminals or line-based readers: control characters, line terminators, bidirectional
 * formatting.
 */
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Escapes control characters in untrusted text. */
export function printable(text: string): string {
  return text.replace(unprintable, (match) => `\\u${match.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Formats a table.
 *
 * @param rows The first row is the header.
 * @param numeric Indexes of the columns to align right.
 */
export function table(rows: readonly (readonly string[])[], numeric: readonly number[] = []): string {
  const cells = rows.map((row) => row.map(printable));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => [...row[column] ?? ""].length)));
  const pad = (cell: string, column: number) => {
    const fill = " ".repeat(widths[column]! - [...cell].length);
    return numeric.includes(column) ? fill + cell : cell + fill;
  };
  return cells.map((row) => `${row.map(pad).join("  ").trimEnd()}\n`).join("");
}

/** Functions that color text. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

/** Returns colors for a terminal, unless NO_COLOR is set; otherwise plain text. */
export function paintFor({ isTerminal }: Output, { env }: Pick<Runtime, "env">): Paint {
  const isColored = isTerminal && !env("NO_COLOR");
  const paint = (code: number) => (text: string) => isColored && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  return { good: paint(32), bad: paint(31), dim: paint(2), strong: paint(1) };
}

/** Formats a count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
