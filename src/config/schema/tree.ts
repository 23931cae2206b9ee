/**
 * Documents as trees of plain values: limits, copying and freezing. Objects with methods and class instances are
 * leaves.
 * @module
 */
import type { ConfigProblem } from "../../errors.ts";
import { type Report, under } from "./report.ts";

const maxDepth = 64;
const maxNodes = 100_000;
const forbiddenKeys: readonly string[] = ["__proto__", "constructor", "prototype"];

interface TreeSize {
  readonly nodes: number;
  /** Nesting depth of objects and lists. */
  readonly height: number;
}

const leaf: TreeSize = { nodes: 1, height: 0 };

/** Whether a value is a plain object: not a list, an instance, or an object with methods. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  // the end of the prototype chain may be the Object.prototype of another realm
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain && !Object.values(value).some((member) => typeof member === "function");
}

/** The members of an object, without keys that affect prototypes, which {@linkcode inspectTree} reports. */
export function listMembers(value: Readonly<Record<string, unknown>>): [key: string, value: unknown][] {
  return Object.entries(value).filter(([key, member]) => member !== undefined && !forbiddenKeys.includes(key));
}

/**
 * Whether a document can be traversed: no cycles, not too deep, and not too large when aliases are counted at each
 * occurrence. Reports problems.
 */
export function inspectTree(document: unknown, report: Report): boolean {
  return new TreeInspector(report).inspect(document);
}

class TreeInspector {
  readonly #report: Report;
  readonly #sizes = new Map<object, TreeSize>();
  readonly #open = new Set<object>();
  #refusal: ConfigProblem | undefined;

  constructor(report: Report) {
    this.#report = report;
  }

  inspect(document: unknown): boolean {
    const before = this.#report.problems.length;
    this.#measure(document, "");
    if (this.#refusal === undefined) return true;
    this.#report.problems.splice(before, Infinity, this.#refusal);
    return false;
  }

  #measure(value: unknown, path: string): TreeSize {
    if (this.#refusal !== undefined || !(Array.isArray(value) || isPlainObject(value))) return leaf;
    if (this.#open.has(value)) return this.#refuse(path, "contains itself");
    const existing = this.#sizes.get(value);
    if (this.#open.size + (existing?.height ?? 1) > maxDepth) {
      return this.#refuse("", `is nested more than ${maxDepth} levels deep`);
    }
    if (existing !== undefined) return existing;
    this.#open.add(value);
    const size = this.#measureMembers(value, path);
    this.#open.delete(value);
    this.#sizes.set(value, size);
    return size;
  }

  #measureMembers(value: object, path: string): TreeSize {
    let nodes = 1;
    let height = 0;
    for (const [key, member] of Object.entries(value)) {
      const isItem = Array.isArray(value);
      const memberPath = isItem ? `${path}[${key}]` : under(path, key);
      const isForbidden = !isItem && key.split(".").some((part) => forbiddenKeys.includes(part));
      if (isForbidden) this.#report.problem(memberPath, "a key of this name is not allowed");
      const size = this.#measure(member, memberPath);
      nodes += size.nodes;
      height = Math.max(height, size.height);
      if (nodes > maxNodes) this.#refuse("", `has more than ${maxNodes} values, counting aliases at each occurrence`);
      if (this.#refusal !== undefined) break;
    }
    return { nodes, height: height + 1 };
  }

  #refuse(path: string, message: string): TreeSize {
    this.#refusal ??= { path, message };
    return leaf;
  }
}

/**
 * A deep copy of plain values without prototypes; leaves are not copied.
 *
 * @param visit Called with each string and its path.
 */
export function copyTree(value: unknown, visit: (text: string, path: string) => void, path: string): unknown {
  if (typeof value === "string") visit(value, path);
  if (Array.isArray(value)) return value.map((item, index) => copyTree(item, visit, `${path}[${index}]`));
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, member] of listMembers(value)) copy[key] = copyTree(member, visit, under(path, key));
  return copy;
}

/** Deep-freezes plain values, including maps and sets; objects with methods and instances are not frozen. */
export function deepFreeze<Value>(value: Value): Value {
  if (Object.isFrozen(value)) return value;
  const isCollection = value instanceof Map || value instanceof Set;
  if (!isCollection && !Array.isArray(value) && !isPlainObject(value)) return value;
  if (isCollection) {
    for (const method of ["set", "add", "delete", "clear"]) {
      if (method in value) Object.defineProperty(value, method, { value: refuseChange });
    }
  }
  for (const member of isCollection ? value.values() : Object.values(value as object)) deepFreeze(member);
  return Object.freeze(value);
}

function refuseChange(): never {
  throw new TypeError("Cannot change the settings: they are frozen");
}

/** The member of a plain object at a dotted path; undefined if there is none. */
export function valueAt(values: unknown, path: string): unknown {
  let value = values;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null) return undefined;
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member === undefined || !isPlainObject(value)) return undefined;
    value = member;
  }
  return value;
}
