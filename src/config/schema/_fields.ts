/**
 * Fields with scalar values.
 * @module
 */
import { type Field, field, invalidValue, leaf, type Shape } from "./field.ts";
import { describeType, quoted, show, suggest } from "./report.ts";
import { referencesIn, variableIn } from "./references.ts";
import { parseDuration, parseSize } from "./units.ts";

interface TextOptions {
  readonly default?: string;
  readonly isSecret?: boolean;
  readonly isLiteral?: boolean;
  readonly isMultiline?: boolean;
  /** Checks a string without secret references; returns the error, if any. */
  readonly check?: (text: string) => string | undefined;
}

/** A string; it may contain secret references unless it is literal. */
export function text(options: TextOptions = {}): Field<string> {
  const { check: _check, isMultiline: _isMultiline, ...facts } = options;
  const shape: Shape = { type: "text", ...facts };
  return field(shape, (value, path, report) => {
    if (typeof value !== "string") {
      const hint = typeof value === "number" || typeof value === "boolean" ? ": put it in quotes" : "";
      return report.problem(
        path,
        `expected a string, found ${options.isSecret ? describeType(value) : show(value)}${hint}`,
      );
    }
    const problem = textProblem(value, options);
    return problem === undefined ? value : report.problem(path, problem);
  });
}

/** True or false; no other value is converted. */
export function flag(options: { default?: boolean } = {}): Field<boolean> {
  return leaf({ type: "flag", ...options }, "true or false", (value) => typeof value === "boolean" ? value : undefined);
}

type Range = Pick<Shape, "min" | "max" | "above"> & { readonly default?: number };

export function integer(range: Range = {}): Field<number> {
  return numeric({ type: "integer", ...range }, "an integer", Number.isSafeInteger);
}

export function number(range: Range = {}): Field<number> {
  return numeric({ type: "number", ...range }, "a number", Number.isFinite);
}

/** A duration, parsed to ms; at least 1 ms by default. */
export function duration(range: Range = {}): Field<number> {
  const minMs = range.min ?? 1;
  return leaf(
    { type: "duration", ...range },
    `a duration${minMs > 0 ? " above 0" : ""} such as "500ms" or "1h30m"`,
    (value) => {
      const ms = typeof value === "string" ? parseDuration(value) : undefined;
      return ms === undefined || ms < minMs ? undefined : ms;
    },
    (value) => `"${value}s" or "${value}ms"`,
  );
}

/** A size, parsed to bytes. */
export function size(range: Range = {}): Field<number> {
  return leaf(
    { type: "size", ...range },
    'a size such as "512MB" or "64KiB"',
    (value) => {
      const bytes = typeof value === "string" ? parseSize(value) : undefined;
      return bytes === undefined || bytes < (range.min ?? 1) ? undefined : bytes;
    },
    (value) => `"${value}B" or "${value}KiB"`,
  );
}

export function oneOf<Word extends string>(words: readonly Word[], standard?: Word): Field<Word> {
  return field({ type: "choice", values: words, default: standard }, (value, path, report) => {
    const word = words.find((one) => one === value);
    if (word !== undefined) return word;
    const isWord = typeof value === "string" && referencesIn(value).names.length === 0;
    const found = isWord ? `unknown value ${show(value)}${suggest(value, words)}` : undefined;
    return report.problem(path, found ?? invalidValue(`one of ${quoted(words)}`, value));
  });
}

/** An object of the program, recognized by its methods. */
export function instance<Value>(kind: string, methods: readonly string[]): Field<Value> {
  return leaf({ type: "instance" }, `${kind}, an object with ${methods.join(" and ")}`, (value) => {
    const isOne = typeof value === "object" && value !== null &&
      methods.every((method) => typeof Reflect.get(value, method) === "function");
    return isOne ? value as Value : undefined;
  });
}

function numeric(shape: Shape, kind: string, isOne: (value: unknown) => boolean): Field<number> {
  const { min = -Infinity, max = Infinity, above = -Infinity } = shape;
  return leaf(shape, kind + formatRange(shape), (value) => {
    const isIn = isOne(value) && Number(value) >= min && Number(value) <= max && Number(value) > above;
    return isIn ? Number(value) : undefined;
  });
}

function formatRange({ min, max, above }: Shape): string {
  if (above !== undefined) return ` above ${above}${max === undefined ? "" : `, up to ${max}`}`;
  if (min === undefined) return "";
  return max === undefined ? ` of ${min} or more` : ` from ${min} to ${max}`;
}

function textProblem(value: string, { check, isLiteral, isMultiline, isSecret }: TextOptions): string | undefined {
  if (value.trim() === "") return "expected a string, found a blank one";
  // deno-lint-ignore no-control-regex
  if (!isMultiline && /[\x00-\x1f\x7f]/.test(value)) return "contains a line break or another control character";
  const { names, problem } = referencesIn(value);
  if (problem !== undefined) return problem;
  const variable = isSecret ? variableIn(value) : undefined;
  if (variable !== undefined) {
    return `is the name of a variable, which is not read here: write "\${secrets:${variable}}"`;
  }
  const wrong = names.length === 0 ? check?.(value) : undefined;
  if (wrong !== undefined) return isSecret ? wrong : `${wrong}, found ${show(value)}`;
  if (names.length === 0) return undefined;
  if (isLiteral) return "must be a literal: a secret reference is not supported here";
  // text around a reference in a key is part of the key
  return isSecret ? check?.(value.replace(/\$\{secrets:[^}]{0,300}\}/g, "x".repeat(16))) : undefined;
}
