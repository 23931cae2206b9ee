/**
 * A key of the document: what it takes, as data for the documentation and the JSON Schema, and how a value is
 * read, with what does not fit reported.
 * @module
 */
import { type Report, show } from "./report.ts";
import { referencesIn } from "./references.ts";

/** What a field takes, as data. */
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
  /** In base units. */
  readonly default?: unknown;
  /** Minimum number, ms, or count of items. */
  readonly min?: number;
  /** Maximum number. */
  readonly max?: number;
  /** Exclusive minimum. */
  readonly above?: number;
  readonly values?: readonly string[];
  /** Items of a list or a map. */
  readonly item?: Field;
  readonly options?: readonly Field[];
  readonly fields?: Fields;
  readonly required?: readonly string[];
  /** Other keys are accepted and passed to the connector. */
  readonly isOpen?: boolean;
  /** Pairs of keys with one meaning. */
  readonly aliases?: readonly Aliases[];
  /** The value is never shown. */
  readonly isSecret?: boolean;
  /** Secret references are refused, since the value is a name. */
  readonly isLiteral?: boolean;
}

/** A key of the document. */
export interface Field<Value = unknown> {
  readonly shape: Shape;
  /** Reads a value as written; undefined when it does not fit, which is reported. */
  read(value: unknown, path: string, report: Report): Value | undefined;
}

export type Fields = Readonly<Record<string, Field>>;

/** Two keys that mean the same, by dotted path. */
export type Aliases = readonly [string, string];

/** Keys of an object that is read as `Value`; further ones are those without effect yet. */
export type FieldsOf<Value> =
  & { readonly [Key in keyof Value]-?: Field<NonNullable<Value[Key]>> }
  & Fields;

/** Makes a field of its description and its reader. */
export function field<Value>(shape: Shape, read: Field<Value>["read"]): Field<Value> {
  return { shape, read };
}

/**
 * A field that takes single values.
 *
 * @param expected In words, for messages.
 * @param read Returns undefined for a value that does not fit.
 * @param readings Meanings a bare number may have had, for messages.
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

/** The message about a value that does not fit; a value that looks like a secret is not quoted. */
export function misfit(expected: string, value: unknown): string {
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  return `expected ${expected}, found ${isReference ? "a secret reference, which only a text can be" : show(value)}`;
}
