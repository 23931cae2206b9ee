/** Each key of the schema has an effect where it can act, and is reported where it cannot. */
import { assert, assertEquals } from "@std/assert";
import { serverConnectors } from "../../../connectors/server.ts";
import { listFields } from "../../../scripts/schema/keys.ts";
import { conditions } from "../../../src/config/schema/conditions.ts";
import type { Field } from "../../../src/config/schema/field.ts";
import { schema } from "../../../src/config/schema/schema.ts";
import { groupConnectors } from "../../../src/config/settings/known.ts";
import { validate } from "../../../src/config/build/validate.ts";
import { ConfigError } from "../../../mod.ts";
import { acting, beside, locations, twoValues, values } from "../../config/_acting.ts";
import { type Changes, idle } from "../../config/_idle.ts";

const known = groupConnectors(serverConnectors);

/** Keys without an effect on the settings, and what they are for. */
const elsewhere: Readonly<Record<string, string>> = {
  $schema: "editors",
  "connectors.packages": "is read before the settings are made",
  "connectors.packages.path": "is read before the settings are made",
  "connectors.packages.url": "is read before the settings are made",
  "connectors.packages.sha256": "is read before the settings are made",
  "providers.*.auth.key_rotation": "states what a list of keys implies",
  "pools.*.affinity.by": "has one value",
  "proxy.auth.method": "has one value",
  "observability.logging.url": "is read by sinks of programs",
  "observability.tracing.url": "is read by sinks of programs",
  "discovery.sync.connector": "has one value, unless a program registers others",
  "discovery.health.connector": "has one value, unless a program registers others",
};

/** The leaves of the schema by path. */
const leaves: ReadonlyMap<string, Field> = new Map([...listFields(schema)].filter(([, field]) => {
  const inner = [field, ...(field.options ?? []), ...(field.item ? [field.item] : [])];
  return inner.every(({ fields, item, options }) => {
    const all = [...(item ? [item] : []), ...(options ?? [])];
    return fields === undefined && all.every((one) => one.fields === undefined);
  });
}));

/** Copies plain objects; the rest is shared. */
function copyPlain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyPlain);
  if (typeof value !== "object" || value === null || Object.values(value).some((one) => typeof one === "function")) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyPlain(member)]));
}

/** The document in which every key can act, changed. Names of entries have no dots. */
function changed(...all: readonly Changes[]): Record<string, unknown> {
  const document = copyPlain(acting) as Record<string, unknown>;
  for (const [path, value] of all.flatMap((changes) => Object.entries(changes))) {
    const keys = path.split(".");
    const last = keys.pop()!;
    const parent = keys.reduce((part, key) => (part[key] ??= {}) as Record<string, unknown>, document);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return document;
}

/** Where a key is set in the document, and what else has to be. */
function getLocation(path: string): string {
  const known = Object.keys(locations).filter((one) => path === one || path.startsWith(`${one}.`));
  const [found] = known.sort((one, other) => other.length - one.length);
  return found === undefined ? path : locations[found] + path.slice(found.length);
}

/** Entries of lists that have keys of their own. */
const entries: Readonly<Record<string, Changes>> = {
  "proxy.auth.tokens": { token: "token-0123456789-abc", name: "app" },
  "proxy.auth.jwt": { issuer: "https://login.example.com", audience: "mesh" },
};

/** The change that gives a key a value. */
function createSetting(path: string, value: unknown): Changes {
  const list = Object.keys(entries).find((one) => path.startsWith(`${one}.`));
  if (list === undefined) return { [getLocation(path)]: value };
  const [key = "", inner] = path.slice(list.length + 1).split(".");
  return { [list]: [{ ...entries[list], [key]: inner === undefined ? value : { daily_limit: 9, [inner]: value } }] };
}

/** What a document means: its settings, or its problems. */
function describeMeaning(document: unknown): { readonly text: string; readonly warnings: readonly string[] } {
  const seen = new Map<unknown, number>();
  const plain = (_key: string, value: unknown) => {
    if (value instanceof Map) return [...value];
    if (value instanceof Set) return [...value];
    const isInstance = typeof value === "object" && value !== null && "complete" in value;
    if (!isInstance) return typeof value === "function" ? "function" : value;
    if (!seen.has(value)) seen.set(value, seen.size);
    return `instance`;
  };
  try {
    const { warnings, document: _document, ...settings } = validate(document, { knownConnectors: known });
    return {
      text: JSON.stringify(settings, plain),
      warnings: warnings.map(({ path, message }) => `${path}: ${message}`),
    };
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error;
    return { text: JSON.stringify(error.problems), warnings: [] };
  }
}

function isReported(path: string, { warnings }: { readonly warnings: readonly string[] }): boolean {
  return warnings.some((line) => line.startsWith(`${path}: has no effect`) || line.startsWith(`${path}[0]: has no`));
}

Deno.test("the document in which every key can act is valid, and nothing in it is without effect", () => {
  assertEquals(describeMeaning(changed()).warnings, []);
});

for (const [path, field] of leaves) {
  if (path in elsewhere) continue;
  Deno.test(`${path} has an effect`, () => {
    const [one, other] = values[path] ?? twoValues(field);
    const meanings = [one, other].map((value) =>
      describeMeaning(changed(beside[path] ?? {}, createSetting(path, value)))
    );
    const unset = describeMeaning(changed(beside[path] ?? {}, createSetting(path, undefined)));
    const texts = new Set([...meanings, unset].map(({ text }) => text));
    assert(texts.size > 1, "its values mean the same");
    for (const meaning of meanings) assert(!isReported(getLocation(path), meaning), meaning.warnings.join("\n"));
  });
}

for (const [changes, path, ...given] of idle) {
  Deno.test(`${path} is reported with ${JSON.stringify(changes)}`, () => {
    for (const value of given) {
      const meaning = describeMeaning(changed(changes, { [path]: value }));
      assert(isReported(path, meaning), `${meaning.warnings.join("\n")}\n${meaning.text.slice(0, 300)}`);
    }
  });
}

Deno.test("each condition is proven by a document in which it does not hold", () => {
  const patterns = new Set(idle.map(([, path]) => path.replace(/^(providers|models|pools)\.[^.]+/, "$1.*")));
  const { document, budget, ...sections } = conditions();
  const keys = [
    ...document.flatMap(({ keys }) => keys),
    ...budget.flatMap(({ keys }) => keys.map((key) => `budget.${key}`)),
    ...Object.entries(sections).flatMap(([section, table]) =>
      (table as readonly { keys: readonly string[] }[]).flatMap(({ keys }) => keys.map((key) => `${section}.${key}`))
    ),
  ];
  assertEquals(keys.filter((key) => !patterns.has(key)), []);
  const all = new Set([...listFields(schema)].map(([path]) => path));
  assertEquals(keys.filter((key) => !all.has(key)), [], "no key of the schema");
});
