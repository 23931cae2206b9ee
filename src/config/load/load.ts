/**
 * Reads configuration files. The only part of the configuration that handles files and their formats.
 * @module
 */
import type { FileSystem } from "../../contracts/runtime.ts";
import { ConfigError, type ConfigProblem } from "../../errors.ts";
import { describeType, Report, under } from "../schema/report.ts";
import { inspectTree, isPlainObject } from "../schema/tree.ts";
import { readYaml, type YamlModule } from "./_yaml_read.ts";
export type { YamlModule } from "./_yaml_read.ts";

const maxBytes = 1_048_576;

/**
 * Reads a configuration file; the extension determines the format.
 *
 * @param path Path of the file; it ends in `.yaml`, `.yml` or `.json`.
 * @param importYaml Called for `.yaml` and `.yml` only.
 * @throws {ConfigError} If the file cannot be read, is not a document, or the YAML module is missing.
 */
export async function loadDocument(
  path: string,
  files: FileSystem,
  importYaml: () => Promise<YamlModule> = importStdYaml,
): Promise<unknown> {
  const format = detectFormat(path);
  const text = checkText(await readFile(path, files), path);
  const report = new Report();
  const document = format === "json" ? readJson(text, path) : readYaml(text, await loadYaml(path, importYaml), report);
  return checkTree(document, path, report);
}

/**
 * Parses JSON as a document.
 *
 * @param source Its origin, for error messages.
 * @throws {ConfigError} If it is not a document.
 */
export function readJsonDocument(text: string, source: string): unknown {
  return checkTree(readJson(checkText(text, source), source), source);
}

/**
 * The format by file extension; the content is not inspected.
 *
 * @throws {ConfigError} For any other extension.
 */
export function detectFormat(path: string): "yaml" | "json" {
  const extension = /\.(ya?ml|json)$/i.exec(path)?.[1]?.toLowerCase();
  if (extension === undefined) failLoading(path, 'the file name must end in ".yaml", ".yml" or ".json"');
  return extension === "json" ? "json" : "yaml";
}

function checkTree(document: unknown, source: string, report: Report = new Report()): unknown {
  if (report.problems.length === 0 && inspectTree(document, report) && !isPlainObject(document)) {
    report.problem("", `expected an object, found ${describeType(document)}`);
  }
  if (report.problems.length > 0) throw new ConfigError(report.problems, source);
  return document;
}

async function readFile(path: string, files: FileSystem): Promise<string> {
  try {
    return await files.readText(path);
  } catch (error) {
    failLoading(path, `the file cannot be read: ${await describeReadFailure(error, path)}`, error);
  }
}

/** Why a file could not be read, without the runtime's own message. */
export async function describeReadFailure(error: unknown, path: string): Promise<string> {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "it does not exist";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EACCES" || code === "EPERM") return "reading it is not permitted";
  return (await import("../../util/denial.ts")).describeDenial(error, { path }) ?? "reading failed";
}

function checkText(text: string, path: string): string {
  const isLarge = text.length > maxBytes || text.length > maxBytes / 3 && byteLength(text) > maxBytes;
  if (isLarge) failLoading(path, "the file is larger than 1 MiB");
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x08\x0e-\x1f\ufffd]/.test(text)) failLoading(path, "the file is not UTF-8 text");
  const content = text.replace(/^\ufeff/, "");
  if (content.trim() === "") failLoading(path, "the file is empty");
  return content;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function readJson(text: string, path: string): unknown {
  const problems = scanJson(text);
  if (problems.length > 0) throw new ConfigError(problems, path);
  return JSON.parse(text);
}

async function importStdYaml(): Promise<YamlModule> {
  const { importStd } = await import("../../util/import_std.ts");
  return await importStd(() => import("@std/yaml"), "yaml/mod.ts");
}

async function loadYaml(path: string, importYaml: () => Promise<YamlModule>): Promise<YamlModule> {
  try {
    return await importYaml();
  } catch (cause) {
    const denied = (await import("../../util/denial.ts")).describeDenial(cause);
    const message = denied !== undefined
      ? `the YAML module of the checkout cannot be read: ${denied}`
      : 'the YAML module "@std/yaml" is not installed: add it with "deno add jsr:@std/yaml" or ' +
        '"npx jsr add @std/yaml", in the folder of ModelMesh if that is a checkout, or write the configuration as JSON';
    const error = new ConfigError([{ path: "", message }], path, cause);
    // the configuration itself is not invalid, so the usual prefix would mislead
    error.message = `Cannot load configuration "${path}": ${message}`;
    throw error;
  }
}

function failLoading(path: string, message: string, cause?: unknown): never {
  throw new ConfigError([{ path: "", message }], path, cause);
}

const maxDepth = 64;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
const blank = /[ \t\r\n]*/y;
// deno-lint-ignore no-control-regex
const plainText = /[^"\\\x00-\x1f]*/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Ends the scan at the first syntax error. */
class JsonMistake extends Error {}

/** The problems of a JSON document: duplicate keys, or the first syntax error with its line. */
export function scanJson(text: string): readonly ConfigProblem[] {
  const scanner = new JsonScanner(text);
  try {
    scanner.scan();
  } catch (error) {
    if (!(error instanceof JsonMistake)) throw error;
    return [{ path: "", message: error.message }];
  }
  return scanner.problems;
}

class JsonScanner {
  readonly problems: ConfigProblem[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    this.#value("", 0);
    if (this.#at < this.#text.length) this.#fail("expected nothing after the document");
  }

  #value(path: string, depth: number): void {
    if (depth > maxDepth) this.#fail(`is nested more than ${maxDepth} levels deep`);
    this.#skip(blank);
    const first = this.#text[this.#at];
    if (first === "{") this.#object(path, depth);
    else if (first === "[") this.#list(path, depth);
    else if (first === '"') this.#string();
    else if (!this.#skip(scalar)) {
      this.#fail("expected a value: an object, a list, a string in double quotes, a number, true, false or null");
    }
    this.#skip(blank);
  }

  #object(path: string, depth: number): void {
    const keys = new Set<string>();
    this.#members("}", () => {
      if (this.#text[this.#at] !== '"') this.#fail('expected a key in double quotes or "}"');
      const line = this.#line();
      const key = this.#string();
      const memberPath = under(path, key);
      if (keys.has(key)) this.problems.push({ path: memberPath, message: `line ${line}: duplicate key` });
      keys.add(key);
      this.#skip(blank);
      if (this.#text[this.#at] !== ":") this.#fail('expected ":" after a key');
      this.#at++;
      this.#value(memberPath, depth + 1);
    });
  }

  #list(path: string, depth: number): void {
    let index = 0;
    this.#members("]", () => this.#value(`${path}[${index++}]`, depth + 1));
  }

  #members(end: string, member: () => void): void {
    this.#at++;
    this.#skip(blank);
    if (this.#text[this.#at] !== end) {
      member();
      while (this.#text[this.#at] === ",") {
        this.#at++;
        this.#skip(blank);
        if (this.#text[this.#at] === end) this.#fail(`expected another member after ",", found "${end}"`);
        member();
      }
    }
    if (this.#text[this.#at] !== end) this.#fail(`expected "," or "${end}"`);
    this.#at++;
  }

  #string(): string {
    const from = this.#at++;
    do this.#skip(plainText); while (this.#skip(escape));
    if (this.#text[this.#at] !== '"') {
      this.#fail("a string is not closed, or contains a line break or an invalid escape");
    }
    return JSON.parse(this.#text.slice(from, ++this.#at));
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    const length = pattern.exec(this.#text)?.[0].length ?? 0;
    this.#at += length;
    return length > 0;
  }

  #line(): number {
    return this.#text.slice(0, this.#at).split("\n").length;
  }

  #fail(message: string): never {
    throw new JsonMistake(`line ${this.#line()}: ${describeForeign(this.#text, this.#at) ?? message}`);
  }
}

/** The problem of what JavaScript and YAML have, and JSON has not. */
function describeForeign(text: string, at: number): string | undefined {
  const found = text.slice(at, at + 100);
  const remedy = "write the configuration as YAML";
  if (/^(?:\/[/*]|#)/.test(found)) return `JSON has no comments: remove this one, or ${remedy}`;
  if (found.startsWith("'")) return "JSON has no strings in single quotes: use double quotes";
  const isYaml = /^(?:---|[A-Za-z_$][\w.-]{0,80}:(?:\s|$))/.test(found) && text.slice(0, at).trim() === "";
  return isYaml ? 'this is YAML: let the name of the file end in ".yaml"' : undefined;
}
