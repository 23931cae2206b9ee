/** The example of CONTRIBUTING.md: a line in the schema is all that a key needs, besides its use. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { jsonSchema } from "../../scripts/schema/json_schema.ts";
import { type Key, readKeys } from "../../scripts/schema/keys.ts";
import { beginMark, withTables } from "../../scripts/schema/reference.ts";
import { documentTypes } from "../../scripts/schema/types.ts";
import { complete } from "../../src/config/schema/complete.ts";
import type { Field, Given } from "../../src/config/schema/field.ts";
import { model } from "../../src/config/schema/models.ts";
import { observability } from "../../src/config/schema/observability.ts";
import { parse } from "../../src/config/schema/parse.ts";
import { pool } from "../../src/config/schema/pools.ts";
import { provider } from "../../src/config/schema/providers.ts";
import { proxy } from "../../src/config/schema/proxy.ts";
import { discovery, secrets, storage } from "../../src/config/schema/schema.ts";
import { validate } from "../../src/config/build/validate.ts";
import { groupConnectors } from "../../src/config/settings/known.ts";
import type { ConfiguredModel, ProviderEntry, RoutingSettings, Settings } from "../../src/config/settings/settings.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { Report } from "../../src/config/schema/report.ts";
import type {
  DatedPricing,
  IdentifierRule,
  ModelConstraints,
  ModelFeatures,
  ParameterRules,
  RateLimits,
} from "../../src/contracts/provider.ts";

const about = "Maximum number of concurrent streams. Further requests for one are answered with 503.";

/** The lines of the example. */
async function readExample(): Promise<string> {
  const text = await Deno.readTextFile("CONTRIBUTING.md");
  return /```ts\n([^`]*max_streams[^`]*)```/.exec(text)![1]!;
}

/** The sources, of which the copy takes all else. */
const src = new URL("../../src/", import.meta.url);

/** Copies the schema, and adds the example to the section `proxy` of the copy. */
async function extendSchema(root: URL): Promise<{ schema: Field; keys: readonly Key[] }> {
  for (const folder of ["schema/", "settings/"]) {
    await Deno.mkdir(new URL(folder, root));
    for await (const { name } of Deno.readDir(`src/config/${folder}`)) {
      const text = await Deno.readTextFile(`src/config/${folder}${name}`);
      await Deno.writeTextFile(new URL(folder + name, root), text.replaceAll('"../../', `"${src}`));
    }
  }
  const path = new URL("schema/proxy.ts", root);
  const section = 'export const proxy = {\n  type: "object",\n  fields: {\n';
  const text = await Deno.readTextFile(path);
  assertStringIncludes(text, section);
  await Deno.writeTextFile(path, text.replace(section, section + await readExample()));
  const folder = new URL("schema/", root);
  const { schema }: { schema: Field } = await import(new URL("schema.ts", folder).href);
  return { schema, keys: readKeys({ schema, folder }) };
}

/** Reads a document, as given and with defaults. */
function read(schema: Field, document: unknown): { settings: unknown; problems: readonly string[] } {
  const report = new Report();
  const given = parse(schema, document, { path: "", report });
  const problems = report.problems.map(({ path, message }) => `${path}: ${message}`);
  return { settings: complete(schema, given), problems };
}

Deno.test("a key that is added to the schema is read, documented and typed without a further edit", async (t) => {
  const root = new URL(`file://${await Deno.makeTempDir()}/`);
  try {
    const { schema, keys } = await extendSchema(root);
    await t.step("a document may have it, and settings have it with its default under the name of the code", () => {
      const maxStreams = (document: unknown) =>
        (read(schema, document).settings as { proxy: { maxStreams: number } }).proxy.maxStreams;
      assertEquals([{}, { proxy: {} }, { proxy: { max_streams: 7 } }, { "proxy.max_streams": 8 }].map(maxStreams), [
        500,
        500,
        7,
        8,
      ]);
      assertEquals(read(schema, { proxy: { max_streams: 0 } }).problems, [
        "proxy.max_streams: expected an integer of 1 or more, found 0",
      ]);
    });
    await t.step("editors know it", () => {
      const { definitions } = jsonSchema(keys, schema) as { definitions: Record<string, unknown> };
      const { properties } = definitions.proxy as { properties: Record<string, unknown> };
      assertEquals(properties.max_streams, { $ref: "#/definitions/proxy.max_streams" });
      const { description, default: standard, anyOf: [own] } = definitions["proxy.max_streams"] as {
        description: string;
        default: number;
        anyOf: unknown[];
      };
      assertEquals([description, standard, own], [about, 500, { type: "integer", minimum: 1 }]);
    });
    await t.step("the reference has it", () => {
      assertStringIncludes(
        withTables(beginMark, keys),
        `| \`max_streams\` | integer, 1 or more | \`500\` | ${about} |`,
      );
    });
    await t.step("the type of a document has it", () => {
      const member = `/** ${about} */\nreadonly max_streams?: number | SecretReference;`;
      assertStringIncludes(documentTypes(keys, schema), member);
    });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("types of values and settings follow from the fields", () => {
  const section = {
    type: "object",
    fields: {
      max_streams: { type: "integer", min: 1, default: 500 },
      idle_timeout: { type: "duration", default: 5_000 },
      mode: { type: "choice", values: ["fair", "first"] },
      names: { type: "list", item: { type: "text" } },
      inner: { type: "object", fields: { is_on: { type: "flag", default: true } } },
      tls: { type: "object", required: ["cert"], fields: { cert: { type: "text" }, key: { type: "text" } } },
      log: { type: "object", isOptional: true, fields: { path: { type: "text", default: "log" } } },
    },
  } as const;
  const given: Given<typeof section> = { mode: "fair", tls: { cert: "a.pem" } };
  const settings = complete(section, given);
  // each of these is an error of the compiler if the type is another one
  const maxStreams: number = settings.maxStreams;
  const idleTimeoutMs: number = settings.idleTimeoutMs;
  const mode: "fair" | "first" | undefined = settings.mode;
  const isOn: boolean = settings.inner.isOn;
  const cert: string | undefined = settings.tls?.cert;
  // @ts-expect-error a key without a default may be missing
  const names: readonly string[] = settings.names;
  // @ts-expect-error a section that is optional may be missing
  const path: string | undefined = settings.log?.path satisfies string;
  assertEquals([maxStreams, idleTimeoutMs, mode, isOn, cert, names, path], [
    500,
    5_000,
    "fair",
    true,
    "a.pem",
    ...Array(2),
  ]);
  assertEquals(complete(section, { log: {} }).log, { path: "log" });
});

/** The sections of an entry or of the document, and where their settings are. */
const sections: readonly [path: string, section: Field, read: (settings: Settings) => unknown][] = [
  ["providers.acme", provider, readProvider],
  ...(["discovery", "catalogue", "pricing", "batch", "files", "quota"] as const).map((name) =>
    [
      `providers.acme.${name}`,
      provider.fields[name],
      (settings: Settings) => readProvider(settings)[name],
    ] as const satisfies unknown[]
  ),
  ["providers.acme.fine_tuning", provider.fields.fine_tuning, (settings) => readProvider(settings).fineTuning],
  ["providers.acme.execution", provider.fields.execution, readProvider],
  [
    "providers.acme.retry.budget",
    provider.fields.retry.fields.budget,
    (settings) => readProvider(settings).retryBudget,
  ],
  ["models.small", model, readModel],
  ["models.small.batch", model.fields.batch, (settings) => readModel(settings).batch],
  ["pools.text-generation", pool, readRouting],
  ["pools.text-generation.retry", pool.fields.retry, (settings) => readRouting(settings).retry],
  ["pools.text-generation.deactivation", pool.fields.deactivation, (settings) => readRouting(settings).deactivation],
  ["pools.text-generation.recovery", pool.fields.recovery, (settings) => readRouting(settings).recovery],
  ["pools.text-generation.rate_limit", pool.fields.rate_limit, (settings) => readRouting(settings).rateLimit],
  ["storage", storage, ({ storage }) => storage],
  ["storage.persistence", storage.fields.persistence, ({ storage }) => storage],
  ["storage.locking", storage.fields.locking, ({ storage }) => storage?.locking],
  ["secrets.resolution", secrets.fields.resolution, ({ secrets }) => secrets],
  ["discovery.health", discovery.fields.health, ({ health }) => health],
  ["discovery.catalogue", discovery.fields.catalogue, ({ catalogue }) => catalogue],
  ["proxy", proxy, ({ proxy }) => proxy],
  ["proxy.cors", proxy.fields.cors, ({ proxy }) => proxy?.cors],
  ["observability.logging", observability.fields.logging.item, ({ observability: [sink] }) => sink?.logging],
  ["observability.statistics", observability.fields.statistics.item, ({ observability: [sink] }) => sink?.statistics],
  ["observability.tracing", observability.fields.tracing.item, ({ observability: [sink] }) => sink?.tracing],
];

function readProvider({ providers }: Settings): ProviderEntry {
  return providers.get("acme")!;
}

function readModel({ models }: Settings): ConfiguredModel {
  return models.get("small")!;
}

function readRouting({ pools }: Settings): RoutingSettings {
  return pools.get("text-generation")!.routing;
}

/** A document with a member at a path, and what its sections require. */
function documentWith(path: string, member: object): unknown {
  const [head = "", ...inner] = path.split(".");
  const nested = inner.reduceRight<object>((value, key) => ({ [key]: value }), member);
  const url = "https://models.example/list.json";
  const common: Readonly<Record<string, object>> = {
    providers: { acme: { connector: "acme.llm.v1" } },
    models: { small: { provider: "acme" } },
    ...(head === "discovery" && { discovery: { catalogue: { url, public_key: btoa("0".repeat(32)) } } }),
    ...(path === "storage.locking" && { storage: { sync_policy: "immediate" } }),
  };
  return { ...common, [head]: mergeObjects(common[head] ?? {}, nested) };
}

function mergeObjects(one: object, other: object): object {
  const merged: Record<string, unknown> = { ...one };
  for (const [key, value] of Object.entries(other)) {
    const own = merged[key];
    merged[key] = typeof own === "object" && own !== null && typeof value === "object"
      ? mergeObjects(own, value)
      : value;
  }
  return merged;
}

for (const [path, section, read] of sections) {
  Deno.test(`a key that is added to "${path}" is a setting with its default`, () => {
    const fields = section.fields as Record<string, Field>;
    fields.max_tests = { type: "integer", default: 5 };
    try {
      const known = {
        ...groupConnectors(serverConnectors),
        providers: [{ id: "acme.llm.v1", vendor: "acme", models: [] }],
      };
      const settings = [{}, { max_tests: 7 }].map((member) =>
        validate(documentWith(path, member), { knownConnectors: known })
      );
      assertEquals(settings.map(read).map((one) => (one as { maxTests?: number }).maxTests), [5, 7]);
    } finally {
      delete fields.max_tests;
    }
  });
}

Deno.test("the value of an alias is that of its key", () => {
  const field = {
    type: "object",
    aliases: [["is_on", "inner.enabled"]],
    fields: {
      is_on: { type: "flag", default: true },
      inner: { type: "object", fields: { enabled: { type: "flag" } } },
    },
  } as const;
  const read = (given: Given<typeof field>) => complete(field, given).isOn;
  assertEquals([read({}), read({ inner: { enabled: false } }), read({ is_on: false })], [true, false, false]);
});

/** `true`, which alone fits, if two objects have the same keys. */
type SameKeys<One, Other> = [keyof One, keyof Other] extends [keyof Other, keyof One] ? true : false;

Deno.test("a document may say of a model all that a connector says of it", () => {
  type Fields = typeof model.fields;
  // each of these is an error of the compiler if a key is missing on either side
  const pricing: SameKeys<Fields["pricing"]["options"][1]["fields"], DatedPricing> = true;
  const features: SameKeys<Fields["features"]["fields"], ModelFeatures> = true;
  const constraints: SameKeys<Fields["constraints"]["fields"], ModelConstraints> = true;
  const limits: SameKeys<Fields["limits"]["fields"], RateLimits> = true;
  const parameters: SameKeys<Fields["parameters"]["fields"], ParameterRules> = true;
  const identifiers: SameKeys<Fields["parameters"]["fields"]["tool_call_ids"]["fields"], IdentifierRule> = true;
  assertEquals(Object.keys({ pricing, features, constraints, limits, parameters, identifiers }).length, 6);
});

Deno.test("fields have only facts that are read, so that a misspelt one is noticed", async () => {
  const facts: Readonly<Record<keyof Field, true>> = {
    ...{ type: true, default: true, min: true, max: true, above: true, values: true, isPath: true, item: true },
    ...{ isSingleAllowed: true, options: true, fields: true, required: true, isOptional: true, isOpen: true },
    ...{
      aliases: true,
      spellings: true,
      foreign: true,
      instance: true,
      isSecret: true,
      isLiteral: true,
      isMultiline: true,
      format: true,
      isVerbatim: true,
      check: true,
    },
  };
  const { schema } = await import("../../src/config/schema/schema.ts");
  for (const [path, field] of listEveryField(schema, "")) {
    assertEquals(Object.keys(field).filter((fact) => !Object.hasOwn(facts, fact)), [], path);
  }
});

function* listEveryField(field: Field, path: string): Generator<[path: string, field: Field]> {
  yield [path, field];
  for (const [key, inner] of Object.entries(field.fields ?? {})) yield* listEveryField(inner, `${path}.${key}`);
  if (field.item !== undefined) yield* listEveryField(field.item, `${path}[]`);
  for (const option of field.options ?? []) yield* listEveryField(option, path);
}
