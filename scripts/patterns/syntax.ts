/**
 * Parses regular expressions as far as their effort depends on it: characters, sequences, alternatives, repetitions.
 * @module
 */

/** A part of a regular expression. */
export type Node =
  /** One character; the text is a regular expression of its own. */
  | { readonly kind: "character"; readonly text: string }
  | { readonly kind: "sequence"; readonly nodes: readonly Node[] }
  | { readonly kind: "choice"; readonly options: readonly Node[] }
  | { readonly kind: "repetition"; readonly node: Node; readonly min: number; readonly max: number }
  /** Matches no character, and may fail. */
  | { readonly kind: "assertion"; readonly text: string };

/** The end of any position of a text. */
const empty: Node = { kind: "sequence", nodes: [] };

/**
 * Parses a regular expression.
 *
 * @param source A valid one, without slashes and flags.
 * @throws {SyntaxError} For a backreference, whose effort cannot be bounded.
 */
export function parsePattern(source: string): Node {
  return new Parser(source).choice();
}

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  choice(): Node {
    const options = [this.#sequence()];
    while (this.#take("|")) options.push(this.#sequence());
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source[this.#at]!)) nodes.push(this.#repetition());
    return { kind: "sequence", nodes };
  }

  #repetition(): Node {
    const node = this.#atom();
    const [text, min, max] = this.#match(/\{(\d+)(?:,(\d*))?\}\??|[*+?]\??/y) ?? [];
    if (text === undefined) return node;
    const [least, most] = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] }[text[0]!] ??
      [Number(min), max === undefined ? Number(min) : max === "" ? Infinity : Number(max)];
    return { kind: "repetition", node, min: least!, max: most! };
  }

  #atom(): Node {
    if (this.#take("(")) return this.#group();
    const [assertion] = this.#match(/[\^$]|\\[bB]/y) ?? [];
    if (assertion !== undefined) return { kind: "assertion", text: assertion };
    if (this.#match(/\\(?:[1-9]|k<)/y)) throw new SyntaxError("A backreference");
    const [text] = this.#match(
      /\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u....|x..|[pP]\{[^}]*\}|c.|.)|[\ud800-\udbff][\udc00-\udfff]|[^]/y,
    )!;
    return { kind: "character", text };
  }

  #group(): Node {
    const [start = ""] = this.#match(/\?(?:<?[=!]|:|<[^>]*>)/y) ?? [];
    const node = this.choice();
    this.#take(")");
    // what is behind is read like any other text; what is not there makes no difference to the effort
    if (start.endsWith("!")) return empty;
    return start === "?=" ? { kind: "repetition", node, min: 0, max: 1 } : node;
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }
}
