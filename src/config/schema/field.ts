/**
 * A key of the document: what it takes, as data for the documentation and the JSON Schema, and how a value is
 * read, with what does not fit reported.
 * @module
 */
import { type Report, show } from "./report.ts";
import { referencesIn } from "./references.ts";

/** What a field takes, as data. */
export interface Shape {
  /** The kind of value. */
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
  /** The default, in base units. */
  readonly default?: unknown;
  /** Least number, ms, or count of items. */
  readonly min?: number;
  /** Greatest number. */
  readonly max?: number;
  /** The number has to be greater than this. */
  readonly above?: number;
  /** Words of a choice. */
  readonly values?: readonly string[];
  /** What a list or a map holds. */
  readonly item?: Field;
  /** Alternatives. */
  readonly options?: readonly Field[];
  /** Keys of an object. */
  readonly fields?: Fields;
  /** Keys an object has to have. */
  readonly required?: readonly string[];
  /** Whether an object takes other keys too, for its connector. */
  readonly isOpen?: boolean;
  /** Keys of an object that mean the same. */
  readonly aliases?: readonly Aliases[];
  /** Whether the string is never shown. */
  readonly isSecret?: boolean;
  /** Whether the string has to be written out, since it names something. */
  readonly isLiteral?: boolean;
  /** Whether the key is accepted but has no effect yet. */
  readonly isLater?: boolean;
}

/** A key of the document. */
export interface Field<Value = unknown> {
  /** What it takes, as data. */
  readonly shape: Shape;
  /** Reads a value as written; undefined when it does not fit, which is reported. */
  read(value: unknown, path: string, report: Report): Value | undefined;
}

/** Keys of an object. */
export type Fields = Readonly<Record<string, Field>>;

/** Two keys that mean the same, by dotted path. */
export type Aliases = readonly [string, string];

/** Keys of an object that is read as `Value`; further ones are those without effect yet. */
export type FieldsOf<Value> =
  & { readonly [Key in keyof Value]-?: Field<NonNullable<Value[Key]>> }
  & Fields;

/**
 * A field.
 *
 * @param shape What it takes, as data.
 * @param read How it is read.
 */
export function field<Value>(shape: Shape, read: Field<Value>["read"]): Field<Value> {
  return { shape, read };
}

/**
 * A field that takes single values.
 *
 * @param shape What it takes, as data.
 * @param expected What it takes, in words.
 * @param read The value, undefined when it does not fit.
 * @param readings What a bare number may have meant.
 */
export function leaf<Value>(
  shape: Shape,
  expected: string,
  read: (value: unknown) => Value | undefined,
  readings?: (value: number) => string,
): Field<Value> {
  return field(shape, (value, path, report) => {
    const fitting = read(value);
    if (fitting !== undefined) return fitting;
    const isBare = readings !== undefined && typeof value === "number";
    return report.problem(path, misfit(expected, value) + (isBare ? `: write ${readings(value)}` : ""));
  });
}

/**
 * That a value does not fit.
 *
 * @param expected What is taken.
 * @param value What was found, and is shown unless it looks like a secret.
 */
export function misfit(expected: string, value: unknown): string {
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  return `expected ${expected}, found ${isReference ? "a secret reference, which only a text can be" : show(value)}`;
}
