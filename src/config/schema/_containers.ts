/**
 * Fields that contain other fields.
 * @module
 */
import { type Aliases, type Field, field, type Fields, type FieldsOf } from "./field.ts";
import { describeType, type Report, snakeCase, suggest, under } from "./report.ts";
import { copyTree, isPlainObject, listMembers } from "./tree.ts";
import { referencesIn } from "./references.ts";
import { findSpellings, type Spellings } from "./spellings.ts";

export function list<Item>(
  item: Field<Item>,
  options: { min?: number; default?: unknown } = {},
): Field<readonly Item[]> {
  return field({ type: "list", item, ...options }, (value, path, report) => {
    if (!Array.isArray(value)) return report.problem(path, `expected a list, found ${describeType(value)}`);
    if (value.length < (options.min ?? 0)) {
      return report.problem(path, "expected at least one item, found an empty list");
    }
    return value.flatMap((one, index) => item.read(one, `${path}[${index}]`, report) ?? []);
  });
}

export function oneOrMany<Item>(item: Field<Item>): Field<readonly Item[]> {
  const many = list(item, { min: 1 });
  return field({ type: "either", options: [item, many] }, (value, path, report) => {
    if (Array.isArray(value)) return many.read(value, path, report);
    const one = item.read(value, path, report);
    return one === undefined ? undefined : [one];
  });
}

/** Reads an object with one field, and any other value with another. */
export function either<One, Other>(one: Field<One>, object: Field<Other>): Field<One | Other> {
  return field<One | Other>({ type: "either", options: [one, object] }, (value, path, report) => {
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return (isObject ? object : one).read(value, path, report);
  });
}

/** An object whose keys are names, parsed in order to a map. */
export function mapField<Item>(item: Field<Item>): Field<ReadonlyMap<string, Item>> {
  return field({ type: "map", item }, (value, path, report) => {
    const entries = new Map<string, Item>();
    for (const [name, member] of objectMembers(value, path, report)) {
      const memberPath = under(path, name);
      // deno-lint-ignore no-control-regex
      if (!/^[^\x00-\x1f\x7f]{1,200}$/.test(name) || name.trim() !== name) {
        report.problem(memberPath, "a name has 1 to 200 characters, no control characters and no surrounding spaces");
      }
      const read = item.read(member, memberPath, report);
      if (read !== undefined) entries.set(name, read);
    }
    return entries;
  });
}

/** An object whose keys are names, parsed to an object. */
export function recordField<Item>(item: Field<Item>): Field<Readonly<Record<string, Item>>> {
  const { shape, read } = mapField(item);
  return field(shape, (value, path, report) => {
    return Object.assign(Object.create(null), Object.fromEntries(read(value, path, report) ?? []));
  });
}

/** Attributes that are passed to a connector unchanged; their strings may contain secret references. */
export function passThrough(): Field<Readonly<Record<string, unknown>>> {
  return field({ type: "any" }, (value, path, report) => {
    const members = Object.fromEntries(objectMembers(value, path, report));
    return passOn(members, path, report) as Readonly<Record<string, unknown>>;
  });
}

interface ObjectOptions {
  /** Spellings of the specification that begin with other words. */
  readonly spellings?: Spellings;
  readonly isOpen?: boolean;
  readonly required?: readonly string[];
  readonly aliases?: readonly Aliases[];
}

/** An object with known keys. Keys may be dotted paths; null is read as an empty object. */
export function object<Value extends object>(
  fields: FieldsOf<Value>,
  { spellings = {}, ...options }: ObjectOptions = {},
): Field<Value> {
  return field({ type: "object", fields, ...options }, (value, path, report) => {
    const values: Record<string, unknown> = Object.create(null);
    if (typeof value === "boolean" && Object.hasOwn(fields, "enabled")) {
      return report.problem(path, `expected an object, found ${value}: write "{ enabled: ${value} }"`);
    }
    const members = nestedMembers(value, fields, path, report);
    for (const key of options.required ?? []) {
      if (!members.has(key)) report.problem(under(path, key), "missing: this key is required");
    }
    for (const [key, member] of members) {
      const memberPath = under(path, key);
      const known = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const respelled = known === undefined ? findSpellings(key, member, spellings) : [];
      for (const { key, instead } of respelled) report.problem(under(path, key), `unknown key: write "${instead}"`);
      if (respelled.length > 0) continue;
      if (known === undefined && !options.isOpen) report.problem(memberPath, `unknown key${suggestKey(key, fields)}`);
      const read = known === undefined ? passOn(member, memberPath, report) : known.read(member, memberPath, report);
      if (read !== undefined) values[key] = read;
    }
    for (const [one, other] of options.aliases ?? []) compareAliases(values, one, other, path, report);
    return values as Value;
  });
}

function objectMembers(value: unknown, path: string, report: Report): [key: string, value: unknown][] {
  if (isPlainObject(value)) return listMembers(value);
  if (value === null || value === undefined) return [];
  const isObject = typeof value === "object" && !Array.isArray(value);
  report.problem(
    path,
    `expected an object, found ${isObject ? "an instance or one with methods" : describeType(value)}`,
  );
  return [];
}

/** The members of an object; dotted keys are expanded. */
function nestedMembers(value: unknown, fields: Fields, path: string, report: Report): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const [key, member] of objectMembers(value, path, report)) {
    const [head = ""] = key.split(".", 1);
    const isDotted = head.length < key.length && Object.hasOwn(fields, head);
    const name = isDotted ? head : key;
    const nested = isDotted ? { [key.slice(head.length + 1)]: member } : member;
    members.set(name, members.has(name) ? merge(members.get(name), nested, under(path, name), report) : nested);
  }
  return members;
}

function merge(one: unknown, other: unknown, path: string, report: Report): unknown {
  if (isPlainObject(one) && isPlainObject(other)) {
    const merged = new Map(Object.entries(one));
    for (const [key, member] of Object.entries(other)) {
      merged.set(key, merged.has(key) ? merge(merged.get(key), member, under(path, key), report) : member);
    }
    return Object.fromEntries(merged);
  }
  if (!isSame(one, other)) report.problem(path, "is set twice, with different values");
  return one;
}

function compareAliases(values: unknown, one: string, other: string, path: string, report: Report): void {
  const [first, second] = [valueAt(values, one), valueAt(values, other)];
  if (first === undefined || second === undefined || isSame(first, second)) return;
  report.problem(under(path, other), `differs from "${one}", which is an alias: set only one of them`);
}

/** The member of a plain object at a dotted path; undefined if there is none. */
export function valueAt(values: unknown, path: string): unknown {
  return path.split(".").reduce((value: unknown, key) => isPlainObject(value) ? value[key] : undefined, values);
}

function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  const isPair = Array.isArray(one) && Array.isArray(other) || isPlainObject(one) && isPlainObject(other);
  if (!isPair) return false;
  const [members, others] = [Object.entries(one), new Map(Object.entries(other))];
  return members.length === others.size && members.every(([key, member]) => isSame(member, others.get(key)));
}

function suggestKey(key: string, fields: Fields): string {
  const name = snakeCase(key);
  if (Object.hasOwn(fields, name)) return suggest(name, Object.keys(fields));
  const inside = Object.entries(fields).find(([, { shape }]) => Object.hasOwn(shape.fields ?? {}, name));
  // The first segment of a dotted key that arrives here is unknown.
  const [head = ""] = name.split(".", 1);
  return inside === undefined ? suggest(head, Object.keys(fields)) : `, did you mean "${inside[0]}.${name}"?`;
}

/** Copies attributes of a connector, and checks their references. */
function passOn(value: unknown, path: string, report: Report): unknown {
  return copyTree(value, (text, memberPath) => {
    const { problem } = referencesIn(text);
    if (problem !== undefined) report.problem(memberPath, problem);
  }, path);
}
