/**
 * Formats tables and other text output.
 * @module
 */
import type { Output } from "../contracts/shell.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { printable } from "../util/printable.ts";

/** Maximum length of a line of a list, so that it fits a terminal. */
const lineWidth = 100;

/**
 * Wraps text at spaces, so that no line is longer than {@linkcode lineWidth}, except for a longer word.
 *
 * @param indent Number of spaces before each line.
 */
export function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || indent + last.length + 1 + word.length > lineWidth) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map((line) => " ".repeat(indent) + line).join("\n");
}

/**
 * Formats a table. The last column is wrapped where a line would be longer than {@linkcode lineWidth}.
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
  const indent = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const isWrapped = !numeric.includes(widths.length - 1) && indent <= lineWidth / 2;
  const format = (row: readonly string[]) => {
    const last = row.at(-1) ?? "";
    if (!isWrapped || indent + [...last].length <= lineWidth) return row.map(pad).join("  ").trimEnd();
    return row.slice(0, -1).map((cell, column) => `${pad(cell, column)}  `).join("") + wrap(last, indent).trimStart();
  };
  return cells.map((row) => `${format(row)}\n`).join("");
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
