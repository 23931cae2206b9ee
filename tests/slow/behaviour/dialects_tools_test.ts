/**
 * Tools across dialects: calls, their results in the next turn, and the state a vendor wants to see again.
 */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Dialect, dialects, type Json, type Reply, speaking } from "../../support/_dialects.ts";
import { createSdk, type DialectProvider, startDialectProxy } from "../../support/_dialect_proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import { type ReceivedRequest, startUpstream } from "../../support/upstream.ts";

interface Call {
  id: string;
  type: string;
  function: { name: string; arguments: string };
  extra_content?: Json;
}

interface Assistant extends Json {
  role: "assistant";
  content: string | null;
  tool_calls: Call[];
}

const signature = "c2lnbmF0dXJlIG9mIHRob3VnaHRz";
const standIn = "skip_thought_signature_validator";
const question = { role: "user", content: "Weather and time in Zürich?" };
const tools = ["get_weather", "get_time"].map((name) => ({
  type: "function",
  function: {
    name,
    description: `Does ${name}`,
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}));
const calls = [
  { id: "call_w", name: "get_weather", input: { city: "Zürich" }, state: signature },
  { id: "call_t", name: "get_time", input: { city: "Zürich" } },
];
const results = [
  { role: "tool", tool_call_id: "call_w", content: '{"degrees":21}' },
  { role: "tool", tool_call_id: "call_t", content: "noon" },
];

/** Models that sign their thoughts and want them back. */
const models: Record<Dialect, string> = {
  openai: "small",
  anthropic: "claude-haiku-4-5",
  gemini: "gemini-3.5-flash",
};

async function ask(dialect: Dialect, reply: Reply, body: Json): Promise<{ sent: ReceivedRequest; message: Assistant }> {
  await using upstream = await startUpstream(speaking[dialect].respond(reply));
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url, model: models[dialect] } });
  const response = await proxy.chat({ tools, ...body });
  const answer = await response.json();
  assertMatchesSchema("CreateChatCompletionResponse", answer);
  return { sent: upstream.requests[0]!, message: answer.choices[0].message };
}

/** What a model of the dialect says when it calls tools. */
async function createCalls(dialect: Dialect): Promise<Assistant> {
  const reply = { calls, ...(dialect === "anthropic" ? { thoughts: "I look both up." } : {}) };
  return (await ask(dialect, reply, { messages: [question] })).message;
}

/** The second turn, asked of a model of another dialect. */
async function secondTurn(dialect: Dialect, assistant: Json): Promise<ReceivedRequest> {
  return (await ask(dialect, {}, { messages: [question, assistant, ...results] })).sent;
}

/** Tools and choices in each vendor's format. */
const offered: Record<Dialect, Json> = {
  openai: { tools },
  anthropic: {
    tools: tools.map(({ function: { name, description, parameters } }) => ({
      name,
      description,
      input_schema: parameters,
    })),
  },
  gemini: {
    tools: [{
      functionDeclarations: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      })),
    }],
  },
};

const choices: [asked: unknown, anthropic: Json | undefined, gemini: Json | undefined][] = [
  [undefined, undefined, undefined],
  ["auto", { type: "auto" }, { mode: "AUTO" }],
  ["none", { type: "none" }, { mode: "NONE" }],
  ["required", { type: "any" }, { mode: "ANY" }],
  [
    { type: "function", function: { name: "get_time" } },
    { type: "tool", name: "get_time" },
    { mode: "ANY", allowedFunctionNames: ["get_time"] },
  ],
];

describe("Tools are offered in the vendor's words", () => {
  for (const dialect of dialects) {
    it(`to a provider of the ${dialect} dialect`, async () => {
      const { sent } = await ask(dialect, { calls }, { messages: [question] });
      assertObjectMatch(sent.json(), offered[dialect]);
    });
  }

  for (const [tool_choice, anthropic, gemini] of choices) {
    it(`with the choice ${JSON.stringify(tool_choice)}`, async () => {
      const body = { messages: [question], ...(tool_choice === undefined ? {} : { tool_choice }) };
      const [plain, claude, google] = await Promise.all(dialects.map((dialect) => ask(dialect, { calls }, body)));
      assertEquals(plain!.sent.json().tool_choice, tool_choice);
      const { tool_choice: reported } = claude!.sent.json();
      assertEquals(reported === undefined && tool_choice === "auto" ? anthropic : reported, anthropic);
      assertEquals(google!.sent.json().toolConfig?.functionCallingConfig, gemini);
    });
  }
});

describe("A second turn brings the calls and their results", () => {
  it("to a provider of the openai dialect as they came", async () => {
    const assistant = await createCalls("openai");
    const sent = await secondTurn("openai", assistant);
    assertEquals(sent.json().messages, [question, assistant, ...results]);
  });

  it("to Claude with its signed thoughts ahead of them", async () => {
    const sent = await secondTurn("anthropic", await createCalls("anthropic"));
    assertEquals(sent.json().messages.slice(1), [
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I look both up.", signature },
          { type: "tool_use", id: "call_w", name: "get_weather", input: { city: "Zürich" } },
          { type: "tool_use", id: "call_t", name: "get_time", input: { city: "Zürich" } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "call_w", content: [{ type: "text", text: '{"degrees":21}' }] },
          { type: "tool_result", tool_use_id: "call_t", content: [{ type: "text", text: "noon" }] },
        ],
      },
    ]);
  });

  it("to Gemini with the signature on the first of them", async () => {
    const sent = await secondTurn("gemini", await createCalls("gemini"));
    assertEquals(sent.json().contents.slice(1), [
      {
        role: "model",
        parts: [
          {
            functionCall: { id: "call_w", name: "get_weather", args: { city: "Zürich" } },
            thoughtSignature: signature,
          },
          { functionCall: { id: "call_t", name: "get_time", args: { city: "Zürich" } } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "call_w", name: "get_weather", response: { degrees: 21 } } },
          { functionResponse: { id: "call_t", name: "get_time", response: { result: "noon" } } },
        ],
      },
    ]);
  });
});

describe("State that a vendor minted", () => {
  it("comes with the calls, non-streaming and streaming", async () => {
    for (const dialect of ["anthropic", "gemini"] as const) {
      const { tool_calls: [first, second] } = await createCalls(dialect);
      assert(JSON.stringify(first!.extra_content).includes(signature));
      assertEquals(second!.extra_content, undefined);
      await using upstream = await startUpstream(speaking[dialect].respond({ calls }));
      await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url, model: models[dialect] } });
      const text = await (await proxy.chat({ tools, stream: true })).text();
      assert(text.includes(signature), text);
    }
  });

  for (const from of ["anthropic", "gemini"] as const) {
    for (const to of dialects) {
      it(`from ${from} ${from === to ? "goes back to it" : `does not go to ${to}`}`, async () => {
        const assistant = await createCalls(from);
        const { body } = await secondTurn(to, assistant);
        assertEquals([body.includes(signature), body.includes("extra_content")], [from === to, false]);
        assert(body.includes("get_weather") && body.includes("call_t"), body);
      });
    }
  }

  it("is stood in for where Gemini demands one and none was issued", async () => {
    for (const from of ["openai", "anthropic"] as const) {
      const sent = await secondTurn("gemini", await createCalls(from));
      const [first, second] = sent.json().contents[1].parts;
      assertEquals([first.thoughtSignature, second.thoughtSignature], [standIn, undefined]);
    }
  });

  it("of two vendors at once is taken apart: each gets its own", async () => {
    const assistant = await createCalls("gemini");
    const { tool_calls: [claudes] } = await createCalls("anthropic");
    const both = { ...assistant.tool_calls[0]!.extra_content, ...claudes!.extra_content };
    const message = { ...assistant, tool_calls: [{ ...assistant.tool_calls[0]!, extra_content: both }] };
    const messages = [question, message, results[0]];
    const toClaude = (await ask("anthropic", {}, { messages })).sent.json();
    assertEquals(toClaude.messages[1].content.map(({ type }: Json) => type), ["thinking", "tool_use"]);
    const toGoogle = (await ask("gemini", {}, { messages })).sent.json();
    assertEquals(toGoogle.contents[1].parts[0].thoughtSignature, signature);
    assert(!JSON.stringify(toGoogle).includes("I look both up."));
  });

  it("moves with a conversation that fails over from its vendor to another one", async () => {
    await using claude = await startUpstream([speaking.anthropic.respond({ calls, thoughts: "Both." })]);
    await using other = await startUpstream(speaking.openai.respond());
    const providers: Record<string, DialectProvider> = {
      claude: { dialect: "anthropic", url: claude.url },
      other: { dialect: "openai", url: other.url },
    };
    await using proxy = await startDialectProxy(providers);
    const client = createSdk(proxy);
    const body = { model: "chat", messages: [question] as never, tools: tools as never };
    const { choices: [{ message }] } = await client.chat.completions.create(body) as never as {
      choices: [{ message: Assistant }];
    };
    await claude.close();
    const turn = { ...body, messages: [question, message, ...results] as never };
    const answer = await client.chat.completions.create(turn);
    assertEquals(answer.choices[0]!.message.content, "Hello wörld, how are you?");
    const { messages } = other.requests[0]!.json();
    assertEquals(messages[1].tool_calls.map(({ extra_content, ...call }: Call) => [call.id, extra_content]), [
      ["call_w", undefined],
      ["call_t", undefined],
    ]);
    assert(!other.requests[0]!.body.includes(signature));
  });
});
