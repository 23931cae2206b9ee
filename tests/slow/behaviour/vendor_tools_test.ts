/** Each vendor gets schemas of tools and arguments of calls that it accepts, whatever dialect the client speaks. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Json } from "../../support/_dialects.ts";
import { startTestProxy } from "../../support/proxy.ts";
import { createConfig, readSent, strictBedrock, type StrictVendor, vendorNamed } from "../../support/_strict_calls.ts";
import {
  chatOf,
  completeSchemas,
  following,
  type HistoryRequest,
  jsonWithoutTools,
  objectArguments,
  plainParameters,
  says,
  sentTo,
} from "../../support/_strict_history.ts";
import { ok, startUpstream } from "../../support/upstream.ts";

const mistral = vendorNamed("mistral.api.v1");
const openai = vendorNamed("openai.llm.v1");
const openrouter = vendorNamed("openrouter.gateway.v1");
const claude = vendorNamed("anthropic.claude.v1");
const gemini = vendorNamed("google.gemini.v1");
const ollama: StrictVendor = { ...openai, connector: "ollama.local.v1" };

const { user, result, calling } = says;
const toolsFor = (parameters: Json): Json => ({
  chat: [{ type: "function", function: { name: "f", parameters } }],
  messages: [{ name: "f", input_schema: parameters }],
  responses: [{ type: "function", name: "f", parameters }],
});

describe("Combined parameters of a tool", () => {
  const create = { properties: { kind: { const: "create" }, text: { type: "string" } }, required: ["kind", "text"] };
  const remove = { properties: { kind: { const: "remove" }, force: { type: "boolean" } }, required: ["kind"] };
  const base = { properties: { path: { type: "string" } }, required: ["path"], $defs: { Remove: remove } };
  const merged = {
    path: { type: "string" },
    kind: { anyOf: [{ const: "create" }, { const: "remove" }] },
    text: { type: "string" },
    force: { type: "boolean" },
  };

  for (const vendor of [claude, strictBedrock, openai, openrouter]) {
    it(`are one object at ${vendor.connector}`, async () => {
      for (const keyword of ["anyOf", "oneOf"]) {
        const parameters = {
          type: "object",
          ...base,
          [keyword]: [create, { $ref: "#/$defs/Remove" }, { type: "null" }],
        };
        for (const [dialect, tools] of Object.entries(toolsFor(parameters))) {
          if (dialect === vendor.native) continue;
          const sent = await sentTo(vendor, [plainParameters], { dialect, body: { tools } });
          const { properties, required } = parametersIn(sent.json());
          assertEquals([properties, required], [merged, ["path", "kind"]]);
        }
      }
    });
  }

  it("that all apply are required together", async () => {
    const body = { tools: toolsFor({ allOf: [create, base, { anyOf: [remove] }] }).chat };
    const { properties, required } = parametersIn(
      (await sentTo(openai, [plainParameters], { dialect: "chat", body })).json(),
    );
    assertEquals(Object.keys(properties).sort(), ["force", "kind", "path", "text"]);
    assertEquals(properties.kind, { allOf: [{ const: "create" }, { const: "remove" }] });
    assertEquals(new Set(required), new Set(["kind", "text", "path"]));
  });

  it("stay as they are within a property, and at other vendors", async () => {
    const inner = { type: "object", properties: { a: { anyOf: [create, remove] } } };
    for (const [vendor, parameters] of [[claude, inner], [ollama, { type: "object", anyOf: [create] }]] as const) {
      const sent = await sentTo(vendor, [], { dialect: "chat", body: { tools: toolsFor(parameters).chat } });
      assertEquals(parametersIn(sent.json()), parameters);
    }
  });

  for (const vendor of [claude, openai, openrouter]) {
    it(`behind a reference are one object at ${vendor.connector}`, async () => {
      const inner = { type: "object", properties: { text: { type: "string" } }, additionalProperties: false };
      const $defs = { Outer: { $ref: "#/$defs/Inner" }, Inner: inner, Either: { anyOf: [create, remove] } };
      const rows = [["Outer", { text: { type: "string" } }], ["Either", {
        ...{ kind: merged.kind, text: merged.text, force: merged.force },
      }]] as const;
      for (const [name, properties] of rows) {
        for (const [dialect, tools] of Object.entries(toolsFor({ $ref: `#/$defs/${name}`, $defs }))) {
          if (dialect === vendor.native) continue;
          const sent = parametersIn((await sentTo(vendor, [plainParameters], { dialect, body: { tools } })).json());
          assertEquals([sent.type, sent.properties, sent.$ref], ["object", properties, undefined]);
          assertEquals(sent.additionalProperties, name === "Outer" ? false : undefined);
        }
      }
    });
  }

  it("of a tool without any are an object without properties", async () => {
    for (const vendor of [openai, openrouter, claude]) {
      for (const parameters of [{}, { type: "object" }, { $schema: "http://json-schema.org/draft-07/schema#" }]) {
        for (const [dialect, tools] of Object.entries(toolsFor(parameters))) {
          if (dialect !== vendor.native) await sentTo(vendor, [plainParameters], { dialect, body: { tools } });
        }
      }
    }
  });

  it("that refer to themselves are merged as far as they go", async () => {
    const parameters = {
      type: "object",
      anyOf: [{ $ref: "#" }, { $ref: "#/$defs/A" }],
      $defs: { A: { $ref: "#/anyOf" } },
    };
    await sentTo(claude, [plainParameters], { dialect: "chat", body: { tools: toolsFor(parameters).chat } });
  });
});

// deno-lint-ignore no-explicit-any -- asserted on
function parametersIn({ tools = [], toolConfig }: any): any {
  const [tool] = [...tools, ...toolConfig?.tools ?? []];
  return tool.toolSpec?.inputSchema.json ?? tool.input_schema ?? tool.function?.parameters ??
    tool.functionDeclarations[0].parametersJsonSchema;
}

describe("Incomplete schemas", () => {
  const schema = {
    type: "object",
    properties: {
      tags: { type: "array" },
      inner: { type: "object", properties: { a: { type: "string" } }, required: ["a", "b"] },
      none: { type: "object", properties: {}, required: ["c"] },
    },
    required: ["tags", "gone"],
  };
  for (const vendor of [gemini, openai, openrouter]) {
    it(`are completed at ${vendor.connector}`, async () => {
      for (const [dialect, tools] of Object.entries(toolsFor(schema))) {
        const sent = await sentTo(vendor, [completeSchemas], { dialect, body: { tools } });
        const { properties, required } = parametersIn(sent.json());
        assertEquals([required, properties.tags, properties.inner.required], [
          ["tags"],
          { type: "array", items: {} },
          ["a"],
        ]);
      }
      const format = { type: "json_schema", json_schema: { name: "answer", schema } };
      const body = { tools: undefined, response_format: format };
      await sentTo(vendor, [completeSchemas], { dialect: "chat", body });
    });
  }

  it("keep what their other parts define", async () => {
    const complete = {
      type: "object",
      properties: { a: { type: "string" } },
      required: ["a", "b"],
      allOf: [{ properties: { b: { type: "string" } } }],
    };
    const alternatives = {
      type: "object",
      properties: { a: {}, b: {} },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    };
    const parameters = {
      type: "object",
      properties: { complete, alternatives, tuple: { type: "array", prefixItems: [{}] } },
    };
    const body = { tools: toolsFor(parameters).chat };
    const sent = await sentTo(openai, [], { dialect: "chat", body });
    assertEquals(parametersIn(sent.json()), parameters);
  });
});

describe("Arguments of an earlier call that are not a JSON object", () => {
  const rows = ['{"path":', "[1]", "no JSON", "3", ""];
  for (const vendor of [claude, strictBedrock, gemini, mistral, ollama]) {
    it(`reach ${vendor.connector} as an object`, async () => {
      for (const args of rows) {
        const expected = args === "" ? {} : { INVALID_JSON: args };
        const responses: HistoryRequest = {
          dialect: "responses",
          body: {
            input: [
              user(),
              { type: "function_call", call_id: "abcDEF123", name: "read", arguments: args },
              { type: "function_call_output", call_id: "abcDEF123", output: "x" },
            ],
          },
        };
        for (const asked of [chatOf(user(), calling("abcDEF123", args), result("abcDEF123")), responses]) {
          const sent = readSent(vendor, await sentTo(vendor, [objectArguments], asked));
          const { input } = sent.calls[0]!;
          assertEquals(typeof input === "string" ? JSON.parse(input) : input, expected);
        }
      }
    });
  }

  /** Histories with the arguments as a text in dialects that have objects. */
  const asText = (args: string | null): readonly HistoryRequest[] => [
    {
      dialect: "messages",
      body: {
        messages: [
          user(),
          says.assistant([{ type: "tool_use", id: "abcDEF123", name: "read", input: args }]),
          user([{ type: "tool_result", tool_use_id: "abcDEF123", content: "x" }]),
        ],
      },
    },
    {
      dialect: "gemini",
      body: {
        contents: [
          { role: "user", parts: [{ text: "Hi" }] },
          { role: "model", parts: [{ functionCall: { name: "read", args } }] },
          { role: "user", parts: [{ functionResponse: { name: "read", response: { result: "x" } } }] },
        ],
      },
    },
  ];
  for (const vendor of [claude, strictBedrock, gemini, mistral, openai]) {
    it(`reach ${vendor.connector} from clients whose dialect has objects`, async () => {
      for (const args of ['{"path":', '{"path":"a"}', "", null]) {
        for (const asked of asText(args).filter(({ dialect }) => dialect !== vendor.native)) {
          const sent = readSent(vendor, await sentTo(vendor, vendor === openai ? [] : [objectArguments], asked));
          const { input } = sent.calls[0]!;
          if (vendor === openai) assertEquals(input, args ?? "{}");
          else {
            const expected = args === '{"path":' ? { INVALID_JSON: args } : JSON.parse(args || "{}");
            assertEquals(typeof input === "string" ? JSON.parse(input) : input, expected);
          }
        }
      }
    });
  }

  it("reach OpenAI as they came", async () => {
    const sent = await sentTo(openai, [], chatOf(user(), calling("c1", '{"path":'), result("c1")));
    assertEquals(readSent(openai, sent).calls[0]!.input, '{"path":');
  });
});

describe("JSON mode with tools", () => {
  const tools = toolsFor({ type: "object", properties: {} });
  const formats = [
    { type: "json_object" },
    { type: "json_schema", json_schema: { name: "a", schema: { type: "object", properties: {} } } },
  ];

  it("skips Gemini 2.5 while another model has it", async () => {
    await using strict = await startUpstream(following(gemini, jsonWithoutTools));
    await using other = await startUpstream(ok({ text: "{}" }));
    const { providers, models } = createConfig(gemini, strict.url) as Record<string, Json>;
    await using proxy = await startTestProxy({
      upstreams: {},
      config: {
        providers: { ...providers, other: { connector: "openai.compatible.v1", base_url: other.url } },
        models: { ...models, two: { provider: "other", model: "m", capabilities: ["chat-completion"] } },
        pools: { chat: { models: ["one", "two"], strategy: "priority", model_priority: ["one", "two"] } },
      },
    });
    for (const response_format of formats) {
      const response = await proxy.chat({ tools: tools.chat, response_format });
      assertEquals([response.status, strict.calls], [200, 0], await response.text());
    }
    for (
      const body of [{ tools: tools.chat }, { response_format: formats[0] }, { tools: [], response_format: formats[0] }]
    ) {
      const response = await proxy.chat(body);
      assertEquals(response.status, 200, await response.text());
    }
    assertEquals([strict.calls, other.calls], [3, 2]);
  });

  it("is refused if Gemini 2.5 is all there is", async () => {
    await using upstream = await startUpstream(following(gemini, jsonWithoutTools));
    await using proxy = await startTestProxy({ upstreams: {}, config: createConfig(gemini, upstream.url) });
    const response = await proxy.chat({ tools: tools.chat, response_format: formats[0] });
    const { error } = await response.json();
    assertEquals([response.status, error.code, upstream.calls], [400, "unsupported_by_pool", 0]);
    assertStringIncludes(error.message, "response_format with tools");
  });

  it("reaches Gemini 3", async () => {
    const newer = { ...gemini, model: "gemini-3.5-flash" };
    for (const response_format of formats) {
      const sent = await sentTo(newer, [], { dialect: "chat", body: { tools: tools.chat, response_format } });
      assertEquals(sent.json().generationConfig.responseMimeType, "application/json");
    }
  });
});
