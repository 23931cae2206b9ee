/**
 * Formats tables.
 * @module
 */

/** A row of the table of figures. */
export interface Row {
  /** What is measured. */
  readonly figure: string;
  /** The result; undefined if there is none. */
  readonly measured: number | undefined;
  /** The smallest and the largest result of a round. */
  readonly spread?: readonly [least: number, most: number];
  /** Whether other programs used the gateway's core in a round that was not repeated any more. */
  readonly isDisturbed?: boolean;
  /** Unit, such as `ms`; undefined for a ratio. */
  readonly unit?: string;
  /** Required value. */
  readonly must?: number;
  /** Target value. */
  readonly aim?: number;
  /** Whether higher or lower values are better. */
  readonly better: "more" | "less";
  /** Remark, such as why there is no result. */
  readonly note?: string;
}

/** Result of comparing a figure with its required value. */
export type Verdict = "aim reached" | "reached" | "MISSED" | "not measured" | "not judged: disturbed" | "";

/** Compares a figure with its required value; empty without one. What was disturbed is not judged. */
export function judgeFigure({ measured, must, aim, better, isDisturbed }: Row): Verdict {
  if (measured === undefined || Number.isNaN(measured)) return "not measured";
  if (isDisturbed && (must !== undefined || aim !== undefined)) return "not judged: disturbed";
  const reaches = (target: number) => better === "more" ? measured >= target : measured <= target;
  if (aim !== undefined && reaches(aim)) return "aim reached";
  if (must === undefined) return "";
  return reaches(must) ? "reached" : "MISSED";
}

/** Formats a number with three significant digits. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.001))));
  return value.toLocaleString("en", { maximumFractionDigits: digits, useGrouping: true });
}

/**
 * Formats a table. Columns of numbers are aligned right.
 *
 * @param head Column headers.
 * @param lines Cells.
 */
export function formatTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => (cells[column] ?? "").length)));
  const isNumber = head.map((_, column) => lines.every((cells) => /^([-\d].*)?$/.test(cells[column] ?? "")));
  const print = (cells: readonly string[]) =>
    cells.map((cell, column) => isNumber[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))
      .join(" | ").trimEnd();
  return [print(head), widths.map((width) => "-".repeat(width)).join("-|-"), ...lines.map(print)].join("\n");
}

/** Formats the table of figures at the end of a run. */
export function formatRows(rows: readonly Row[]): string {
  const withUnit = (value: number | undefined, unit = "") =>
    value === undefined ? "" : Number.isFinite(value) ? `${formatNumber(value)} ${unit}`.trimEnd() : "-";
  const withSpread = ({ measured, unit, spread }: Row) =>
    withUnit(measured, unit) + (spread === undefined ? "" : ` (${spread.map(formatNumber).join(" to ")})`);
  return formatTable(
    ["figure", "measured", "must", "aim", "verdict", "note"],
    rows.map((row) => [
      row.figure,
      withSpread(row),
      withUnit(row.must, row.unit),
      withUnit(row.aim, row.unit),
      judgeFigure(row),
      row.note ?? "",
    ]),
  );
}
