/**
 * Texts as PostgreSQL stores them, which has no character U+0000.
 * @module
 */

const escaped: Readonly<Record<string, string>> = { "\\": "\\\\", "\0": "\\0" };

/** Encodes any string. The text of a string's beginning is the beginning of its text. */
export function toPostgresText(text: string): string {
  return text.replace(/[\\\0]/g, (character) => escaped[character]!);
}

/** Decodes a text of {@linkcode toPostgresText}. */
export function readPostgresText(text: string): string {
  return text.replace(/\\(.)/g, (_, character) => character === "0" ? "\0" : character);
}

/** Writes an array as PostgreSQL's literal. */
export function toArrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}
