/**
 * Detects problems that `JSON.parse` does not report: the line of a syntax error without an excerpt of the file, and
 * duplicate keys.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import { under } from "../schema/report.ts";

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
    throw new JsonMistake(`line ${this.#line()}: ${message}`);
  }
}
