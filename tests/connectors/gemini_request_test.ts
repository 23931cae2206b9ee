import { assertEquals } from "@std/assert";
import type { ChatCompletionRequest, ChatMessage, ToolCall } from "../../src/contracts/openai.ts";
import { fault, sent } from "./_gemini.ts";

const hello: ChatMessage = { role: "user", content: "Hello" };

/** The parts of a single user message. */
function parts(content: ChatMessage["content"]): unknown {
  return sent({ messages: [{ role: "user", content }] }).contents[0]?.parts;
}

/** A call as OpenAI writes it. */
function call(id: string, name: string, args = "{}", extra?: ToolCall["extra_content"]): ToolCall {
  return {
    id,
    type: "function",
    function: { name, arguments: args },
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

Deno.test("system and developer messages become the system instruction", () => {
  const { systemInstruction, contents } = sent({
    messages: [
      { role: "system", content: "Be brief." },
      hello,
      { role: "developer", content: [{ type: "text", text: "Be kind." }, { type: "text", text: "Be late." }] },
      { role: "system", content: "" },
    ],
  });
  assertEquals(systemInstruction, { parts: [{ text: "Be brief." }, { text: "Be kind.\nBe late." }] });
  assertEquals(contents, [{ role: "user", parts: [{ text: "Hello" }] }]);
});

Deno.test("a system prompt alone is asked as a question, since one turn is the least", () => {
  assertEquals(sent({ messages: [{ role: "system", content: "Say hi." }] }), {
    contents: [{ role: "user", parts: [{ text: "Say hi." }] }],
  });
  assertEquals(sent({ messages: [] }).contents, [{ role: "user", parts: [{ text: "" }] }]);
});

Deno.test("neighbouring messages of one side become one turn", () => {
  const { contents } = sent({
    messages: [
      hello,
      { role: "user", content: "there" },
      { role: "assistant", content: "Hi." },
      { role: "assistant", content: "", refusal: "No." },
      { role: "assistant", content: null },
      { role: "user", content: "" },
    ],
  });
  assertEquals(contents, [
    { role: "user", parts: [{ text: "Hello" }, { text: "there" }] },
    { role: "model", parts: [{ text: "Hi." }, { text: "No." }] },
    { role: "user", parts: [{ text: "" }] },
  ]);
});

Deno.test("images, sound and files become parts", () => {
  assertEquals(
    parts([
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: "data:image/jpg;base64,/9j/4AAQ", detail: "low" } },
      { type: "image_url", image_url: { url: "https://example.com/a%20b/Cat.PNG?size=big#x" } },
      { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
      { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;name=a.pdf;base64,JVBERi0=" } },
    ]),
    [
      { text: "What is this?" },
      { inlineData: { mimeType: "image/jpeg", data: "/9j/4AAQ" } },
      { fileData: { mimeType: "image/png", fileUri: "https://example.com/a%20b/Cat.PNG?size=big#x" } },
      { inlineData: { mimeType: "audio/wav", data: "UklGRg==" } },
      { inlineData: { mimeType: "application/pdf", data: "JVBERi0=" } },
    ],
  );
});

Deno.test("a part that cannot be said is the request's fault", async () => {
  const image = (url: string) => ({ type: "image_url", image_url: { url } });
  const cases = [
    image("https://example.com/picture"),
    image("http://example.com/cat.png"),
    image("https://example.com/cat.gif"),
    image("cat.png"),
    image("data:image/png,%89PNG"),
    image("data:;base64,AAAA"),
    { type: "image_url" },
    { type: "input_audio", input_audio: { data: "AAAA", format: "midi" } },
    { type: "file", file: { file_id: "file-1" } },
    { type: "video_url", video_url: { url: "https://example.com/cat.mp4" } },
  ];
  for (const part of cases) {
    const [param] = await fault({ messages: [{ role: "user", content: [part] }] });
    assertEquals(param, "messages[0].content", JSON.stringify(part));
  }
});

Deno.test("calls and their results find each other", () => {
  const { contents } = sent({
    messages: [
      hello,
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [call("a", "weather", '{"city":"Bern"}'), call("b", "now", ""), call("c", "now", " ")],
      },
      { role: "tool", tool_call_id: "a", content: '{"sky":"blue"}' },
      { role: "tool", tool_call_id: "b", content: [{ type: "text", text: "noon" }] },
      { role: "tool", tool_call_id: "c", content: "[1, 2]" },
      { role: "user", content: "And?" },
    ],
  });
  assertEquals(contents.slice(1), [
    {
      role: "model",
      parts: [
        { text: "Let me look." },
        { functionCall: { id: "a", name: "weather", args: { city: "Bern" } } },
        { functionCall: { id: "b", name: "now", args: {} } },
        { functionCall: { id: "c", name: "now", args: {} } },
      ],
    },
    {
      role: "user",
      parts: [
        { functionResponse: { id: "a", name: "weather", response: { sky: "blue" } } },
        { functionResponse: { id: "b", name: "now", response: { result: "noon" } } },
        { functionResponse: { id: "c", name: "now", response: { result: "[1, 2]" } } },
      ],
    },
    { role: "user", parts: [{ text: "And?" }] },
  ]);
});

Deno.test("a result that would not survive as an object goes as text", () => {
  for (const content of ['{"$ref":"#/$defs/A"}', '{"id":12345678901234567890}', '{"cut":', ""]) {
    const { contents } = sent({
      messages: [
        hello,
        { role: "assistant", content: null, tool_calls: [call("a", "look")] },
        { role: "tool", tool_call_id: "a", content },
      ],
    });
    assertEquals(contents[2]?.parts[0]?.functionResponse?.response, { result: content });
  }
});

Deno.test("calls that cannot be read are the request's fault", async () => {
  const asked = (...calls: unknown[]) => ({
    role: "assistant" as const,
    content: null,
    tool_calls: calls as ToolCall[],
  });
  const cases: [ChatMessage[], string][] = [
    [[asked(call("a", "look"), { id: "b", type: "custom", custom: {} })], "messages[0].tool_calls[1]"],
    [[{ role: "tool", tool_call_id: "b", content: "x" }], "messages[0].tool_call_id"],
    [[hello, { role: "function", name: "look", content: "x" }], "messages[1].role"],
    [
      [{ role: "system", content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }],
      "messages[0].content",
    ],
  ];
  for (const [messages, wanted] of cases) assertEquals((await fault({ messages }))[0], wanted);
});

Deno.test("arguments that are not a JSON object are the member of one", () => {
  for (const args of ["{", "[1]"]) {
    const message: ChatMessage = { role: "assistant", content: null, tool_calls: [call("a", "look", args)] };
    const { contents } = sent({ messages: [hello, message] });
    assertEquals(contents[1]!.parts[0]!.functionCall!.args, { INVALID_JSON: args });
  }
});

Deno.test("signatures travel with their calls, and a stand-in goes where one is demanded", () => {
  const google = { google: { thought_signature: "c2ln" } };
  const foreign = { anthropic: { signature: "bm90IG91cnM=" } };
  const signatures = (model: string, ...calls: ToolCall[]) =>
    sent({ messages: [hello, { role: "assistant", content: "So:", tool_calls: calls }] }, model)
      .contents[1]!.parts.slice(1).map(({ thoughtSignature }) => thoughtSignature);
  const standIn = "skip_thought_signature_validator";
  const cases: [string, ToolCall[], (string | undefined)[]][] = [
    ["gemini-3.5-flash", [call("a", "x", "{}", google), call("b", "y")], ["c2ln", undefined]],
    ["gemini-3.5-flash", [call("a", "x", "{}", foreign), call("b", "y")], [standIn, undefined]],
    ["gemini-3.5-flash", [call("a", "x")], [standIn]],
    ["gemini-pro-latest", [call("a", "x")], [standIn]],
    ["gemini-2.5-pro", [call("a", "x", "{}", google)], ["c2ln"]],
    ["gemini-2.5-pro", [call("a", "x"), call("b", "y")], [undefined, undefined]],
  ];
  for (const [model, calls, wanted] of cases) assertEquals(signatures(model, ...calls), wanted, model);
});

Deno.test("functions are declared with their JSON Schema", () => {
  const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const { tools, toolConfig } = sent({
    tools: [
      { type: "function", function: { name: "weather", description: "The weather", parameters, strict: true } },
      { type: "function", function: { name: "now", parameters: { type: "object", properties: {} } } },
      { type: "function", function: { name: "then" } },
    ],
  });
  assertEquals(tools, [{
    functionDeclarations: [
      { name: "weather", description: "The weather", parametersJsonSchema: parameters },
      { name: "now" },
      { name: "then" },
    ],
  }]);
  assertEquals(toolConfig, undefined);
  assertEquals(sent({ tools: [], tool_choice: "none" }).tools, undefined);
});

Deno.test("tool_choice becomes a calling mode", async () => {
  const tools = ["a", "b"].map((name) => ({ type: "function", function: { name } }));
  const chosen = (choice: unknown) => sent({ tools, tool_choice: choice as string });
  const modes: [unknown, unknown][] = [
    [undefined, undefined],
    [null, undefined],
    ["none", { mode: "NONE" }],
    ["auto", { mode: "AUTO" }],
    ["required", { mode: "ANY" }],
    [{ type: "function", function: { name: "b" } }, { mode: "ANY", allowedFunctionNames: ["b"] }],
  ];
  for (const [choice, wanted] of modes) {
    assertEquals(chosen(choice).toolConfig?.functionCallingConfig, wanted);
  }
  const allowed = { mode: "required", tools: [{ type: "function", function: { name: "b" } }] };
  const { tools: offered, toolConfig } = chosen({ type: "allowed_tools", allowed_tools: allowed });
  assertEquals(offered, [{ functionDeclarations: [{ name: "b" }] }]);
  assertEquals(toolConfig?.functionCallingConfig, { mode: "ANY" });
  assertEquals((await fault({ tools, tool_choice: "perhaps" }))[0], "tool_choice");
  assertEquals((await fault({ tools: [{ type: "web_search" }] }))[0], "tools[0]");
});

Deno.test("a request is never changed by its translation", () => {
  const body: ChatCompletionRequest = {
    messages: [hello, { role: "user", content: "x" }, { role: "assistant", tool_calls: [call("a", "b")] }],
    tools: [{ type: "function", function: { name: "b", parameters: { $ref: "#/$defs/A", $defs: { A: {} } } } }],
  };
  const before = structuredClone(body);
  sent(body, "gemini-3.5-flash");
  assertEquals(body, before);
});
