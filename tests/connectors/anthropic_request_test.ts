import { assertEquals, assertObjectMatch } from "@std/assert";
import type { ChatMessage, JsonObject } from "../../src/contracts/openai.ts";
import { calling, catchFault, hello, readTurns, text, translate, weather } from "./_anthropic_request.ts";

const pixel = "iVBORw0KGgo=";

Deno.test("system and developer messages join in order", () => {
  const messages: ChatMessage[] = [
    { role: "system", content: "One" },
    hello,
    { role: "developer", content: [{ type: "text", text: "Two", cache_control: { type: "ephemeral", ttl: "1h" } }] },
    { role: "system", content: "Three", cache_control: { type: "ephemeral" } },
  ];
  const { system, messages: turns } = translate({ messages });
  assertEquals(system, [
    text("One"),
    { ...text("Two"), cache_control: { type: "ephemeral", ttl: "1h" } },
    { ...text("Three"), cache_control: { type: "ephemeral" } },
  ]);
  assertEquals(turns, [{ role: "user", content: [text("Hello")] }]);
});

Deno.test("a system prompt alone is said by the user", () => {
  const { system, messages } = translate({ messages: [{ role: "system", content: "Tell a joke" }] });
  assertEquals([system, messages], [undefined, [{ role: "user", content: [text("Tell a joke")] }]]);
});

Deno.test("images and PDF files become sources", () => {
  const content = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: `data:image/jpg;base64,${pixel}` } },
    { type: "image_url", image_url: { url: "https://example.com/cat.png", detail: "low" } },
    { type: "file", file: { file_data: `data:application/pdf;base64,${pixel}`, filename: "a.pdf" } },
  ];
  assertEquals(readTurns({ role: "user", content }), [{
    role: "user",
    content: [
      text("What is this?"),
      { type: "image", source: { type: "base64", media_type: "image/jpeg", data: pixel } },
      { type: "image", source: { type: "url", url: "https://example.com/cat.png" } },
      {
        type: "document",
        source: { type: "base64", media_type: "application/pdf", data: pixel },
        title: "a.pdf",
      },
    ],
  }]);
});

Deno.test("parts that Claude cannot read are the request's fault", () => {
  for (
    const part of [
      { type: "input_audio", input_audio: { data: "", format: "wav" } },
      { type: "image_url", image_url: { url: "file:///etc/passwd" } },
      { type: "image_url" },
      { type: "file", file: { file_id: "file-1" } },
      { type: "file", file: { file_data: "data:text/csv;base64,YQ==" } },
      { type: "hologram" },
    ]
  ) {
    const [, param] = catchFault({ messages: [{ role: "user", content: [part] }] });
    assertEquals(param, "messages[0].content[0]", part.type);
  }
});

Deno.test("tool calls and their results become turns that alternate", () => {
  const turns = readTurns(
    hello,
    { role: "user", content: "And?" },
    {
      role: "assistant",
      content: null,
      tool_calls: [calling("call_1", "get_weather", '{"city":"Paris"}'), calling("functions_time_0", "time", "")],
    } as unknown as ChatMessage,
    { role: "tool", tool_call_id: "call_1", content: "18" },
    { role: "tool", tool_call_id: "functions_time_0", content: [{ type: "text", text: "noon" }] },
    { role: "user", content: "Thanks" },
    { role: "assistant", content: "" },
  );
  assertEquals(turns, [
    { role: "user", content: [text("Hello"), text("And?")] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "call_1", name: "get_weather", input: { city: "Paris" } },
        { type: "tool_use", id: "functions_time_0", name: "time", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_1", content: [text("18")] },
        { type: "tool_result", tool_use_id: "functions_time_0", content: [text("noon")] },
        text("Thanks"),
      ],
    },
  ]);
});

Deno.test("tool arguments that are not a JSON object are the member of one", () => {
  for (const input of ['{"city":', "[1]", "3", "null"]) {
    const message = { role: "assistant", content: null, tool_calls: [calling("a", "b", input)] };
    assertEquals(readTurns(hello, message as unknown as ChatMessage), [
      { role: "user", content: [text("Hello")] },
      { role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: { INVALID_JSON: input } }] },
    ]);
  }
});

Deno.test("results without a call, and functions, are the request's fault", () => {
  assertEquals(catchFault({ messages: [{ role: "tool", content: "x" }] })[1], "messages[0].tool_call_id");
  assertEquals(catchFault({ messages: [{ role: "function", name: "f", content: "x" }] })[1], "messages[0].role");
});

Deno.test("own thoughts go back first, others' do not", () => {
  const own = { type: "thinking", thinking: "Hm", signature: "c2ln" };
  const turn = (extra: JsonObject, content: ChatMessage["content"] = "Look") =>
    (readTurns(hello, {
      role: "assistant",
      content,
      tool_calls: [calling("a", "b", "{}", extra)],
    } as unknown as ChatMessage) as { content: unknown[] }[])[1]!.content;
  const use = { type: "tool_use", id: "a", name: "b", input: {} };
  assertEquals(turn({ anthropic: { thinking_blocks: [own] } }), [own, text("Look"), use]);
  assertEquals(turn({ anthropic: { thinking_blocks: [own], text_before: [99] } }), [text("Look"), own, use]);
  assertEquals(turn({ anthropic: { thinking_blocks: [own] } }, [{ type: "text", text: "Look" }]), [
    own,
    text("Look"),
    use,
  ]);
  for (
    const extra of [
      { google: { thought_signature: "x" } },
      { anthropic: { thinking_blocks: [{ type: "thinking", thinking: "unsigned" }, "junk", null] } },
      { anthropic: { thinking_blocks: "junk" } },
      { anthropic: null },
    ]
  ) assertEquals(turn(extra as JsonObject), [text("Look"), use]);
});

Deno.test("tools and tool choice are translated", () => {
  const tools = [{
    type: "function",
    function: { name: "f", description: "does f", parameters: { properties: { a: { type: "string" } } } },
    cache_control: { type: "ephemeral" },
  }, weather];
  assertEquals(translate({ tools }).tools, [{
    name: "f",
    description: "does f",
    input_schema: { type: "object", properties: { a: { type: "string" } } },
    cache_control: { type: "ephemeral" },
  }, { name: "get_weather", input_schema: { type: "object", properties: {} } }]);
  const named = { type: "function", function: { name: "f" } };
  for (
    const [body, expected] of [
      [{}, undefined],
      [{ tool_choice: "auto" }, { type: "auto" }],
      [{ tool_choice: "none" }, { type: "none" }],
      [{ tool_choice: "none", parallel_tool_calls: false }, { type: "none" }],
      [{ tool_choice: "required" }, { type: "any" }],
      [{ tool_choice: named }, { type: "tool", name: "f" }],
      [{ parallel_tool_calls: true }, undefined],
      [{ parallel_tool_calls: false }, { type: "auto", disable_parallel_tool_use: true }],
      [{ tool_choice: named, parallel_tool_calls: false }, {
        type: "tool",
        name: "f",
        disable_parallel_tool_use: true,
      }],
    ] as const
  ) assertEquals(translate({ tools, ...body }).tool_choice, expected, JSON.stringify(body));
  const allowed = { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } };
  const some = translate({ tools, tool_choice: allowed });
  assertEquals([(some.tools as JsonObject[]).map(({ name }) => name), some.tool_choice], [["f"], { type: "any" }]);
  assertEquals(translate({ tools: [], tool_choice: "auto" }).tool_choice, undefined);
});

Deno.test("tools that Claude cannot take are the request's fault", () => {
  assertEquals(catchFault({ tools: [weather, { type: "web_search" }] })[1], "tools[1]");
  assertEquals(catchFault({ tools: [weather], tool_choice: "sometimes" })[1], "tool_choice");
  for (const id of ["claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-2"]) {
    assertEquals(catchFault({ tools: [weather], tool_choice: "required" }, id)[1], "tool_choice");
  }
});

Deno.test("a strict tool gets a closed schema", () => {
  const parameters = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] };
  const tools = [{ type: "function", function: { name: "f", strict: true, parameters } }];
  assertEquals(translate({ tools }).tools, [{
    name: "f",
    input_schema: {
      type: "object",
      properties: { a: { type: "integer", description: "minimum: 1" } },
      required: ["a"],
      additionalProperties: false,
    },
    strict: true,
  }]);
  assertEquals((translate({ tools }, "claude-3-haiku-20240307").tools as JsonObject[])[0]?.strict, undefined);
});

Deno.test("tools of earlier calls are declared when none are offered any more", () => {
  const asked = { role: "assistant", content: null, tool_calls: [calling("a", "search", "{}")] };
  const messages = [hello, asked as unknown as ChatMessage, {
    role: "tool" as const,
    tool_call_id: "a",
    content: "found",
  }];
  assertObjectMatch(translate({ messages }), {
    tools: [{ name: "search", input_schema: { type: "object" } }],
    tool_choice: { type: "none" },
  });
});
