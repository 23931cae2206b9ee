/**
 * Parses YAML, and rejects ambiguous input that YAML parsers accept.
 * @module
 */
import { describeType, type Report, show, under } from "../schema/report.ts";
import { inspectTree, isPlainObject } from "../schema/tree.ts";

/** The used part of `@std/yaml`. */
export interface YamlModule {
  parse(content: string, options?: { schema?: "core" | "failsafe" }): unknown;
}

const plainNumber = /^[-+]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/**
 * Parses a YAML document. Numbers must be spelled so that every parser reads the same number, and keys so that none
 * reads a number. Merge keys are expanded; tags are not supported.
 *
 * @param report Collects problems, with line numbers if the parser reports them, but never with an excerpt of the file.
 */
export function readYaml(text: string, yaml: YamlModule, report: Report): unknown {
  const tabbed = text.split("\n").findIndex((line) => /^ *\t\s*[^\s#]/.test(line));
  if (tabbed !== -1) return report.problem("", `line ${tabbed + 1} is indented with a tab: use spaces`);
  try {
    const document = yaml.parse(text, { schema: "core" });
    if (document === null) return report.problem("", "the file is empty");
    if (!inspectTree(document, report)) return document;
    compare(document, yaml.parse(text, { schema: "failsafe" }), { context: { report, seen: new Set() }, path: "" });
    // a quoted key is a plain string, which the parser does not distinguish
    return /["']<<["']/.test(text) ? document : mergeKeys(document, report);
  } catch (error) {
    return report.problem("", describeParseError(error, text));
  }
}

/** The parser's message without its excerpt of the file, which may contain an API key. */
function describeParseError(error: unknown, text: string): string {
  if (error instanceof RangeError) return "the file is nested too deeply";
  const message = error instanceof Error ? error.message : "";
  const [, reason, line, column] = /^(.*?)(?: at line (\d+), column (-?\d+))?(?::?\n|$)/s.exec(message) ?? [];
  const words = withoutQuotes(reason ?? "");
  if (/more than 1 document/i.test(words)) {
    return `line ${line}: a second document starts, but the file may contain only one`;
  }
  if (/duplicat/i.test(words)) {
    const key = findKey(text.split("\n")[Number(line) - 1] ?? "", Number(column));
    return `line ${line}: duplicate key${key === undefined ? "" : ` ${show(key)}`}`;
  }
  if (line === undefined) return "the file is not valid YAML";
  const isBraced = /[{[][^"']{0,500}\$\{/.test(text.split("\n")[Number(line) - 1] ?? "");
  return `line ${line} is not valid YAML: ${
    isBraced ? 'put "${secrets:NAME}" in quotes between braces or brackets' : words
  }`;
}

/** A key, quoted or plain, before its colon. */
const keyPattern =
  /(?:"((?:[^"\\]|\\.){0,200})"|'((?:[^']|''){0,200})'|([^\s{}[\],"'#-][^{}[\],"'#]{0,200}?))[ \t]{0,20}:(?=\s|$)/g;

/**
 * The key of a line that the parser refuses.
 *
 * @param column Where the parser stopped, from 1: at the key of a block, after the value in braces, or anywhere below 1.
 */
function findKey(line: string, column: number): string | undefined {
  const keys = [...line.slice(0, 1000).matchAll(keyPattern)];
  const found = keys.find(({ index }) => index === column - 1) ??
    (column < 1 ? keys[0] : keys.findLast(({ index }) => index < column));
  return found?.slice(1).find((key) => key !== undefined);
}

/** Replaces everything from the first quote to the last one. */
function withoutQuotes(text: string): string {
  const start = text.search(/["'<]/);
  const end = Math.max(...['"', "'", ">"].map((quote) => text.lastIndexOf(quote)));
  return start < 0 || end <= start ? text : `${text.slice(0, start)}…${text.slice(end + 1)}`;
}

/** Compares the document with a parse in which every scalar is its literal string. */
function compare(
  value: unknown,
  written: unknown,
  { context, path }: {
    readonly context: { readonly report: Report; readonly seen: Set<object> };
    readonly path: string;
  },
): void {
  if (typeof value === "number" && typeof written === "string" && !plainNumber.test(written)) {
    context.report.problem(
      path,
      'is a number spelled in a way that YAML readers disagree on (such as "017", "1_000", "0x1F" or ".5"): write it ' +
        "as a plain decimal, or put it in quotes if it is a string",
    );
  }
  if (typeof value !== "object" || value === null || context.seen.has(value)) return;
  context.seen.add(value);
  if (Array.isArray(value) && Array.isArray(written)) {
    value.forEach((item, index) => compare(item, written[index], { context, path: `${path}[${index}]` }));
  } else if (isPlainObject(value) && isPlainObject(written)) {
    for (const [key, member] of Object.entries(written)) {
      const isOwn = Object.hasOwn(value, key) && key !== "[object Object]";
      if (isOwn) compare(value[key], member, { context, path: under(path, key) });
      else {context.report.problem(
          under(path, key),
          "is a key that YAML readers do not read as a string: put it in quotes",
        );}
    }
  }
}

const mergeKey = "<<";

/**
 * Replaces merge keys by the members that they stand for. An object's own members take precedence, then those of earlier
 * objects.
 *
 * @param document A parsed document without cycles.
 * @param report Collects merge keys that name no object.
 */
function mergeKeys(document: unknown, report: Report): unknown {
  const merged = new Map<object, unknown>();
  return merge(document, "");

  function merge(value: unknown, path: string): unknown {
    if (!Array.isArray(value) && !isPlainObject(value)) return value;
    if (merged.has(value)) return merged.get(value); // an alias
    const result = Array.isArray(value)
      ? value.map((item, index) => merge(item, `${path}[${index}]`))
      : mergeObject(value, path);
    merged.set(value, result);
    return result;
  }

  function mergeObject(value: Readonly<Record<string, unknown>>, path: string): Record<string, unknown> {
    const own = new Map(
      Object.entries(value).filter(([key]) => key !== mergeKey).map(([key, member]) => {
        return [key, merge(member, under(path, key))] as const;
      }),
    );
    const sources = Object.hasOwn(value, mergeKey) ? [value[mergeKey]].flat() : [];
    for (const source of sources) {
      const from = merge(source, under(path, mergeKey));
      if (!isPlainObject(from)) {
        report.problem(
          under(path, mergeKey),
          `expected an object to merge, or a list of objects, found ${describeType(from)}`,
        );
        continue;
      }
      for (const [key, member] of Object.entries(from)) if (!own.has(key)) own.set(key, member);
    }
    return Object.fromEntries(own);
  }
}
