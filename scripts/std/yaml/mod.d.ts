// Copyright 2018-2026 the Deno authors. MIT license.
// The types of @std/yaml that this repository uses, as they are there; the code is npm's deno-std, which has none.

/** Name of the schema to use. */
export type SchemaType = "failsafe" | "json" | "core" | "default" | "extended";

/** How a value is written. */
export type StyleVariant =
  | "lowercase"
  | "uppercase"
  | "camelcase"
  | "decimal"
  | "binary"
  | "octal"
  | "hexadecimal";

/**
 * Position information for error reporting.
 *
 * `line` and `column` are 1-indexed; `offset` is the 0-indexed character
 * offset into the source string.
 */
export interface YamlPosition {
  /** Line number (1-indexed). */
  readonly line: number;
  /** Column number (1-indexed). */
  readonly column: number;
  /** Character offset in the input (0-indexed). */
  readonly offset: number;
}

/**
 * Error thrown when YAML parsing fails.
 *
 * Subclass of {@linkcode SyntaxError}, so existing
 * `instanceof SyntaxError` checks keep working. Carries structured
 * position information so consumers do not have to parse the message.
 */
export class YamlSyntaxError extends SyntaxError {
  /**
   * The line number where the error occurred (1-indexed).
   */
  readonly line: number;
  /**
   * The column number where the error occurred (1-indexed).
   */
  readonly column: number;
  /**
   * The character offset where the error occurred (0-indexed).
   */
  readonly offset: number;
  /**
   * A formatted snippet of the source around the error, including a caret
   * line indicating the column. Undefined when the source is empty.
   */
  readonly snippet?: string;

  /**
   * Constructs a new YamlSyntaxError.
   *
   * The constructed `message` is `${message} at line ${line}, column ${column}`,
   * with `:\n${snippet}` appended when a snippet is provided.
   *
   * @param message The error message describing the syntax issue.
   * @param position The position in the YAML source where the error occurred.
   * @param snippet Optional formatted snippet of the source around the error.
   */
  constructor(message: string, position: YamlPosition, snippet?: string);
}

/** Options for {@linkcode parse}. */
export interface ParseOptions {
  /**
   * Name of the schema to use.
   *
   * @default {"default"}
   */
  schema?: SchemaType;
  /**
   * If `true`, duplicate keys will overwrite previous values. Otherwise,
   * duplicate keys will throw a {@linkcode YamlSyntaxError}.
   *
   * @default {false}
   */
  allowDuplicateKeys?: boolean;
  /**
   * If defined, a function to call on warning messages taking a
   * {@linkcode YamlSyntaxError} as its only argument.
   */
  onWarning?(error: YamlSyntaxError): void;
}

/** Options for {@linkcode stringify}. */
export type StringifyOptions = {
  /**
   * Indentation width to use (in spaces).
   *
   * @default {2}
   */
  indent?: number;
  /**
   * When true, adds an indentation level to array elements.
   *
   * @default {true}
   */
  arrayIndent?: boolean;
  /**
   * Do not throw on invalid types (like function in the safe schema) and skip
   * pairs and single values with such types.
   *
   * @default {false}
   */
  skipInvalid?: boolean;
  /**
   * Specifies level of nesting, when to switch from block to flow style for
   * collections. `-1` means block style everywhere.
   *
   * @default {-1}
   */
  flowLevel?: number;
  /** Each tag may have own set of styles.	- "tag" => "style" map. */
  styles?: Record<string, StyleVariant>;
  /**
   * Name of the schema to use.
   *
   * @default {"default"}
   */
  schema?: SchemaType;
  /**
   * If true, sort keys when dumping YAML in ascending, ASCII character order.
   * If a function, use the function to sort the keys.
   * If a function is specified, the function must return a negative value
   * if first argument is less than second argument, zero if they're equal
   * and a positive value otherwise.
   *
   * @default {false}
   */
  sortKeys?: boolean | ((a: string, b: string, depth: number) => number);
  /**
   * Set max line width.
   *
   * @default {80}
   */
  lineWidth?: number;
  /**
   * If false, don't convert duplicate objects into references.
   *
   * @default {true}
   */
  useAnchors?: boolean;
  /**
   * If false don't try to be compatible with older yaml versions.
   * Currently: don't quote "yes", "no" and so on,
   * as required for YAML 1.1.
   *
   * @default {true}
   */
  compatMode?: boolean;
  /**
   * If true flow sequences will be condensed, omitting the
   * space between `key: value` or `a, b`. Eg. `'[a,b]'` or `{a:{b:c}}`.
   * Can be useful when using yaml for pretty URL query params
   * as spaces are %-encoded.
   *
   * @default {false}
   */
  condenseFlow?: boolean;
};

/** Reads one YAML document. */
export function parse(content: string, options?: ParseOptions): unknown;

/** Writes a value as YAML. */
export function stringify(data: unknown, options?: StringifyOptions): string;
