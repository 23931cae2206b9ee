/**
 * Tables and other text for people.
 * @module
 */
import type { Output } from "../contracts/shell.ts";
import type { Runtime } from "../contracts/runtime.ts";

/** What a terminal or a reader of lines would act on: control characters, line ends, changes of direction. */
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Text of others: it steers no terminal, and breaks out of no line. */
export function printable(text: string): string {
  return text.replace(unprintable, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * Draws a table.
 *
 * @param rows The first one has the heads.
 * @param numeric Columns that are aligned at their right.
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

/** Colors of text. */
export interface Paint {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

/** Colors on a terminal, unless NO_COLOR is set; plain text elsewhere. */
export function paintFor({ isTerminal }: Output, { env }: Pick<Runtime, "env">): Paint {
  const isColored = isTerminal && !env("NO_COLOR");
  const paint = (code: number) => (text: string) => isColored && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  return { good: paint(32), bad: paint(31), dim: paint(2), strong: paint(1) };
}

/** USD for people: cents for amounts of a dollar or more, else three digits that count. */
export function usd(amount: number): string {
  if (amount === 0) return "$0";
  return `$${amount >= 1 ? amount.toFixed(2) : plain(Number(amount.toPrecision(3)))}`;
}

function plain(amount: number): string {
  return amount.toFixed(9).replace(/\.?0+$/, "");
}

/** A number of things. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
