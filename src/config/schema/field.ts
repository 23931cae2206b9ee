/**
 * A key of the document: its accepted values as data, for the documentation and the JSON Schema, and the parser of its
 * value, which reports problems.
 * @module
 */
import { type Report, show } from "./report.ts";
import { referencesIn } from "./references.ts";

/** The accepted values of a field, as data. */
export interface Shape {
  readonly type:
    | "text"
    | "flag"
    | "integer"
    | "number"
    | "duration"
    | "size"
    | "choice"
    | "list"
    | "map"
    | "object"
    | "either"
    | "instance"
    | "any";
  /** Default, in base units. */
  readonly default?: unknown;
  /** Minimum: number, ms, or number of items. */
  readonly min?: number;
  /** Maximum. */
  readonly max?: number;
  /** Exclusive minimum. */
  readonly above?: number;
  readonly values?: readonly string[];
  /** Field of the items of a list or map. */
  readonly item?: Field;
  readonly options?: readonly Field[];
  readonly fields?: Fields;
  readonly required?: readonly string[];
  /** Whether other keys are accepted and passed to the connector. */
  readonly isOpen?: boolean;
  /** Aliases among the keys. */
  readonly aliases?: readonly Aliases[];
  /** Whether the value is never shown. */
  readonly isSecret?: boolean;
  /** Whether secret references are rejected, since the value is a name. */
  readonly isLiteral?: boolean;
}

/** A key of the document. */
export interface Field<Value = unknown> {
  readonly shape: Shape;
  /** Parses a value; reports and returns undefined if it is invalid. */
  read(value: unknown, path: string, report: Report): Value | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** Two keys with the same meaning, by dotted path. */
export type Aliases = readonly [string, string];

/** Keys of an object that is parsed as `Value`; additional keys have no effect yet. */
export type FieldsOf<Value> =
  & { readonly [Key in keyof Value]-?: Field<NonNullable<Value[Key]>> }
  & Fields;

/** Creates a field from its description and its parser. */
export function field<Value>(shape: Shape, read: Field<Value>["read"]): Field<Value> {
  return { shape, read };
}

/**
 * A field with scalar values.
 *
 * @param expected Description of valid values, for error messages.
 * @param read Returns undefined for an invalid value.
 * @param readings Possible meanings of a bare number, for error messages.
 */
export function leaf<Value>(
  shape: Shape,
  expected: string,
  read: (value: unknown) => Value | undefined,
  readings?: (value: number) => string,
): Field<Value> {
  return field(shape, (value, path, report) => {
    const referenced = shape.type === "instance" ? undefined : report.referenced(value, path);
    if (referenced?.state === "unknown") return createSample(shape) as Value;
    if (referenced?.state === "missing") return undefined;
    const valid = read(referenced === undefined ? value : referenced.value);
    if (valid !== undefined) return valid;
    if (referenced !== undefined) return report.problem(path, `expected ${expected}, found another value in ${value}`);
    const isBare = readings !== undefined && typeof value === "number";
    return report.problem(path, invalidValue(expected, value) + (isBare ? `: write ${readings(value)}` : ""));
  });
}

/** A valid value for a key whose secret is not known yet: nothing is served with it. */
function createSample({ type, default: standard, min, max = Infinity, above }: Shape): unknown {
  if (standard !== undefined) return standard;
  if (type === "flag") return true;
  if (type === "duration" || type === "size") return Math.max(min ?? 1, 60_000);
  return max <= 1 ? 0.5 : Math.min((min ?? above ?? 0) + 1, max);
}

/** The message about an invalid value; a value that looks like a secret is not quoted. */
export function invalidValue(expected: string, value: unknown): string {
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  return `expected ${expected}, found ${isReference ? "a secret reference, which must be a string" : show(value)}`;
}
