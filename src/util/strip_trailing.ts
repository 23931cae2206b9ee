/**
 * Removes a character from the end of a text.
 * @module
 */

/**
 * Removes all occurrences of a character from the end of a text. A regular expression such as `/\/+$/` would take
 * quadratic time for a text that contains many of them elsewhere.
 *
 * @param character One character.
 *
 * @example
 * ```ts
 * stripTrailing("https://api.example.com/v1//", "/"); // "https://api.example.com/v1"
 * ```
 */
export function stripTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}
