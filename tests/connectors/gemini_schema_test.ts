import { assertEquals, assertLess } from "@std/assert";
import { cleanSchema } from "../../connectors/providers/_gemini_schema.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import { catchFailure } from "./_gemini.ts";

const clean = (schema: JsonObject) => cleanSchema(schema, "tools[0].function.parameters");

Deno.test("cleanSchema() keeps what the API understands and leaves the rest out", () => {
  const kept = {
    type: "object",
    title: "A person",
    description: "Somebody",
    properties: {
      name: { type: ["string", "null"] },
      born: { type: "string", format: "date" },
      tags: { type: "array", items: { type: "string", enum: ["a", "b"] }, minItems: 1, maxItems: 3 },
      size: { anyOf: [{ type: "number", minimum: 0, maximum: 3 }, { type: "null" }] },
      pair: { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }] },
      more: { type: "object", additionalProperties: { type: "string" } },
    },
    required: ["name"],
    additionalProperties: false,
    propertyOrdering: ["name", "born"],
  };
  assertEquals(clean(kept), kept);
  assertEquals(
    clean({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "x",
      type: "object",
      properties: { mail: { type: "string", format: "email", pattern: "@", minLength: 3, default: "", examples: [] } },
      if: {},
      then: {},
      definitions: {},
    }),
    { type: "object", properties: { mail: { type: "string" } } },
  );
});

Deno.test("cleanSchema() says in other words what has other words", () => {
  const cases: [JsonObject, JsonObject][] = [
    [{ const: "a" }, { enum: ["a"] }],
    [{ type: ["string", "null"], enum: ["a", null] }, { type: ["string", "null"], enum: ["a"] }],
    [{ const: true, type: "boolean" }, { type: "boolean" }],
    [{ items: [{ type: "string" }, true] }, { prefixItems: [{ type: "string" }, {}] }],
    [{ items: true }, { items: {} }],
    [
      {
        description: "Both",
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } }, required: ["a", "b"] },
        ],
      },
      {
        description: "Both",
        type: "object",
        properties: { a: { type: "string" }, b: { type: "number" } },
        required: ["a", "b"],
      },
    ],
    [{ allOf: [{ $ref: "#/$defs/A" }], $defs: { A: { type: "string" } } }, { type: "string" }],
  ];
  for (const [schema, wanted] of cases) assertEquals(clean(schema), wanted);
});

Deno.test("cleanSchema() puts what a reference means in its place", () => {
  const schema = {
    type: "object",
    properties: {
      home: { $ref: "#/$defs/Address", description: "Where they live" },
      work: { $ref: "#/definitions/a~1b" },
      same: { $ref: "#/properties/home" },
      gone: { $ref: "#/$defs/Nobody", description: "Lost" },
      away: { $ref: "https://example.com/schema.json" },
      odd: { $ref: "#/$defs/__proto__" },
    },
    $defs: { Address: { type: "object", description: "An address", properties: { zip: { type: "integer" } } } },
    definitions: { "a/b": { type: "string" } },
  };
  const home = { type: "object", description: "Where they live", properties: { zip: { type: "integer" } } };
  assertEquals(clean(schema), {
    type: "object",
    properties: { home, work: { type: "string" }, same: home, gone: { description: "Lost" }, away: {}, odd: {} },
  });
});

Deno.test("cleanSchema() leaves a schema that contains itself behind a reference", () => {
  const node = { type: "object", properties: { next: { $ref: "#/$defs/Node" }, value: { type: "number" } } };
  const reference = { $ref: "#/$defs/_defs_Node" };
  const kept = { type: "object", properties: { next: reference, value: { type: "number" } } };
  assertEquals(clean({ type: "object", properties: { first: { $ref: "#/$defs/Node" } }, $defs: { Node: node } }), {
    type: "object",
    properties: { first: kept },
    $defs: { _defs_Node: kept },
  });
  assertEquals(clean({ type: "object", properties: { inner: { $ref: "#" } } }), {
    type: "object",
    properties: {
      inner: { type: "object", properties: { inner: { $ref: "#/$defs/_" } } },
    },
    $defs: { _: { type: "object", properties: { inner: { $ref: "#/$defs/_" } } } },
  });
});

Deno.test("cleanSchema() does not let a few references grow into millions of nodes", () => {
  const $defs: JsonObject = { D0: { type: "string" } };
  for (let level = 1; level <= 40; level++) {
    const lower = { $ref: `#/$defs/D${level - 1}` };
    $defs[`D${level}`] = { type: "object", properties: { left: lower, right: lower } };
  }
  assertLess(JSON.stringify(clean({ $ref: "#/$defs/D40", $defs })).length, 100_000);
});

Deno.test("cleanSchema() refuses a schema nested beyond reason", async () => {
  let schema: JsonObject = { type: "string" };
  for (let level = 0; level < 50_000; level++) schema = { items: schema };
  const { kind, fault } = await catchFailure(() => Promise.resolve().then(() => clean(schema)));
  assertEquals([kind, fault?.error.param], ["request", "tools[0].function.parameters"]);
});

Deno.test("cleanSchema() treats hostile names as names", () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"const":1}}}');
  const { properties } = clean(schema) as { properties: JsonObject };
  assertEquals(Object.keys(properties), ["__proto__", "constructor"]);
  assertEquals(Object.getPrototypeOf(properties), Object.prototype);
});
