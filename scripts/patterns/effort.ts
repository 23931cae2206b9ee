/**
 * Determines whether a regular expression can take more than linear time: whether one text can be divided between two
 * of its repetitions in as many ways as it has characters. A search is a repetition as well, of any characters before
 * the match.
 *
 * The positions of the expression's characters are the states of an automaton. It is ambiguous if a word leads from one
 * state both to itself and to another one, and from the other one to itself (Weber and Seidl, "On the degree of
 * ambiguity of finite automata", 1991).
 * @module
 */
import { type Node, parsePattern } from "./syntax.ts";

/** A repetition of more than this counts as unbounded. */
const maxBounded = 500;

/** Characters that stand for all others, in addition to those of the expression itself. */
const samples: readonly string[] = [
  ...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)),
  ...["\u017f", "\u0250", "\u2028", "\u212a", "\u20ac", "\u4e00", "\ud800", "\ufeff", "\ufffd"],
];

/** A character of an expression. */
interface State {
  readonly text: string;
  /** Samples that it matches. */
  readonly characters: ReadonlySet<string>;
  readonly next: Set<State>;
  /** Whether the expression matches when this state is reached, whatever follows. */
  isMatch: boolean;
}

/** A part of an automaton. */
interface Fragment {
  readonly first: readonly State[];
  readonly last: readonly State[];
  readonly isOptional: boolean;
}

const nothing: Fragment = { first: [], last: [], isOptional: true };

/**
 * Explains why a regular expression may take more than linear time.
 *
 * @param source Without slashes.
 * @returns Undefined if it is linear.
 *
 * @example
 * ```ts
 * superlinear("^a*[ab]*$", ""); // '"a" and "[ab]" are repeated next to each other, and match the same text'
 * superlinear("/+$", ""); // 'a search repeats "/" from each of its positions'
 * ```
 */
export function superlinear(source: string, flags: string): string | undefined {
  const pattern = parsePattern(source);
  const states = new Automaton(source, flags).states(pattern);
  for (const state of states) {
    if (!isCyclic(state)) continue;
    for (const other of states) {
      if (other === state || other.isMatch || !isCyclic(other) || !sharesText(state, other)) continue;
      return state.text === ""
        ? `a search repeats "${other.text}" from each of its positions`
        : `"${state.text}" and "${other.text}" are repeated next to each other, and match the same text`;
    }
  }
  return undefined;
}

/**
 * Explains where two unbounded repetitions are neighbors, whatever they match.
 *
 * @param source Without slashes.
 * @returns Undefined if there are none.
 */
export function neighboringRepetitions(source: string): string | undefined {
  return ends(parsePattern(source)).problem;
}

interface Ends {
  /** Whether it begins, or ends, with an unbounded repetition. */
  readonly begins: boolean;
  readonly ends: boolean;
  readonly isOptional: boolean;
  readonly problem: string | undefined;
}

function ends(node: Node): Ends {
  switch (node.kind) {
    case "character":
      return { begins: false, ends: false, isOptional: false, problem: undefined };
    case "assertion":
      return { begins: false, ends: false, isOptional: true, problem: undefined };
    case "repetition": {
      const inner = ends(node.node);
      const isUnbounded = node.max > maxBounded;
      const nested = isUnbounded && inner.ends && inner.begins ? "a repetition of a repetition" : undefined;
      return {
        begins: isUnbounded || inner.begins,
        ends: isUnbounded || inner.ends,
        isOptional: node.min === 0 || inner.isOptional,
        problem: inner.problem ?? nested,
      };
    }
    case "choice": {
      const options = node.options.map(ends);
      return {
        begins: options.some((option) => option.begins),
        ends: options.some((option) => option.ends),
        isOptional: options.some((option) => option.isOptional),
        problem: options.find((option) => option.problem)?.problem,
      };
    }
    case "sequence": {
      let combined: Ends = { begins: false, ends: false, isOptional: true, problem: undefined };
      for (const next of node.nodes.map(ends)) {
        const meets = combined.ends && next.begins ? "two unbounded repetitions next to each other" : undefined;
        combined = {
          begins: combined.begins || combined.isOptional && next.begins,
          ends: next.ends || next.isOptional && combined.ends,
          isOptional: combined.isOptional && next.isOptional,
          problem: combined.problem ?? next.problem ?? meets,
        };
      }
      return combined;
    }
  }
}

class Automaton {
  readonly #flags: string;
  readonly #samples: readonly string[];
  readonly #states: State[] = [];

  constructor(source: string, flags: string) {
    this.#flags = flags;
    this.#samples = [...new Set([...samples, ...source])];
  }

  states(pattern: Node): readonly State[] {
    const options = pattern.kind === "choice" ? pattern.options : [pattern];
    const before: State = { text: "", characters: new Set(this.#samples), next: new Set(), isMatch: false };
    before.next.add(before);
    for (const option of options) {
      const { first, last } = this.#fragment(option);
      if (!this.#isAnchored(option)) { for (const state of first) before.next.add(state); }
      for (const state of last) state.isMatch ||= this.#alwaysMatches(option, state);
    }
    return [before, ...this.#states];
  }

  #fragment(node: Node): Fragment {
    switch (node.kind) {
      case "character":
        return this.#character(node.text);
      case "assertion":
        // the beginning of a line is after the end of another one
        return node.text === "^" && this.#flags.includes("m") ? this.#character("\\n") : nothing;
      case "choice":
        return merged(node.options.map((option) => this.#fragment(option)));
      case "repetition": {
        const inner = this.#fragment(node.node);
        if (node.max > maxBounded) connect(inner.last, inner.first);
        return { ...inner, isOptional: node.min === 0 || inner.isOptional };
      }
      case "sequence":
        return node.nodes.map((value) => this.#fragment(value)).reduce(joined, nothing);
    }
  }

  #character(text: string): Fragment {
    const flags = this.#flags.replace(/[gy]/g, "");
    const pattern = new RegExp(`^(?:${text})$`, flags);
    const characters = new Set(this.#samples.filter((sample) => pattern.test(sample)));
    const state: State = { text, characters, next: new Set(), isMatch: false };
    this.#states.push(state);
    return { first: [state], last: [state], isOptional: false };
  }

  #isAnchored(node: Node): boolean {
    if (this.#flags.includes("y")) return true;
    if (node.kind === "assertion") return node.text === "^" && !this.#flags.includes("m");
    if (node.kind === "choice") return node.options.every((option) => this.#isAnchored(option));
    return node.kind === "sequence" && node.nodes.length > 0 && this.#isAnchored(node.nodes[0]!);
  }

  /** Whether nothing can fail after a last character: there is no assertion, or what it repeats leads there. */
  #alwaysMatches(option: Node, { characters }: State): boolean {
    const last = option.kind === "sequence" ? option.nodes.at(-1) : option;
    if (last?.kind !== "assertion") return last === undefined || !hasAssertionAtEnd(last);
    const isLines = this.#flags.includes("m");
    const needed = this.#samples.filter((sample) => !isLines || !/[\n\r\u2028\u2029]/.test(sample));
    return last.text === "$" && needed.every((sample) => characters.has(sample));
  }
}

function hasAssertionAtEnd(node: Node): boolean {
  if (node.kind === "assertion") return true;
  if (node.kind === "choice") return node.options.some(hasAssertionAtEnd);
  if (node.kind === "repetition") return hasAssertionAtEnd(node.node);
  return node.kind === "sequence" && node.nodes.length > 0 && hasAssertionAtEnd(node.nodes.at(-1)!);
}

function merged(options: readonly Fragment[]): Fragment {
  return {
    first: options.flatMap(({ first }) => first),
    last: options.flatMap(({ last }) => last),
    isOptional: options.some(({ isOptional }) => isOptional),
  };
}

function joined(before: Fragment, after: Fragment): Fragment {
  connect(before.last, after.first);
  return {
    first: before.isOptional ? [...before.first, ...after.first] : before.first,
    last: after.isOptional ? [...before.last, ...after.last] : after.last,
    isOptional: before.isOptional && after.isOptional,
  };
}

function connect(from: readonly State[], to: readonly State[]): void {
  for (const state of from) for (const next of to) state.next.add(next);
}

function isCyclic(state: State): boolean {
  const seen = new Set<State>();
  const open = [...state.next];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next === state) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...next.next);
  }
  return false;
}

/** Whether a word leads from one state to itself, from it to the other one, and from the other one to itself. */
function sharesText(first: State, second: State): boolean {
  const seen = new Map<State, Map<State, Set<State>>>();
  const open: [State, State, State][] = [[first, first, second]];
  for (let states = open.pop(); states !== undefined; states = open.pop()) {
    const [from, between, to] = states;
    for (const a of from.next) {
      for (const b of between.next) {
        if (!intersects(a.characters, b.characters)) continue;
        for (const c of to.next) {
          if (![...a.characters].some((sample) => b.characters.has(sample) && c.characters.has(sample))) continue;
          if (a === first && b === second && c === second) return true;
          if (isKnown(seen, { a, b, c })) continue;
          open.push([a, b, c]);
        }
      }
    }
  }
  return false;
}

function isKnown(
  seen: Map<State, Map<State, Set<State>>>,
  { a, b, c }: { readonly a: State; readonly b: State; readonly c: State },
): boolean {
  const ofA = seen.get(a) ?? new Map<State, Set<State>>();
  seen.set(a, ofA);
  const ofB = ofA.get(b) ?? new Set<State>();
  ofA.set(b, ofB);
  if (ofB.has(c)) return true;
  ofB.add(c);
  return false;
}

function intersects(first: ReadonlySet<string>, second: ReadonlySet<string>): boolean {
  return [...first].some((sample) => second.has(sample));
}
