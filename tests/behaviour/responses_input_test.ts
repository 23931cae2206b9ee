/** What `/v1/responses` takes as a conversation, and what it refuses, with what to do. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { operationStage } from "../support/_operations.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { json, ok, type Script, status } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>) => operationStage(cast, { capability: "chat-completion" });

const picture = "data:image/png;base64,iVBORw0KGgo=";
const image = { type: "input_image", image_url: picture };
const call = (id: string) => ({ type: "function_call", call_id: id, name: "look", arguments: `{"at":"${id}"}` });
const result = (id: string, output: unknown) => ({ type: "function_call_output", call_id: id, output });
const user = (...content: object[]) => ({ role: "user", content });

describe("the input of /v1/responses", () => {
  it("has parallel tool calls and their results, with pictures", async () => {
    await using scene = await stage({ a: ok() });
    const { status: code } = await scene.post("responses", {
      input: [
        { role: "developer", content: "Be brief" },
        { type: "message", ...user({ type: "input_text", text: "See?" }, { ...image, detail: "low" }) },
        { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Hm" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look", annotations: [] }] },
        call("t1"),
        call("t2"),
        result("t2", "Dark"),
        result("t1", [{ type: "input_text", text: "Light" }, image]),
        user({ type: "input_text", text: "Go on" }),
        { role: "assistant", content: [{ type: "refusal", refusal: "No" }] },
        user({ type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" }),
      ],
    });
    assertEquals(code, 200);
    const called = (id: string) => ({ id, type: "function", function: { name: "look", arguments: `{"at":"${id}"}` } });
    assertEquals(scene.upstreams.a!.requests[0]!.json().messages, [
      { role: "system", content: "Be brief" },
      {
        role: "user",
        content: [{ type: "text", text: "See?" }, { type: "image_url", image_url: { url: picture, detail: "low" } }],
      },
      {
        role: "assistant",
        content: "I look",
        reasoning_content: "Hm",
        tool_calls: [called("t1"), called("t2")],
      },
      { role: "tool", tool_call_id: "t2", content: "Dark" },
      { role: "tool", tool_call_id: "t1", content: "Light\n(1 more in the next message)" },
      {
        role: "user",
        content: [
          { type: "text", text: "Of the result of the tool call t1:" },
          { type: "image_url", image_url: { url: picture } },
          { type: "text", text: "Go on" },
        ],
      },
      { role: "assistant", content: null, refusal: "No" },
      {
        role: "user",
        content: [{ type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERg==" } }],
      },
    ]);
  });

  it("finds a call's result wherever it stands behind it, and takes ids that come again", async () => {
    await using scene = await stage({ a: ok() });
    await scene.post("responses", {
      input: ["A", call("t1"), result("t1", "1"), call("t1"), "B", result("t1", "2")]
        .map((item) => typeof item === "string" ? { role: "user", content: item } : item),
    });
    const messages = scene.upstreams.a!.requests[0]!.json().messages as { role: string; content: string | null }[];
    assertEquals(messages.map(({ role, content }) => `${role} ${content}`), [
      ...["user A", "assistant null", "tool 1", "assistant null", "tool 2", "user B"],
    ]);
  });

  it("leaves only the allowed tools", async () => {
    await using scene = await stage({ a: ok() });
    const tools = ["f", "g"].map((name) => ({ type: "function", name, parameters: { type: "object" } }));
    const tool_choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "g" }] };
    await scene.post("responses", { input: "Hello", tools, tool_choice });
    const sent = scene.upstreams.a!.requests[0]!.json();
    assertEquals([sent.tools.length, sent.tools[0].function.name, sent.tool_choice], [1, "g", "required"]);
  });

  it("gives back what a model of another vendor bound to its call", async () => {
    const state = { "openai-compatible": { seal: "s1" } };
    const toolCall = { id: "t1", type: "function", function: { name: "f", arguments: "{}" }, extra_content: state };
    const message = { role: "assistant", content: null, refusal: null, tool_calls: [toolCall] };
    const answer = json({
      ...{ id: "c1", object: "chat.completion", created: 1, model: "a" },
      choices: [{ index: 0, message, finish_reason: "tool_calls", logprobs: null }],
    });
    await using scene = await stage({ a: answer });
    const { json: body } = await scene.post("responses", { input: "Hello" });
    assertMatchesSchema("Response", body);
    assertEquals(body.output.map(({ type }: { type: string }) => type), ["reasoning", "function_call"]);
    await scene.post("responses", {
      input: [user({ type: "input_text", text: "Hello" }), ...body.output, result("t1", "4")],
    });
    const { messages } = scene.upstreams.a!.requests[1]!.json();
    assertEquals(messages[1].tool_calls, [toolCall]);
  });
});

/** Each is refused for all models of other APIs. */
const elsewhere: readonly (readonly [name: string, body: object, param: string, message: RegExp])[] = [
  ["a response that was kept", { previous_response_id: "resp_1" }, "previous_response_id", /send all of it in "input"/],
  ["a conversation that is kept", { conversation: "conv_1" }, "conversation", /send all of it in "input"/],
  ["a prompt that is kept", { prompt: { id: "pmpt_1" } }, "prompt", /"instructions" and "input"/],
  ["an answer in the background", { background: true }, "background", /remove it/],
  ["an answer that is to be kept", { store: true }, "store", /remove it/],
  ["a tool of the provider's", { tools: [{ type: "web_search" }] }, "tools[0].type", /"web_search".*of your own/],
  ["a choice of such a tool", { tools: [], tool_choice: { type: "mcp" } }, "tool_choice.type", /"mcp".*use "function"/],
  ["a reference", { input: [{ type: "item_reference", id: "msg_1" }] }, "input[0]", /"store": false/],
  ["an item of another type", { input: [{ type: "hologram" }] }, "input[0].type", /"hologram".*use message/],
  [
    "a part of another type",
    { input: [user({ type: "smell" })] },
    "input[0].content[0].type",
    /"smell".*use input_text/,
  ],
  [
    "an image by its id",
    { input: [user({ type: "input_image", file_id: "file_1" })] },
    "input[0].content[0].file_id",
    /in image_url/,
  ],
  [
    "a file by its URL",
    { input: [user({ type: "input_file", file_url: "https://files.example/a.pdf" })] },
    "input[0].content[0].file_url",
    /in file_data/,
  ],
];

const malformed: readonly (readonly [name: string, body: object, param: string, message: RegExp])[] = [
  ["no input", { input: undefined }, "input", /missing/],
  ["an empty text", { input: "" }, "input", /send a string or at least one item/],
  ["an empty list", { input: [] }, "input", /send a string or at least one item/],
  ["an input that is a number", { input: 4 }, "input", /a string or an array/],
  ["an item that is a text", { input: ["Hi"] }, "input[0]", /an object/],
  ["an item of no type", { input: [{ id: "x" }] }, "input[0].type", /missing/],
  ["a message without content", { input: [{ role: "user" }] }, "input[0].content", /missing/],
  ["a role of chat's", { input: [{ role: "tool", content: "x" }] }, "input[0].role", /function_call_output/],
  [
    "a user who answers",
    { input: [user({ type: "output_text", text: "x" })] },
    "input[0].content[0].type",
    /of this role/,
  ],
  [
    "an assistant who sends pictures",
    { input: [{ role: "assistant", content: [image] }] },
    "input[0].content[0].type",
    /output_text or refusal/,
  ],
  ["a result without a call", { input: [result("t1", "4")] }, "input[0].call_id", /"t1".*no function_call/],
  ["a second result", { input: [call("t1"), result("t1", "4"), result("t1", "5")] }, "input[2].call_id", /"t1"/],
  ["a call without a result", { input: [call("t1"), user()] }, "input", /"t1": send its result/],
  [
    "a call without a name",
    { input: [{ type: "function_call", call_id: "t1", arguments: "{}" }] },
    "input[0].name",
    /missing/,
  ],
  ["no room to answer", { max_output_tokens: 0 }, "max_output_tokens", /at least 1/],
  ["a form nobody has", { text: { format: { type: "yaml" } } }, "text.format.type", /"yaml".*json_schema/],
  ["a schema without a name", { text: { format: { type: "json_schema", schema: {} } } }, "text.format.name", /missing/],
  ["a tool without a name", { tools: [{ type: "function" }] }, "tools[0].name", /missing/],
  ["an effort that is a number", { reasoning: { effort: 3 } }, "reasoning.effort", /a string/],
  ["instructions that are a list", { instructions: [] }, "instructions", /a string/],
  ["a member in another case", { Input: "Hello" }, "Input", /in case alone/],
];

describe("/v1/responses refuses, in its own format and without asking a model,", () => {
  for (const [code, rows] of [["unsupported_by_pool", elsewhere], ["", malformed]] as const) {
    for (const [name, body, param, message] of rows) {
      it(name, async () => {
        await using scene = await stage({ a: ok() });
        const { status: answered, json: { error } } = await scene.post("responses", { input: "Hello", ...body });
        assertEquals([answered, error.type, error.param], [400, "invalid_request_error", param]);
        assertMatch(error.message, message);
        if (code !== "") assertEquals(error.code, code);
        assertEquals(scene.calls, { a: 0 });
      });
    }
  }

  it("a model that does not exist; and all that fail are the provider's fault", async () => {
    await using scene = await stage({ a: status(500) });
    const unknown = await scene.post("responses", { input: "Hello", model: "nothing" });
    assertEquals([unknown.status, unknown.json.error.code], [404, "model_not_found"]);
    const failed = await scene.post("responses", { input: "Hello" });
    assertEquals([failed.status, failed.json.error.code], [502, "all_attempts_failed"]);
    assertMatchesSchema("ErrorResponse", failed.json);
  });
});
