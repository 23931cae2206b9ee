/**
 * Makes text harmless for terminals and readers of lines.
 * @module
 */

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
