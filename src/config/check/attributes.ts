/**
 * Validates the attributes of a connector against its declaration.
 * @module
 */
import type { Attribute, Attributes, AttributeType } from "../../contracts/connector.ts";
import { invalidValue } from "../schema/_scalars.ts";
import { quoted, Report, snakeCase, suggest, under } from "../schema/report.ts";
import { isPlainObject } from "../schema/tree.ts";
import { referencesIn, variableProblem } from "../schema/references.ts";
import { formatDuration, parseDuration, parseSize } from "../schema/units.ts";

interface AttributeContext {
  /** Path of the section with the attributes. */
  readonly path: string;
  readonly connector: string;
  /** The declared attributes. Undefined for a connector without a declaration: it receives all attributes unchecked. */
  readonly declared: Attributes | undefined;
  /** Attributes of the section that only other connectors read; they cause a warning. */
  readonly common?: readonly string[];
  readonly report: Report;
}

/**
 * Validates attributes; durations are converted to ms and sizes to bytes. Reports undeclared attributes and values of a
 * wrong type.
 */
export function readAttributes(
  attributes: Readonly<Record<string, unknown>>,
  { declared, connector, common = [], report, path: parent }: AttributeContext,
): Readonly<Record<string, unknown>> {
  if (declared === undefined) return attributes;
  const names = Object.keys(declared);
  const read = Object.entries(attributes).map(([name, value]) => {
    const path = under(parent, name);
    if (value === undefined || value === null) return [name, value];
    if (Object.hasOwn(declared, name)) return [name, readAttribute(value, declared[name]!, { path, report })];
    if (common.includes(name)) report.warn(path, `has no effect: "${connector}" does not read it`);
    else report.problem(path, `unknown key: "${connector}" has no such attribute${suggest(snakeCase(name), names)}`);
    return [name, value];
  });
  return Object.fromEntries(read);
}

const words: Readonly<Record<AttributeType, string>> = {
  text: "a string",
  flag: "true or false",
  integer: "an integer",
  object: "an object",
  list: "a list",
  duration: 'a duration such as "500ms" or "1h30m"',
  size: 'a size such as "512MB" or "64KiB"',
  url: "an http or https URL",
};

/** Possible meanings of a bare number. */
const readings: Readonly<Partial<Record<AttributeType, (value: number) => string>>> = {
  duration: (value) => `: write "${value}s" or "${value}ms"`,
  size: (value) => `: write "${value}B" or "${value}KiB"`,
};

function readAttribute(
  value: unknown,
  attribute: Attribute,
  { path, report }: { readonly path: string; readonly report: Report },
): unknown {
  const { values, min } = attribute;
  const types = [attribute.type].flat();
  const isText = types.includes("text") || types.includes("url") || types.includes("object");
  const referenced = isText ? undefined : report.referenced(value, path);
  if (referenced !== undefined && referenced.state !== "found") return undefined;
  if (referenced !== undefined) {
    const inner = new Report();
    const read = readAttribute(referenced.value, attribute, { path, report: inner });
    if (inner.problems.length === 0) return read;
    return report.problem(
      path,
      `expected ${types.map((type) => words[type]).join(" or ")}, found another value in ${value}`,
    );
  }
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  // the store itself is configured without references
  const variable = typeof value === "string" && !path.startsWith("secrets.") ? variableProblem(value) : undefined;
  if (variable !== undefined) return report.problem(path, variable);
  if (isReference && (types.includes("text") || types.includes("url"))) return value;
  const read = types.map((type) => readAs(type, value)).find((result) => result !== undefined);
  if (read === undefined) {
    const hint = typeof value === "number" ? types.map((type) => readings[type]?.(value) ?? "").join("") : "";
    return report.problem(path, invalidValue(types.map((type) => words[type]).join(" or "), value) + hint);
  }
  if (values !== undefined && ![read].flat().every((item) => values.includes(String(item)))) {
    return report.problem(path, invalidValue(`one of ${quoted(values)}`, value));
  }
  if (min !== undefined && typeof read === "number" && read < min) {
    const least = types.includes("duration") ? formatDuration(min) : types.includes("size") ? `${min}B` : min;
    return report.problem(path, invalidValue(`${words[types[0]!]} of ${least} or more`, value));
  }
  return read;
}

/** The value in base units; undefined if invalid. */
function readAs(type: AttributeType, value: unknown): unknown {
  switch (type) {
    case "text":
      return typeof value === "string" && value.trim() !== "" ? value : undefined;
    case "flag":
      return typeof value === "boolean" ? value : undefined;
    case "integer":
      return Number.isSafeInteger(value) ? value : undefined;
    case "object":
      return isPlainObject(value) ? value : undefined;
    case "list":
      return Array.isArray(value) ? value : undefined;
    case "duration":
      return typeof value === "string" ? parseDuration(value) : undefined;
    case "size":
      return typeof value === "string" ? parseSize(value) : undefined;
    case "url":
      return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value) ? value : undefined;
  }
}
