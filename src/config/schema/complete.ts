/**
 * Settings of a section: its values with defaults, under the names of the code.
 * @module
 */
import type { Field, Given } from "./field.ts";
import { valueAt } from "./tree.ts";

/** The name of `max_streams` in the code: `maxStreams`. */
type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Name;

/** The name of a key in the code; that of a duration ends in `Ms`. */
type SettingName<Key, One> = One extends { readonly type: "duration" } ? `${CamelCase<Key> & string}Ms`
  : CamelCase<Key>;

/** Whether a key always has a setting. */
type IsSet<One, Key, Required> = Key extends Required ? true
  : One extends { readonly default: unknown } ? true
  : One extends { readonly fields: unknown }
    ? One extends { readonly required: unknown } | { readonly isOptional: true } ? false : true
  : false;

type RequiredKeys<One> = One extends { readonly required: readonly (infer Key)[] } ? Key : never;

/** The settings of an object. */
type Members<Keys, Required> =
  & {
    readonly [Key in keyof Keys as IsSet<Keys[Key], Key, Required> extends true ? SettingName<Key, Keys[Key]> : never]:
      Completed<Keys[Key]>;
  }
  & {
    readonly [Key in keyof Keys as IsSet<Keys[Key], Key, Required> extends true ? never : SettingName<Key, Keys[Key]>]?:
      Completed<Keys[Key]>;
  };

/** The value of a field with defaults, in base units: `max_streams` is `maxStreams`, and a duration `delay` is `delayMs`. */
export type Completed<One> = One extends { readonly isVerbatim: true } ? Given<One>
  : One extends { readonly fields: infer Keys } ? Members<Keys, RequiredKeys<One>>
  : One extends { readonly type: "list"; readonly item: infer Item } ? readonly Completed<Item>[]
  : One extends { readonly type: "map"; readonly item: infer Item } ? ReadonlyMap<string, Completed<Item>>
  : One extends { readonly options: readonly [infer Other, infer Inner] } ? Completed<Other> | Completed<Inner>
  : Given<One>;

/**
 * Completes what is given with defaults. The value of an alias is also that of the key for which it stands.
 *
 * @param values Undefined for a section that the document does not have.
 */
export function complete<One extends Field>(field: One, values?: Given<One>): Completed<One> {
  return completeValue(field, values) as Completed<One>;
}

function completeValue(field: Field, value: unknown): unknown {
  const { type, item, options, default: defaultValue } = field;
  if (type === "object") return isLeftOut(field, value) ? undefined : completeMembers(field, value ?? {});
  if (value === undefined) return defaultValue;
  if (type === "list") return (value as readonly unknown[]).map((inner) => completeValue(item!, inner));
  if (type === "map") {
    return new Map(
      [...value as ReadonlyMap<string, unknown>].map(([name, inner]) => [name, completeValue(item!, inner)]),
    );
  }
  if (type === "either") {
    return completeValue(options![typeof value === "object" && !Array.isArray(value) ? 1 : 0], value);
  }
  return value;
}

function isLeftOut({ isOptional, required }: Field, value: unknown): boolean {
  return value === undefined && (isOptional === true || required !== undefined);
}

function completeMembers({ fields, aliases = [], isVerbatim }: Field, object: object): Values {
  if (isVerbatim) return object as Values;
  const values = aliases.reduce(applyAlias, object as Values);
  const settings: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(fields!)) {
    const setting = completeValue(field, values[key]);
    if (setting !== undefined) settings[toSettingName(key, field)] = setting;
  }
  return settings;
}

function toSettingName(key: string, { type }: Field): string {
  const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return type === "duration" ? `${name}Ms` : name;
}

type Values = Readonly<Record<string, unknown>>;

function applyAlias(values: Values, [key, alias]: readonly [string, string]): Values {
  const value = valueAt(values, alias);
  return value === undefined || valueAt(values, key) !== undefined ? values : setValueAt(values, key, value);
}

/** Copies the objects on the path. */
function setValueAt(values: Values, path: string, value: unknown): Values {
  const [key = "", ...inner] = path.split(".");
  if (inner.length === 0) return { ...values, [key]: value };
  return { ...values, [key]: setValueAt((values[key] ?? {}) as Values, inner.join("."), value) };
}
