/**
 * Reads the values of fields.
 * @module
 */
import { readScalar, type ValueLocation } from "./_scalars.ts";
import type { Field, Fields, Given } from "./field.ts";
import { describeType, type Report, show, snakeCase, suggest, under } from "./report.ts";
import { copyTree, isPlainObject, listMembers, valueAt } from "./tree.ts";
import { referencesIn } from "./references.ts";

/** Reads a value as given, without defaults; reports and returns undefined if it is invalid. */
export function parse<One extends Field>(field: One, value: unknown, location: ValueLocation): Given<One> | undefined {
  return readValue(field, value, location) as Given<One> | undefined;
}

function readValue(field: Field, value: unknown, location: ValueLocation): unknown {
  switch (field.type) {
    case "list":
      return readList(field, value, location);
    case "map":
      return readMap(field, value, location);
    case "record":
      return Object.assign(Object.create(null), Object.fromEntries(readMap(field, value, location)));
    case "object":
      return readObject(field, value, location);
    case "either": {
      const [other, object] = field.options!;
      const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
      const isRead = other.type === "list" ? Array.isArray(value) : !isObject; // an empty section is null in YAML
      return readValue(isRead ? other : object, value, location);
    }
    case "any":
      return passOn(Object.fromEntries(listObjectMembers(value, location)), location);
    default:
      return readScalar(field, value, location);
  }
}

function readList(field: Field, value: unknown, { path, report }: ValueLocation): unknown {
  const { item, min = 0, isSingleAllowed, check } = field;
  if (!Array.isArray(value)) {
    if (!isSingleAllowed) return report.problem(path, `expected a list, found ${describeType(value)}`);
    const single = readValue(item!, value, { path, report });
    return single === undefined ? undefined : [single];
  }
  if (value.length < min) return report.problem(path, "expected at least one item, found an empty list");
  const items = value.flatMap((entry, index) => readValue(item!, entry, { path: `${path}[${index}]`, report }) ?? []);
  check?.(items, { path, report });
  return items;
}

/** Reads an object whose keys are names, in order. */
function readMap({ item }: Field, value: unknown, location: ValueLocation): Map<string, unknown> {
  const { path, report } = location;
  const entries = new Map<string, unknown>();
  let empty: string | undefined;
  if (Array.isArray(value)) {
    report.problem(path, "expected an object, found a list: write the name of each entry as its key");
    return entries;
  }
  for (const [name, member] of listObjectMembers(value, location)) {
    const memberPath = under(path, name);
    if (empty !== undefined && !isPlainObject(member) && Object.hasOwn(item?.fields ?? {}, name)) {
      report.problem(memberPath, `is a key of an entry: indent it below ${show(empty)}, which is empty`);
      continue;
    }
    empty = member === null ? name : undefined;
    // deno-lint-ignore no-control-regex
    if (!/^[^\x00-\x1f\x7f]{1,200}$/.test(name) || name.trim() !== name) {
      report.problem(memberPath, "a name has 1 to 200 characters, no control characters and no surrounding spaces");
    }
    const read = readValue(item!, member, { path: memberPath, report });
    if (read !== undefined) entries.set(name, read);
  }
  return entries;
}

/** Reads an object with known keys. Keys may be dotted paths; null is read as an empty object. */
function readObject(field: Field, value: unknown, location: ValueLocation): unknown {
  const { fields = {}, required = [], aliases = [], spellings = {}, isOpen } = field;
  const { path, report } = location;
  let empty: string | undefined;
  const values: Record<string, unknown> = Object.create(null);
  if (typeof value === "boolean" && Object.hasOwn(fields, "enabled")) {
    return report.problem(path, `expected an object, found ${value}: write "{ enabled: ${value} }"`);
  }
  const members = listNestedMembers(value, fields, location);
  for (const key of required) {
    if (!members.has(key)) report.problem(under(path, key), "missing: this key is required");
  }
  for (const [key, member] of members) {
    const inner = { path: under(path, key), report };
    const knownField = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const respelled = knownField === undefined ? findSpellings(key, member, spellings) : [];
    for (const { key, instead } of respelled) report.problem(under(path, key), `unknown key: write "${instead}"`);
    if (respelled.length > 0) continue;
    if (knownField !== undefined) empty = member === null && hasMembers(knownField) ? key : undefined;
    else if (!isOpen) report.problem(inner.path, `unknown key${suggestKey(key, field, empty)}`);
    const read = knownField === undefined ? passOn(member, inner) : readValue(knownField, member, inner);
    if (read !== undefined) values[key] = read;
  }
  for (const [first, second] of aliases) compareAliases(values, { key: first, other: second, location });
  field.check?.(values, location);
  return values;
}

function listObjectMembers(value: unknown, { path, report }: ValueLocation): [key: string, value: unknown][] {
  if (isPlainObject(value)) return listMembers(value);
  if (value === null || value === undefined) return [];
  const isObject = typeof value === "object" && !Array.isArray(value);
  const found = isObject ? "an instance or one with methods" : describeType(value);
  // in YAML, "key:value" is a string
  const hint = typeof value === "string" && /^\w{1,60}:(?!\/\/)\S/.test(value) ? ": write a space after the colon" : "";
  report.problem(path, `expected an object, found ${found}${hint}`);
  return [];
}

/** The members of an object; dotted keys are expanded. */
function listNestedMembers(value: unknown, fields: Fields, location: ValueLocation): Map<string, unknown> {
  const { path, report } = location;
  const members = new Map<string, unknown>();
  for (const [key, member] of listObjectMembers(value, location)) {
    const [head = ""] = key.split(".", 1);
    const isDotted = head.length < key.length && Object.hasOwn(fields, head);
    const name = isDotted ? head : key;
    const nested = isDotted ? { [key.slice(head.length + 1)]: member } : member;
    members.set(
      name,
      members.has(name) ? merge(members.get(name), nested, { path: under(path, name), report }) : nested,
    );
  }
  return members;
}

function merge(
  first: unknown,
  second: unknown,
  { path, report }: { readonly path: string; readonly report: Report },
): unknown {
  if (isPlainObject(first) && isPlainObject(second)) {
    const merged = new Map(Object.entries(first));
    for (const [key, member] of Object.entries(second)) {
      merged.set(key, merged.has(key) ? merge(merged.get(key), member, { path: under(path, key), report }) : member);
    }
    return Object.fromEntries(merged);
  }
  if (!isSame(first, second)) report.problem(path, "is set twice, with different values");
  return first;
}

function compareAliases(
  values: unknown,
  { key, other, location: { path, report } }: {
    readonly key: string;
    readonly other: string;
    readonly location: ValueLocation;
  },
): void {
  const [first, second] = [valueAt(values, key), valueAt(values, other)];
  if (first === undefined || second === undefined || isSame(first, second)) return;
  report.problem(under(path, other), `differs from "${key}", which is an alias: set only one of them`);
}

function isSame(first: unknown, second: unknown): boolean {
  if (Object.is(first, second)) return true;
  const isPair = Array.isArray(first) && Array.isArray(second) || isPlainObject(first) && isPlainObject(second);
  if (!isPair) return false;
  const [members, others] = [Object.entries(first), new Map(Object.entries(second))];
  return members.length === others.size && members.every(([key, member]) => isSame(member, others.get(key)));
}

/** Whether a value has members, so that it may be empty where they are not indented. */
function hasMembers({ type }: Field): boolean {
  return type === "object" || type === "map" || type === "either";
}

/** @param empty The section above the key if it is empty: the key may belong to it. */
function suggestKey(key: string, { fields = {}, foreign = {} }: Field, empty: string | undefined): string {
  for (const [program, keys] of Object.entries(foreign)) {
    if (Object.hasOwn(keys, key)) return `, which is ${program}'s: write ${keys[key]} (see docs/migrating.md)`;
  }
  const name = snakeCase(key);
  if (empty !== undefined && !Object.hasOwn(fields, name)) {
    return `: indent it if it belongs to ${show(empty)}, which is empty`;
  }
  if (Object.hasOwn(fields, name)) return suggest(name, Object.keys(fields));
  const inside = Object.entries(fields).find(([, field]) => Object.hasOwn(field.fields ?? {}, name));
  // The first segment of a dotted key that arrives here is unknown.
  const [head = ""] = name.split(".", 1);
  return inside === undefined ? suggest(head, Object.keys(fields)) : `, did you mean "${inside[0]}.${name}"?`;
}

/** Copies attributes of a connector, and checks their references. */
function passOn(value: unknown, { path, report }: ValueLocation): unknown {
  return copyTree(value, (text, memberPath) => {
    const { problem } = referencesIn(text);
    if (problem !== undefined) report.problem(memberPath, problem);
  }, path);
}

/** Number of keys that a message may list. */
const maxShown = 20;

/**
 * Finds the spelling to write for a key and what is in it; none if it does not begin like a parameter of the
 * specification.
 *
 * @param key An unknown key, possibly dotted.
 */
function findSpellings(key: string, value: unknown, spellings: NonNullable<Field["spellings"]>): readonly {
  /** What follows the path of the section. */
  readonly key: string;
  readonly instead: string;
}[] {
  return [...leafKeys(key, value)].slice(0, maxShown).flatMap((leaf) => {
    const prefix = Object.keys(spellings).find((candidate) => leaf.startsWith(`${candidate}.`));
    if (prefix === undefined) return [];
    const [section, rest] = [spellings[prefix]!, leaf.slice(prefix.length + 1)];
    return { key: leaf, instead: section === "" ? rest : `${section}.${rest}` };
  });
}

function* leafKeys(key: string, value: unknown): Generator<string> {
  const members = isPlainObject(value) ? Object.entries(value) : [];
  if (members.length === 0) yield key;
  for (const [name, member] of members) yield* leafKeys(`${key}.${name}`, member);
}
