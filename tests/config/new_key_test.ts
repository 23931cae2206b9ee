/** The example of CONTRIBUTING.md: a line in the schema is all that a key needs, besides its use. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { jsonSchema } from "../../scripts/schema/json_schema.ts";
import { type Key, readKeys } from "../../scripts/schema/keys.ts";
import { beginMark, withTables } from "../../scripts/schema/reference.ts";
import { documentTypes } from "../../scripts/schema/types.ts";
import { complete } from "../../src/config/schema/complete.ts";
import type { Field, Given } from "../../src/config/schema/field.ts";
import type { model } from "../../src/config/schema/models.ts";
import { parse } from "../../src/config/schema/parse.ts";
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

/** Copies the schema, and adds the example to the section `proxy` of the copy. */
async function extendSchema(root: URL): Promise<{ schema: Field; keys: readonly Key[] }> {
  for (const folder of ["schema/", "settings/"]) {
    await Deno.mkdir(new URL(folder, root));
    for await (const { name } of Deno.readDir(`src/config/${folder}`)) {
      await Deno.copyFile(`src/config/${folder}${name}`, new URL(folder + name, root));
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
      instance: true,
      isSecret: true,
      isLiteral: true,
      isMultiline: true,
      format: true,
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
