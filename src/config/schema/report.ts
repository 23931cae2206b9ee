/**
 * Collects problems of a document, and formats values for error messages.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import { nearest } from "../../util/nearest.ts";

const maxShownLength = 80;
const maxListed = 40;
/** API keys and tokens. */
const secretForms = /^(?:sk|pk|gsk|xai|hf|ghp)[-_]\S{8}|^eyJ|^Bearer |-----BEGIN|[A-Za-z0-9]{24}/;
/** Invisible characters: separators other than a space, and category C. */
const invisible = /[^\P{Z} ]|\p{C}/gu;

/** Collects the problems of a document. */
export class Report {
  /** Errors that prevent a start. */
  readonly problems: ConfigProblem[] = [];
  /** Warnings; the configuration is valid nevertheless. */
  readonly warnings: ConfigProblem[] = [];

  /** Adds a problem; returns undefined, for use in a return statement. */
  problem(path: string, message: string): undefined {
    this.problems.push({ path, message });
  }

  /** Whether a problem was reported at or below a path, so that consequential problems are not reported. */
  hasProblemAt(path: string): boolean {
    return this.problems.some((problem) => {
      return problem.path.startsWith(path) && ["", ".", "["].includes(problem.path.charAt(path.length));
    });
  }

  warn(path: string, message: string): void {
    this.warnings.push({ path, message });
  }
}

/** The path of a member; the document's own path is empty. */
export function under(path: string, key: string): string {
  const name = /^[\x21-\x7e]{1,80}$/.test(key) ? key : shortened(key);
  return path === "" ? name : `${path}.${name}`;
}

/** Whether a string looks like an API key, a token or a URL with one: it is never shown, whatever its key. */
function looksSecret(text: string): boolean {
  const authority = text.indexOf("://");
  return secretForms.test(text) || authority >= 0 && /[@?#]/.test(text.slice(authority));
}

/** Formats a value for a message. Strings that look like secrets are described instead. */
export function show(value: unknown): string {
  if (typeof value === "string" && !looksSecret(value)) return shortened(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : kindOf(value);
}

/** Describes the type of a value, without the value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return "a string";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Formats names for a message, each quoted, in order. */
export function quoted(names: Iterable<string>): string {
  return [...names].map((name) => JSON.stringify(name)).join(", ");
}

/** `, did you mean "…"?` if a candidate is similar, followed by the candidates. */
export function suggest(name: string, candidates: readonly string[]): string {
  const [near] = nearest(name, candidates, 1);
  const omitted = candidates.length - maxListed;
  const allowed = candidates.length === 0
    ? "none are known"
    : `allowed: ${quoted(candidates.slice(0, maxListed))}${omitted > 0 ? ` and ${omitted} more` : ""}`;
  return near === undefined ? `; ${allowed}` : `, did you mean ${JSON.stringify(near)}? (${allowed})`;
}

/**
 * Converts a key to the spelling of the configuration.
 *
 * @param key A key such as `baseUrl` or `base-url`.
 */
export function snakeCase(key: string): string {
  return key.replace(/(?<=[a-z])[A-Z]/g, "_$&").replaceAll("-", "_").toLowerCase();
}

function shortened(text: string): string {
  const shown = JSON.stringify(text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);
  return shown.replace(invisible, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
