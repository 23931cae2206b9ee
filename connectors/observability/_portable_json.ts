/**
 * JSON for readers that are stricter than the grammar.
 * @module
 */

/** An escaped backslash, or half of a surrogate pair, which `JSON.stringify` escapes only if the other half is missing. */
const escapes = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/**
 * Formats a value as JSON in which every string is valid Unicode: ClickHouse, DuckDB and others reject a record with half of a
 * surrogate pair, such as one whose payload was truncated between both. It is replaced by U+FFFD.
 */
export function toPortableJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes("\\ud") ? text.replace(escapes, (escape) => escape === "\\\\" ? escape : "\ufffd") : text;
}
