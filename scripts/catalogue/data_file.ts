/**
 * Formats a vendor's list of models as a file of `connectors/providers/catalogue`.
 * @module
 */
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";

const width = 120;
/** Order of an entry's members. */
const order: readonly (keyof CatalogueEntry)[] = [
  "id",
  "serves",
  "can",
  "apis",
  "toolsVia",
  "also",
  "features",
  "window",
  "maxOutput",
  "maxFile",
  "maxImages",
  "dimensions",
  "hasFixedSize",
  "hasOneImage",
  "space",
  "voices",
  "formats",
  "lacks",
  "languages",
  "efforts",
  "rules",
  "isDefault",
  "pricing",
  "everyRow",
  "tiers",
  "retires",
  "source",
];

/**
 * Replaces a list in a file.
 *
 * @param text The file. What precedes and follows the list is kept.
 * @param list The name of its export, and the new entries.
 * @throws {Error} When the file has no such list.
 */
export function withEntries(
  text: string,
  { name, entries }: { readonly name: string; readonly entries: readonly CatalogueEntry[] },
): string {
  const opening = `export const ${name}: readonly CatalogueEntry[] = [`;
  const start = text.indexOf(opening);
  if (start < 0) throw new Error(`The file has no "${opening}"`);
  const end = text.indexOf("];\n", start) + 3;
  const objects = entries.map((entry) => `  {\n${formatMembers(entry).join("")}  },\n`);
  return `${text.slice(0, start)}${opening}\n${objects.join("")}];\n${text.slice(end)}`;
}

function formatMembers(entry: CatalogueEntry): string[] {
  return order.flatMap((name) => entry[name] === undefined ? [] : formatMember(name, entry[name]));
}

/** Formats a member. */
function formatMember(name: string, value: unknown): string {
  const isLong = typeof value === "string" && 4 + name.length + formatLiteral(value).length + 3 > width;
  return isLong ? `    ${name}:\n      ${formatLiteral(value)},\n` : formatLine(`${name}: `, value, "    ");
}

/** Formats a value as `deno fmt` does: on one line, or a line per element if it is too long. */
function formatLine(head: string, value: unknown, indent: string): string {
  const line = `${indent}${head}${formatLiteral(value)},\n`;
  if (line.length <= width + 1 || typeof value !== "object" || value === null) return line;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(([key, item]) =>
    formatLine(isList ? "" : `${formatKey(key)}: `, item, `${indent}  `)
  );
  const [open, close] = isList ? "[]" : "{}";
  return `${indent}${head}${open}\n${parts.join("")}${indent}${close},\n`;
}

function formatLiteral(value: unknown): string {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(formatLiteral).join(", ")}]`;
  const members = Object.entries(value).flatMap(([key, item]) =>
    item === undefined ? [] : `${formatKey(key)}: ${formatLiteral(item)}`
  );
  return `{ ${members.join(", ")} }`;
}

function formatKey(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name);
}

function formatNumber(value: number): string {
  return Number.isInteger(value) && value >= 1_000 ? String(value).replace(/\B(?=(\d{3})+$)/g, "_") : String(value);
}
