/**
 * What reading a document reports, and how it names what it found.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import { nearest } from "../../util/nearest.ts";

const maxShownLength = 80;
const maxListed = 40;
/** Strings that are probably keys or tokens: they are never shown, whatever key they were written under. */
const secretLike = /^(?:sk|pk|gsk|xai|hf|ghp)[-_]\S{8}|^eyJ|^Bearer |-----BEGIN|[A-Za-z0-9]{24}|:\/\/.*[@?#]/;
/** Characters that a message would show as nothing: separators other than a space, and category C. */
const unseen = /[^\P{Z} ]|\p{C}/gu;

/** Collects what is wrong with a document. */
export class Report {
  /** They prevent a start. */
  readonly problems: ConfigProblem[] = [];
  /** The configuration is valid with them. */
  readonly warnings: ConfigProblem[] = [];

  /** Adds a problem; returns undefined, so that a reader can end with it. */
  problem(path: string, message: string): undefined {
    this.problems.push({ path, message });
  }

  /** Whether something at or below a path was reported: what follows from it is not worth a second report. */
  isBlamed(path: string): boolean {
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

/** A value as messages show it. Strings that look like secrets are described, not shown. */
export function show(value: unknown): string {
  if (typeof value === "string" && !secretLike.test(value)) return shortened(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : kindOf(value);
}

/** The type of a value in words, in place of the value. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return "a text";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Names in a message, each quoted, in their order. */
export function quoted(names: Iterable<string>): string {
  return [...names].map((name) => JSON.stringify(name)).join(", ");
}

/** `, did you mean "…"?`, or an empty string when no candidate is near, then the candidates. */
export function suggest(name: string, candidates: readonly string[]): string {
  const [near] = nearest(name, candidates, 1);
  const omitted = candidates.length - maxListed;
  const allowed = candidates.length === 0
    ? "there are none"
    : `allowed: ${quoted(candidates.slice(0, maxListed))}${omitted > 0 ? ` and ${omitted} more` : ""}`;
  return near === undefined ? `; ${allowed}` : `, did you mean ${JSON.stringify(near)}? (${allowed})`;
}

/**
 * A key as the configuration would spell it.
 *
 * @param key Such as `baseUrl` or `base-url`.
 */
export function snakeCase(key: string): string {
  return key.replace(/(?<=[a-z])[A-Z]/g, "_$&").replaceAll("-", "_").toLowerCase();
}

function shortened(text: string): string {
  const shown = JSON.stringify(text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text);
  return shown.replace(unseen, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
}
