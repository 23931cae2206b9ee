/**
 * Takes secrets out of texts that leave the process: every resolved value, and what looks like a key.
 * @module
 */

/** Forms that well-known keys have, and header values that carry one. */
const keyForms =
  /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|AIza|tvly|csk|fw|r8)[-_]?[A-Za-z0-9_-]{16,}|\bBearer\s+[^\s"',;]+/g;

/** Values shorter than this are words, not secrets. */
const shortestSecret = 6;

/** Knows the secrets of one mesh. */
export class Redactor {
  readonly #values: Set<string> = new Set();

  /** Remembers a secret's value. */
  add(value: string): void {
    if (value.length >= shortestSecret) this.#values.add(value);
  }

  /**
   * The text without secrets.
   *
   * @param text What is about to leave.
   */
  redact(text: string): string {
    for (const value of this.#values) text = text.replaceAll(value, "[redacted]");
    return text.replace(keyForms, "[redacted]");
  }
}
