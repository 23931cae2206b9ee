/**
 * Reads scalar values.
 * @module
 */
import type { Field } from "./field.ts";
import { formatProblem } from "./formats.ts";
import { describeType, quoted, type Report, show, suggest } from "./report.ts";
import { referencesIn, variableProblem } from "./references.ts";
import { parseDuration, parseSize } from "./units.ts";

/** Where a value is. */
export interface ValueLocation {
  readonly path: string;
  readonly report: Report;
}

/** What a program may pass, by what it is recognized. */
const instances: Readonly<
  Record<NonNullable<Field["instance"]>, { readonly kind: string; readonly methods: readonly string[] }>
> = {
  provider: { kind: "a provider", methods: ["complete"] },
  strategy: { kind: "a strategy", methods: ["select", "score"] },
};

/** Reads a value without inner values; reports and returns undefined if it is invalid. */
export function readScalar(field: Field, value: unknown, location: ValueLocation): unknown {
  switch (field.type) {
    case "text":
      return readText(field, value, location);
    case "choice":
      return readChoice(field, value, location);
    case "instance": {
      const { kind, methods } = instances[field.instance!];
      if (isInstance(value, methods)) return value;
      return location.report.problem(
        location.path,
        invalidValue(`${kind}, an object with ${methods.join(" and ")}`, value),
      );
    }
    default:
      return readReferable(field, value, location);
  }
}

function isInstance(value: unknown, methods: readonly string[]): boolean {
  return typeof value === "object" && value !== null &&
    methods.every((method) => typeof Reflect.get(value, method) === "function");
}

function readText(field: Field, value: unknown, { path, report }: ValueLocation): string | undefined {
  if (typeof value !== "string") {
    const hint = typeof value === "number" || typeof value === "boolean" ? ": put it in quotes" : "";
    const found = field.isSecret ? describeType(value) : show(value);
    return report.problem(path, `expected a string, found ${found}${hint}`);
  }
  const problem = findTextProblem(value, field);
  return problem === undefined ? value : report.problem(path, problem);
}

function findTextProblem(value: string, { format, isLiteral, isMultiline, isSecret }: Field): string | undefined {
  if (value.trim() === "") return "expected a string, found a blank one";
  // deno-lint-ignore no-control-regex
  if (!isMultiline && /[\x00-\x1f\x7f]/.test(value)) return "contains a line break or another control character";
  const { names, problem } = referencesIn(value);
  if (problem !== undefined) return problem;
  const variable = isLiteral ? undefined : variableProblem(value, isSecret);
  if (variable !== undefined) return variable;
  const wrong = names.length === 0 ? formatProblem(value, format) : undefined;
  if (wrong !== undefined) return isSecret ? wrong : `${wrong}, found ${show(value)}`;
  if (names.length === 0) return undefined;
  if (isLiteral) return "must be a literal: a secret reference is not supported here";
  // text around a reference in a key is part of the key
  return isSecret ? formatProblem(value.replace(/\$\{secrets:[^}]{0,300}\}/g, "x".repeat(16)), format) : undefined;
}

/** Endpoints that `proxy.endpoints` does not limit. */
const alwaysServed = /^(?:health|ready|live|metrics|ui|mesh(?:\/.*)?)$/;

function readChoice(
  { values = [], isPath }: Field,
  value: unknown,
  { path, report }: ValueLocation,
): string | undefined {
  const word = values.find((candidate) => candidate === value);
  if (word !== undefined) return word;
  if (isPath && typeof value === "string") {
    const name = value.replace(/^\/?(?:v1\/)?/, "");
    if (alwaysServed.test(name)) return report.problem(path, `${show(value)} is always served: leave it out`);
    if (values.includes(name)) return report.problem(path, `unknown value ${show(value)}: write ${quoted([name])}`);
  }
  const isWord = typeof value === "string" && referencesIn(value).names.length === 0;
  const found = isWord ? `unknown value ${show(value)}${suggest(value, values)}` : undefined;
  return report.problem(path, found ?? invalidValue(`one of ${quoted(values)}`, value));
}

/** Reads a number or a boolean; a string with secret references may stand for it. */
function readReferable(field: Field, value: unknown, { path, report }: ValueLocation): unknown {
  const { expected, parse, readings } = getNotation(field);
  const referenced = report.referenced(value, path);
  if (referenced?.state === "unknown") return createSample(field);
  if (referenced?.state === "missing") return undefined;
  const valid = parse(referenced === undefined ? value : referenced.value);
  if (valid !== undefined) return valid;
  if (referenced !== undefined) return report.problem(path, `expected ${expected}, found another value in ${value}`);
  const variable = typeof value === "string" ? variableProblem(value) : undefined;
  if (variable !== undefined) return report.problem(path, variable);
  const isBare = readings !== undefined && Number.isSafeInteger(value) && Number(value) >= (field.min ?? 1);
  return report.problem(path, invalidValue(expected, value) + (isBare ? `: write ${readings(Number(value))}` : ""));
}

function getNotation(field: Field): {
  /** Description of valid values, for error messages. */
  readonly expected: string;
  /** Returns undefined for an invalid value. */
  readonly parse: (value: unknown) => number | boolean | undefined;
  /** Possible meanings of a bare number, for error messages. */
  readonly readings?: (value: number) => string;
} {
  const { type, min = 1 } = field;
  switch (type) {
    case "flag":
      return { expected: "true or false", parse: (value) => typeof value === "boolean" ? value : undefined };
    case "duration":
      return {
        expected: `a duration${min > 0 ? " above 0" : ""} such as "500ms" or "1h30m"`,
        parse: (value) => atLeast(min, typeof value === "string" ? parseDuration(value) : undefined),
        readings: (value) => `"${value}s" or "${value}ms"`,
      };
    case "size":
      return {
        expected: 'a size such as "512MB" or "64KiB"',
        parse: (value) => atLeast(min, typeof value === "string" ? parseSize(value) : undefined),
        readings: (value) => `"${value}B" or "${value}KiB"`,
      };
    default:
      return { expected: describeNumber(field), parse: (value) => isInRange(value, field) ? value : undefined };
  }
}

function atLeast(min: number, value: number | undefined): number | undefined {
  return value === undefined || value < min ? undefined : value;
}

function isInRange(
  value: unknown,
  { type, min = -Infinity, max = Infinity, above = -Infinity }: Field,
): value is number {
  const isKind = type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isKind && Number(value) >= min && Number(value) <= max && Number(value) > above;
}

function describeNumber({ type, min, max, above }: Field): string {
  const kind = type === "integer" ? "an integer" : "a number";
  if (above !== undefined) return `${kind} above ${above}${max === undefined ? "" : `, up to ${max}`}`;
  if (min === undefined) return kind;
  return `${kind}${max === undefined ? ` of ${min} or more` : ` from ${min} to ${max}`}`;
}

/** A valid value for a key whose secret is not known yet: nothing is served with it. */
function createSample({ type, default: defaultValue, min, max = Infinity, above }: Field): unknown {
  if (defaultValue !== undefined) return defaultValue;
  if (type === "flag") return true;
  if (type === "duration" || type === "size") return Math.max(min ?? 1, 60_000);
  return max <= 1 ? 0.5 : Math.min((min ?? above ?? 0) + 1, max);
}

/** The message about an invalid value; a value that looks like a secret is not quoted. */
export function invalidValue(expected: string, value: unknown): string {
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  return `expected ${expected}, found ${isReference ? "a secret reference, which must be a string" : show(value)}`;
}
