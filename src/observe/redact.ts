/**
 * Redaction of strings that leave the process: every resolved secret, and whatever has the form of a key.
 * @module
 */
import { toBase64 } from "../util/base64.ts";

/** Forms that well-known keys and tokens of clients made at runtime have, and header values that carry one. */
const keyForms =
  /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|AIza|tvly|csk|fw|r8)[-_]?[A-Za-z0-9_-]{16,}|\bmm_[\w-]{43}|\bBearer\s+[^\s"',;]+/g;

/** Values shorter than this are words, not secrets. */
const minSecretLength = 6;

/** Latest tokens that are redacted: many more than are in use at a time. */
const maxTokens = 100;

/** Records are flat; this bounds what circles to itself. */
const maxDepth = 8;

/** Redacts the secrets of one mesh. */
export class Redactor {
  /** Every form of every secret, the longest first: one may begin like another. */
  #forms: readonly string[] = [];
  /** The same of each token, the latest first. */
  #tokens: readonly (readonly string[])[] = [];

  /** Adds a secret, with the forms that it may be quoted in. */
  add(value: string): void {
    this.#forms = byLength([...this.#forms, ...formsOf(value)]);
  }

  /** Adds a short-lived token; the latest ones are redacted. */
  addToken(value: string): void {
    this.#tokens = [byLength(formsOf(value)), ...this.#tokens].slice(0, maxTokens);
  }

  /**
   * The string with `[redacted]` in place of secrets.
   */
  redact(text: string): string {
    for (const forms of [...this.#tokens, this.#forms]) {
      for (const form of forms) text = text.replaceAll(form, "[redacted]");
    }
    return text.replace(keyForms, "[redacted]");
  }
}

/**
 * A copy without secrets in its strings. What has no JSON form is left as it is.
 *
 * @param value Plain data.
 * @param redact Replaces secrets of one string.
 */
export function redactAll<Value>(value: Value, redact: (text: string) => string): Value {
  const copy = (part: unknown, depth: number): unknown => {
    if (typeof part === "string") return redact(part);
    if (typeof part !== "object" || part === null || depth > maxDepth) return part;
    if (Array.isArray(part)) return part.map((member) => copy(member, depth + 1));
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, copy(member, depth + 1)]));
  };
  return copy(value, 0) as Value;
}

function formsOf(value: string): readonly string[] {
  if (value.length < minSecretLength) return [];
  return [value, encodeURIComponent(value), base64(value), jsonText(value)];
}

function byLength(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

function base64(value: string): string {
  return toBase64(new TextEncoder().encode(value)).replace(/=+$/, "");
}

function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}
