/**
 * Redaction of strings that leave the process: resolved secrets, and strings in the format of well-known API keys;
 * which variables and settings are secret by their names.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { toBase64 } from "../util/base64.ts";
import type { SecretIndex } from "./secret_index.ts";
import { stripTrailing } from "../util/strip_trailing.ts";

/** Forms that well-known keys, tokens of clients made at runtime and JWTs have, and header values that carry one. */
const keyForms =
  /\b(?:sk|pk|rk|gsk|xai|pplx|hf|nvapi|AIza|tvly|csk|fw|r8)[-_]?[A-Za-z0-9_-]{16,}|\bmm_[\w-]{43}|\beyJ[\w.-]{16,}|\bBearer\s{1,64}[^\s"',;]+/g;

/** Credentials in the authority of a URL. */
const urlCredentials = /(:\/\/)[^\s/?#@"'<>]{1,256}@/g;

/** Parameters of a URL that carry a key, a token or a signature. */
const keyParameters =
  /([?&](?:key|(?:api|access|auth|subscription)[-_]?(?:key|token)|token|secret|password|sig|x-amz-(?:signature|credential|security-token)|signature)=)[^\s&#"'`<>\\]+/gi;

/** Minimum length of a secret; shorter values may be ordinary words. */
const minSecretLength = 6;

/** Number of recent tokens that are redacted, far more than are in use at once. */
const maxTokens = 100;

/** Maximum nesting depth; protects against circular references. */
const maxDepth = 8;

/** Redacts the secrets of one mesh. */
export class Redactor {
  readonly #secrets = new Set<string>();
  /** Encoded forms of all secrets, longest first, since one may be the prefix of another. */
  #forms: readonly string[] | undefined = [];
  /** Creates what finds them when there are many; undefined to look for one after the other. */
  createIndex: ((forms: readonly string[]) => SecretIndex) | undefined;
  #index: SecretIndex | undefined;
  /** Encoded forms of each token, latest first. */
  #tokens: readonly (readonly string[])[] = [];

  /** Adds a secret, in all encodings in which it may appear. */
  add(value: string): void {
    for (const form of listSpellings(value)) this.#secrets.add(form);
    this.#forms = this.#index = undefined; // sorted when needed: there may be many secrets
  }

  /** Adds a short-lived token. Only the most recent ones are kept. */
  addToken(value: string): void {
    this.#tokens = [byLength(listSpellings(value)), ...this.#tokens].slice(0, maxTokens);
  }

  /** Replaces secrets in a string by `[redacted]`. */
  redact(text: string): string {
    const all = this.#forms ??= byLength([...this.#secrets]);
    if (this.createIndex !== undefined) text = (this.#index ??= this.createIndex(all)).redact(text);
    for (const forms of this.createIndex === undefined ? [...this.#tokens, all] : this.#tokens) {
      for (const form of forms) text = text.replaceAll(form, "[redacted]");
    }
    return text.replace(keyForms, "[redacted]").replace(urlCredentials, "$1[redacted]@")
      .replace(keyParameters, "$1[redacted]");
  }
}

/**
 * Returns a deep copy with secrets replaced in all strings. Values without a JSON form are kept as they are; objects
 * nested more than eight levels deep are replaced by a note.
 *
 * @param value Plain data.
 * @param redact Replaces secrets in one string.
 */
export function redactAll<Value>(value: Value, redact: (text: string) => string): Value {
  const copy = (part: unknown, depth: number): unknown => {
    if (typeof part === "string") return redact(part);
    if (typeof part !== "object" || part === null) return part;
    if (depth > maxDepth) return "[nested too deeply]";
    if (Array.isArray(part)) return part.map((member) => copy(member, depth + 1));
    return Object.fromEntries(Object.entries(part).map(([key, member]) => [key, copy(member, depth + 1)]));
  };
  return copy(value, 0) as Value;
}

function listSpellings(value: string): readonly string[] {
  if (value.length < minSecretLength) return [];
  return [value, encodeURIComponent(value), toBase64Variants(value), jsonText(value)];
}

function byLength(forms: readonly string[]): readonly string[] {
  return [...new Set(forms)].sort((first, second) => second.length - first.length);
}

function toBase64Variants(value: string): string {
  return stripTrailing(toBase64(new TextEncoder().encode(value)), "=");
}

function jsonText(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** Matches names of variables and settings whose values are secrets. */
const secretNames =
  /(^|[_-])(api[_-]?key|authorization|token|secret|password|passphrase|secret_access_key|private_key)$/i;

/** Maximum nesting depth of settings. */
const maxVariableDepth = 4;

/**
 * Wraps a runtime so that secret environment variables are redacted once they are read, and credentials once connectors
 * obtain them. Connectors read some variables that no configuration names, such as `AWS_SESSION_TOKEN`.
 */
export function withSecretVariables(runtime: Runtime, redactor: Redactor): Runtime {
  const seen = new Set<string>();
  const env = (name: string) => {
    const value = runtime.env(name);
    if (value !== undefined && secretNames.test(name) && !seen.has(value)) {
      seen.add(value);
      redactor.add(value.trim());
    }
    return value;
  };
  return {
    ...runtime,
    env: Object.assign(env, { isDenied: runtime.env.isDenied }),
    addSecret: (value) => redactor.addToken(value),
  };
}

/** Redacts secrets that a connector's settings contain literally. */
export function addSecretSettings(settings: unknown, redactor: Redactor): void {
  const visit = (value: unknown, name: string, depth: number) => {
    if (typeof value === "string" && secretNames.test(name)) redactor.add(value.trim());
    if (typeof value !== "object" || value === null || depth === maxVariableDepth) return;
    for (const [key, member] of Object.entries(value)) visit(member, key, depth + 1);
  };
  visit(settings, "", 0);
}
