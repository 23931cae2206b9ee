/**
 * Providers that speak Anthropic's Messages and Gemini's generateContent, behind a proxy that speaks OpenAI's dialect.
 */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Dialect, dialects, type Json, type Reply, speaking } from "../support/_dialects.ts";
import { startDialectProxy, toApiKey } from "../support/_dialect_proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type ReceivedRequest, startUpstream } from "../support/upstream.ts";

interface Message {
  content: string | null;
  reasoning_content?: string;
  tool_calls?: { id: string; extra_content?: Json; function: { name: string; arguments: string } }[];
}

interface Answer {
  message: Message;
  finish_reason: string;
  usage?: Json;
  headers: Headers;
}

/** One chat over a provider of a dialect: what it was sent, and what came back. */
async function chat(
  dialect: Dialect,
  reply: Reply,
  body: Json = {},
  model?: string,
): Promise<{ sent: ReceivedRequest; answer: Answer }> {
  await using upstream = await startUpstream(speaking[dialect].respond(reply));
  const provider = { dialect, url: upstream.url, ...(model === undefined ? {} : { model }) };
  await using proxy = await startDialectProxy({ only: provider });
  const response = await proxy.chat(body);
  const answer = body.stream === true ? gather(await response.text()) : whole(await response.json());
  assertEquals(response.status, 200);
  return { sent: upstream.requests[0]!, answer: { ...answer, headers: response.headers } };
}

function whole(body: Json): Omit<Answer, "headers"> {
  assertMatchesSchema("CreateChatCompletionResponse", body);
  const { choices: [choice], usage } = body as unknown as { choices: [Answer]; usage: Json };
  return { message: choice.message, finish_reason: choice.finish_reason, usage };
}

/** A streamed response, put together. */
function gather(text: string): Omit<Answer, "headers"> {
  const events = text.split("\n\n").filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)));
  assert(text.endsWith("data: [DONE]\n\n"), text);
  const answer: Omit<Answer, "headers"> = { message: { content: null }, finish_reason: "" };
  for (const event of events) {
    assertMatchesSchema("CreateChatCompletionStreamResponse", event);
    answer.usage ??= event.usage ?? undefined;
    if (event.choices.length === 0) continue;
    const [{ delta, finish_reason }] = event.choices;
    answer.finish_reason ||= finish_reason ?? "";
    addTo(answer.message, delta);
  }
  return answer;
}

function addTo(
  message: Message,
  { content, reasoning_content, tool_calls = [] }: Json & { tool_calls?: Json[] },
): void {
  if (content) message.content = (message.content ?? "") + content;
  if (reasoning_content) message.reasoning_content = (message.reasoning_content ?? "") + reasoning_content;
  for (const { index, ...piece } of tool_calls) {
    const call = (message.tool_calls ??= [])[index as number];
    if (call === undefined) message.tool_calls[index as number] = piece as NonNullable<Message["tool_calls"]>[number];
    else call.function.arguments += (piece.function as { arguments: string }).arguments;
  }
}

const png = "iVBORw0KGgo=";
const conversation = [
  { role: "system", content: "Be brief." },
  { role: "developer", content: "Answer in German." },
  {
    role: "user",
    content: [
      { type: "text", text: "What is this, wörld? 🌍" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
      { type: "image_url", image_url: { url: "https://example.com/cat.jpg" } },
    ],
  },
  { role: "assistant", content: "A cat." },
  { role: "user", content: "Sure?" },
];

const words: Readonly<Record<Dialect, { path: string; streamPath: string; headers: Json; body: Json }>> = {
  openai: {
    path: "/v1/chat/completions",
    streamPath: "/v1/chat/completions",
    headers: { authorization: `Bearer ${toApiKey("only")}` },
    body: {
      model: "small",
      messages: [{ role: "system", content: "Be brief.\n\nAnswer in German." }, ...conversation.slice(2)],
    },
  },
  anthropic: {
    path: "/v1/messages",
    streamPath: "/v1/messages",
    headers: { "x-api-key": toApiKey("only"), "anthropic-version": "2023-06-01" },
    body: {
      model: "claude-haiku-4-5",
      system: [{ type: "text", text: "Be brief." }, { type: "text", text: "Answer in German." }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this, wörld? 🌍" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            { type: "image", source: { type: "url", url: "https://example.com/cat.jpg" } },
          ],
        },
        { role: "assistant", content: [{ type: "text", text: "A cat." }] },
        { role: "user", content: [{ type: "text", text: "Sure?" }] },
      ],
    },
  },
  gemini: {
    path: "/v1/models/gemini-2.5-flash:generateContent",
    streamPath: "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
    headers: { "x-goog-api-key": toApiKey("only") },
    body: {
      systemInstruction: { parts: [{ text: "Be brief." }, { text: "Answer in German." }] },
      contents: [
        {
          role: "user",
          parts: [
            { text: "What is this, wörld? 🌍" },
            { inlineData: { mimeType: "image/png", data: png } },
            { fileData: { mimeType: "image/jpeg", fileUri: "https://example.com/cat.jpg" } },
          ],
        },
        { role: "model", parts: [{ text: "A cat." }] },
        { role: "user", parts: [{ text: "Sure?" }] },
      ],
    },
  },
};

for (const dialect of dialects) {
  describe(`A provider of the ${dialect} dialect`, () => {
    it("is asked in its own format, non-streaming and streaming, prompts and images too", async () => {
      for (const stream of [false, true]) {
        const { sent, answer } = await chat(dialect, {}, { messages: conversation, stream });
        const { path, streamPath, headers, body } = words[dialect];
        assertEquals(sent.path, stream ? streamPath : path);
        assertObjectMatch({ ...sent.headers }, headers);
        assertObjectMatch(sent.json(), body);
        assertEquals([answer.message.content, answer.finish_reason], ["Hello wörld, how are you?", "stop"]);
      }
    });

    it("has its thoughts come back beside the response", async () => {
      for (const stream of [false, true]) {
        const { answer } = await chat(dialect, { thoughts: "Hm, so." }, { stream, reasoning_effort: "low" });
        assertEquals(answer.message.reasoning_content, "Hm, so.");
        assertEquals(answer.message.content, "Hello wörld, how are you?");
      }
    });
  });
}

describe("Why a response ended is reported in OpenAI's words, non-streaming and streaming", () => {
  const rows: [dialect: Dialect, stop: string, reason: string][] = [
    ["openai", "stop", "stop"],
    ["openai", "length", "length"],
    ["openai", "content_filter", "content_filter"],
    ["anthropic", "end_turn", "stop"],
    ["anthropic", "stop_sequence", "stop"],
    ["anthropic", "max_tokens", "length"],
    ["anthropic", "model_context_window_exceeded", "length"],
    ["anthropic", "refusal", "content_filter"],
    ["gemini", "STOP", "stop"],
    ["gemini", "MAX_TOKENS", "length"],
    ["gemini", "SAFETY", "content_filter"],
    ["gemini", "RECITATION", "content_filter"],
  ];
  for (const [dialect, stop, reason] of rows) {
    it(`${dialect}: ${stop} is ${reason}`, async () => {
      for (const stream of [false, true]) {
        const { answer } = await chat(dialect, { stop }, { stream });
        assertEquals([answer.finish_reason, answer.message.content], [reason, "Hello wörld, how are you?"]);
      }
    });
  }
});

describe("Tokens are counted in OpenAI's way, cached ones within the prompt", () => {
  const rows: Record<Dialect, { usage: Json; reported: Json; cost: string | null }> = {
    openai: {
      usage: { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10, prompt_tokens_details: { cached_tokens: 4 } },
      reported: {
        prompt_tokens: 9,
        completion_tokens: 1,
        total_tokens: 10,
        prompt_tokens_details: { cached_tokens: 4 },
      },
      cost: null,
    },
    anthropic: {
      usage: {
        input_tokens: 20,
        cache_creation_input_tokens: 100,
        cache_read_input_tokens: 2000,
        output_tokens: 15,
      },
      reported: {
        prompt_tokens: 2120,
        completion_tokens: 15,
        total_tokens: 2135,
        prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 100 },
      },
      cost: "0.00042", // 20 at $1, 2000 at $0.1, 100 at $1.25, 15 at $5 per million
    },
    gemini: {
      usage: {
        promptTokenCount: 2051,
        cachedContentTokenCount: 1024,
        candidatesTokenCount: 12,
        thoughtsTokenCount: 320,
        totalTokenCount: 2383,
      },
      reported: {
        prompt_tokens: 2051,
        completion_tokens: 332,
        total_tokens: 2383,
        prompt_tokens_details: { cached_tokens: 1024 },
        completion_tokens_details: { reasoning_tokens: 320 },
      },
      cost: "0.00116882", // 1027 at $0.3, 1024 at $0.03, 332 at $2.5 per million
    },
  };
  for (const dialect of dialects) {
    it(dialect, async () => {
      const { usage, reported, cost } = rows[dialect];
      const whole = await chat(dialect, { usage });
      assertEquals(whole.answer.usage, reported);
      assertEquals(whole.answer.headers.get("x-mesh-cost-usd"), cost);
      const asked = { stream: true, stream_options: { include_usage: true } };
      assertEquals((await chat(dialect, { usage }, asked)).answer.usage, reported);
      assertEquals((await chat(dialect, {}, { stream: true })).answer.usage, undefined);
    });
  }

  it("a mark to cache up to reaches the vendors that know it, and no other", async () => {
    const cache_control = { type: "ephemeral", ttl: "1h" };
    const tool = { type: "function", function: { name: "f" } };
    const marked = { type: "text", text: "Long", cache_control };
    const body = {
      messages: [
        { role: "system", content: "Be kind", cache_control },
        { role: "user", content: [marked] },
        { role: "assistant", content: "Yes" },
        { role: "user", content: [marked, { type: "text", text: "Go" }] },
      ],
      tools: [{ ...tool, cache_control }],
      cache_control,
    };
    const [plain, claude, gemini] = await Promise.all(dialects.map((dialect) => chat(dialect, {}, body)));
    const { messages, tools, cache_control: own } = plain!.sent.json();
    assertEquals([messages, tools, own], [
      [
        { role: "system", content: "Be kind" },
        { role: "user", content: "Long" },
        { role: "assistant", content: "Yes" },
        { role: "user", content: [{ type: "text", text: "Long" }, { type: "text", text: "Go" }] },
      ],
      [tool],
      undefined,
    ]);
    assertEquals(plain!.answer.headers.get("x-mesh-dropped-params"), "cache_control");
    const asked = claude!.sent.json();
    assertEquals([asked.system, asked.messages[0].content], [[{ ...marked, text: "Be kind" }], [marked]]);
    assertEquals([asked.tools[0].cache_control, asked.cache_control], [cache_control, cache_control]);
    assertEquals(claude!.answer.headers.get("x-mesh-dropped-params"), null);
    assert(!gemini!.sent.body.includes("cache"), gemini!.sent.body);
  });
});
