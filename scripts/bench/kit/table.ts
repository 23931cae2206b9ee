/**
 * The table of figures, and tables in general.
 * @module
 */

/** One line of the table: what was measured, and what it has to be. */
export interface Row {
  /** What is measured. */
  readonly figure: string;
  /** What came out; undefined when nothing did. */
  readonly measured: number | undefined;
  /** Such as `ms`; a bare ratio has none. */
  readonly unit?: string;
  /** What it must reach. */
  readonly must?: number;
  /** What it should reach. */
  readonly aim?: number;
  /** Whether more is better. */
  readonly better: "more" | "less";
  /** Why nothing was measured, or what has to be known of it. */
  readonly note?: string;
}

/** How a figure stands to what it must reach. */
export type Verdict = "aim reached" | "reached" | "MISSED" | "not measured" | "";

/**
 * How a figure stands to what it must reach; nothing for one without a target.
 *
 * @param row The figure.
 */
export function verdictOf({ measured, must, aim, better }: Row): Verdict {
  if (measured === undefined || Number.isNaN(measured)) return "not measured";
  const reaches = (target: number) => better === "more" ? measured >= target : measured <= target;
  if (aim !== undefined && reaches(aim)) return "aim reached";
  if (must === undefined) return "";
  return reaches(must) ? "reached" : "MISSED";
}

/**
 * A number as people read it: three digits that count.
 *
 * @param value Any number.
 */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return "-";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 0.001))));
  return value.toLocaleString("en", { maximumFractionDigits: digits, useGrouping: true });
}

/**
 * A table in columns; those of numbers are flush right.
 *
 * @param head Names of the columns.
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

/**
 * The table at the end of a run.
 *
 * @param rows What was measured.
 */
export function formatRows(rows: readonly Row[]): string {
  const withUnit = (value: number | undefined, unit = "") =>
    value === undefined ? "" : Number.isFinite(value) ? `${formatNumber(value)} ${unit}`.trimEnd() : "-";
  return formatTable(
    ["figure", "measured", "must", "aim", "verdict", "note"],
    rows.map((row) => [
      row.figure,
      withUnit(row.measured, row.unit),
      withUnit(row.must, row.unit),
      withUnit(row.aim, row.unit),
      verdictOf(row),
      row.note ?? "",
    ]),
  );
}
