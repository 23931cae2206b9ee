/**
 * Connectors that a document names, by id or by a short name such as `openai` or `redis`, and their attributes.
 * @module
 */
import type {
  Attribute,
  Attributes,
  AttributeType,
  PluggableConnector,
  ProviderDeclaration,
} from "../../contracts/connector.ts";
import { invalidValue } from "../schema/_scalars.ts";
import { listNearest, quoted, Report, show, snakeCase, suggest, under } from "../schema/report.ts";
import { isPlainObject } from "../schema/tree.ts";
import { referencesIn, variableProblem } from "../schema/references.ts";
import { formatDuration, parseDuration, parseSize } from "../schema/units.ts";
import { toShortName } from "../settings/known.ts";

/** A connector, as names refer to it. */
type NamedConnector =
  & Pick<PluggableConnector, "id">
  & Partial<Pick<ProviderDeclaration, "vendor" | "otherNames" | "detection">>;

type ListNames = (connector: NamedConnector) => readonly (string | undefined)[];

/** How a provider's connector may be named besides its id, best first. */
const providerNames: readonly ListNames[] = [
  ({ vendor }) => [vendor],
  ({ otherNames = [] }) => otherNames,
  ({ detection }) => detection?.keys.map((key) => /^(.+)_API_KEY$/.exec(key)?.[1]?.toLowerCase()) ?? [],
];

/** How another connector may be named besides its id, best first. */
const otherNames: readonly ListNames[] = [
  ({ id }) => [toShortName(id)],
  ({ id }) => [toShortName(id).split(".").at(-1)],
  ({ id }) => [id.slice(0, id.indexOf("."))],
];

/**
 * Finds the connectors that a name means: the one with this id. Else, providers with this vendor or another name, or
 * whose variable is `<NAME>_API_KEY`; and of other kinds those whose id without vendor and version is the name or ends
 * in it, or whose id begins with it.
 *
 * @param name A name such as `openai.llm.v1`, `openai`, `gemini`, `redis` or `s3`.
 * @param connectors Connectors of one kind.
 * @returns The ids; several if the name is ambiguous.
 */
export function findConnectors(name: string, connectors: readonly NamedConnector[]): string[] {
  if (connectors.some(({ id }) => id === name)) return [name];
  const isProviders = connectors.some(({ vendor }) => vendor !== undefined);
  for (const listNames of isProviders ? providerNames : otherNames) {
    const meant = connectors.filter((connector) => listNames(connector).includes(name));
    if (meant.length > 0) return meant.map(({ id }) => id);
  }
  return [];
}

/** The names of providers to suggest for a misspelt one: ids, or the short names. */
export function listProviderNames(misspelt: string, connectors: readonly NamedConnector[]): string[] {
  if (misspelt.includes(".")) return connectors.map(({ id }) => id);
  const names = providerNames.flatMap((listNames) => connectors.flatMap(listNames));
  return [...new Set(names)].filter((name) => name !== undefined);
}

/**
 * Resolves the name of a connector. A name that means none or several is reported.
 *
 * @returns The id; the name itself if it is not resolved.
 */
export function resolveConnector(name: string, { connectors, what, path, report }: {
  /** The connectors that it may mean. */
  readonly connectors: readonly NamedConnector[];
  /** What they are, for messages, such as `storage`. */
  readonly what: string;
  readonly path: string;
  readonly report: Report;
}): string {
  const [id = name, ...others] = findConnectors(name, connectors);
  if (others.length > 0) report.problem(path, describeAmbiguity(name, [id, ...others]));
  else if (!connectors.some((connector) => connector.id === id)) {
    const ids = connectors.map((connector) => connector.id);
    report.problem(path, `no ${what} ${show(name)} is registered${suggest(name, ids)}`);
  }
  return id;
}

/** Says which ones a name may mean. */
export function describeAmbiguity(name: string, candidates: readonly string[]): string {
  return `${show(name)} is ambiguous, use one of ${listNearest(name, candidates)}`;
}

/** Connectors of which nothing but the id is known. */
export function byId(ids: readonly string[]): readonly NamedConnector[] {
  return ids.map((id) => ({ id }));
}

/**
 * Validates attributes; durations are converted to ms and sizes to bytes. Reports undeclared attributes and values of a
 * wrong type.
 */
export function readAttributes(
  attributes: Readonly<Record<string, unknown>>,
  { declared, connector, common = [], report, path: parent }: {
    /** Path of the section with the attributes. */
    readonly path: string;
    readonly connector: string;
    /** The declared attributes. Undefined for a connector without a declaration: it receives all attributes unchecked. */
    readonly declared: Attributes | undefined;
    /** Attributes of the section that only other connectors read; they cause a warning. */
    readonly common?: readonly string[];
    readonly report: Report;
  },
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
