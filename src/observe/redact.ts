/**
 * Takes secrets out of texts that leave the process: every resolved value, and what looks like a key.
 * @module
 */
import { toBase64 } from "../util/base64.ts";

/** Forms that well-known keys have, and header values that carry one. */
const keyForms =
  /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|AIza|tvly|csk|fw|r8)[-_]?[A-Za-z0-9_-]{16,}|\bBearer\s+[^\s"',;]+/g;

/** Values shorter than this are words, not secrets. */
const minSecretLength = 6;

/** Knows the secrets of one mesh. */
export class Redactor {
  /** Every form of every secret, the longest first: one may begin like another. */
  #forms: readonly string[] = [];

  /** Remembers a secret's value, and the forms it may be quoted in. */
  add(value: string): void {
    if (value.length < minSecretLength) return;
    const forms = new Set([...this.#forms, value, encodeURIComponent(value), base64(value), jsonText(value)]);
    this.#forms = [...forms].sort((one, other) => other.length - one.length);
  }

  /**
   * The text without secrets.
   *
   * @param text What is about to leave.
   */
  redact(text: string): string {
    for (const form of this.#forms) text = text.replaceAll(form, "[redacted]");
    return text.replace(keyForms, "[redacted]");
  }
}

function base64(value: string): string {
  return toBase64(new TextEncoder().encode(value)).replace(/=+$/, "");
}

function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
