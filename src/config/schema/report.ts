/**
 * Collects problems of a document, and formats values for error messages.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import { editDistance, nearest, writtenForms } from "../../util/nearest.ts";
import { referencesIn, resolveReferences } from "./references.ts";

const maxShownLength = 80;
const maxListed = 10;
/** Of very many names, the first ones are compared, each up to this length. */
const maxCompared = { names: 2_000, chars: 256 };
/** API keys and tokens. */
const secretForms = /^(?:sk|pk|gsk|xai|hf|ghp)[-_]\S{8}|^eyJ|^Bearer |-----BEGIN|[A-Za-z0-9]{24}/;
/** Invisible characters: separators other than a space, and category C. */
const invisible = /[^\P{Z} ]|\p{C}/gu;

/** Secrets that stand for numbers and booleans. */
export interface ScalarSecrets {
  readonly values: ReadonlyMap<string, string>;
  /** Whether a missing one is a problem; else its key is left out. */
  readonly failOnMissing: boolean;
}

/** What a string with references stands for in place of a number or a boolean. */
type Referenced = { readonly state: "unknown" } | { readonly state: "missing" } | {
  readonly state: "found";
  readonly value: unknown;
};

/** Collects the problems of a document. */
export class Report {
  /** Errors that prevent a start. */
  readonly problems: ConfigProblem[] = [];
  /** Warnings; the configuration is valid nevertheless. */
  readonly warnings: ConfigProblem[] = [];
  /** Secrets that stand for numbers and booleans, and the paths of their keys. */
  readonly deferred: { readonly names: Set<string>; readonly paths: string[] } = { names: new Set(), paths: [] };
  readonly #secrets: ScalarSecrets | undefined;

  /** @param secrets Undefined while they are not known. */
  constructor(secrets?: ScalarSecrets) {
    this.#secrets = secrets;
  }

  /**
   * Resolves a string in place of a number or a boolean.
   *
   * @param value Any value.
   * @returns Undefined if it has no references, or is in the section that configures the secret store.
   */
  referenced(value: unknown, path: string): Referenced | undefined {
    if (typeof value !== "string" || path.startsWith("secrets.")) return undefined;
    const { names, problem } = referencesIn(value);
    if (names.length === 0 || problem !== undefined) return undefined;
    if (this.#secrets === undefined) {
      for (const name of names) this.deferred.names.add(name);
      this.deferred.paths.push(path);
      return { state: "unknown" };
    }
    const { values, failOnMissing } = this.#secrets;
    const { text, missing } = resolveReferences(value, (name) => values.get(name));
    if (missing.length === 0) return { state: "found", value: scalarIn(text) };
    for (const name of missing) {
      if (failOnMissing) this.problem(path, `the secret "${name}" is missing`);
      else this.warn(path, `is left out: the secret "${name}" is missing`);
    }
    return { state: "missing" };
  }

  /** The findings that do not depend on keys whose values are not known yet: those are next to one. */
  independent(findings: readonly ConfigProblem[]): readonly ConfigProblem[] {
    if (this.deferred.paths.length === 0) return findings;
    const parents = new Set(this.deferred.paths.map(getParentKey));
    return findings.filter(({ path }) => {
      return !parents.has(getParentKey(path)) &&
        ![...parents].some((parent) => parent === path || parent.startsWith(`${path}.`));
    });
  }

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

function getParentKey(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

/** The number or boolean that a text spells, as in YAML; else the text. */
function scalarIn(text: string): unknown {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(?:0|[1-9]\d{0,20})(?:\.\d{1,20})?$/.test(text) ? Number(text) : text;
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
  return typeof value === "number" || typeof value === "boolean" ? String(value) : describeType(value);
}

/** Describes the type of a value, without the value. */
export function describeType(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return "a string";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Formats names for a message, each quoted, in order. */
export function quoted(names: Iterable<string>): string {
  return [...names].map((name) => JSON.stringify(name)).join(", ");
}

/** `, did you mean "…"?` if a candidate is similar, followed by the candidates: of many, the nearest. */
export function suggest(name: string, candidates: readonly string[]): string {
  const [near] = nearest(name, candidates, 1);
  const allowed = candidates.length === 0 ? "none are known" : `allowed: ${listNearest(name, candidates)}`;
  return near === undefined ? `; ${allowed}` : `, did you mean ${JSON.stringify(near)}? (${allowed})`;
}

/** Formats candidates for a message: all in order, or of more than ten the nearest ones and the number of the others. */
export function listNearest(name: string, candidates: readonly string[]): string {
  const omitted = candidates.length - maxListed;
  if (omitted <= 0) return quoted(candidates);
  return `${quoted(nearestFirst(name, candidates).slice(0, maxListed))} and ${omitted} more`;
}

/** Sorts names by their similarity to one: those that {@linkcode nearest} returns, then the others by edit distance. */
function nearestFirst(name: string, names: readonly string[]): string[] {
  const target = name.slice(0, maxCompared.chars).toLowerCase();
  const similar = nearest(name, names, maxCompared.names);
  const isSimilar = new Set(similar);
  const others = names.slice(0, maxCompared.names).filter((other) => !isSimilar.has(other))
    .map((other) => {
      const forms = writtenForms(other.slice(0, maxCompared.chars));
      return { other, edits: Math.min(...forms.map((form) => editDistance(target, form))) };
    })
    .sort((first, second) => first.edits - second.edits);
  return [...similar, ...others.map(({ other }) => other)];
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
