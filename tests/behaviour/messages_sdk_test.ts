/** The official client of the Messages API over the proxy, whatever dialect the provider behind it speaks. */
import Anthropic from "@anthropic-ai/sdk";
import { assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { anthropicError, type Dialect, dialects, speaking } from "../support/_dialects.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import type { TestProxy, TestProxyOptions } from "../support/proxy.ts";
import { type Behaviour, Gate, type Script, startUpstream, status, type Upstream } from "../support/upstream.ts";

const text = "Hello wörld, how are you?";
const ask = { model: "chat", max_tokens: 64, messages: [{ role: "user" as const, content: "Hi" }] };
const calls = [
  { id: "call_a", name: "get_weather", input: { city: "Zürich", days: 2 } },
  { id: "call_b", name: "get_time", input: { zone: "Europe/Zurich" } },
  { id: "call_c", name: "get_date", input: {} },
];
const tools = calls.map(({ name }) => ({ name, input_schema: { type: "object" as const } }));

/** A proxy over one provider, and a client of it. */
async function withClient(
  dialect: Dialect,
  script: Script,
  body: (client: Anthropic, upstream: Upstream, proxy: TestProxy) => Promise<void>,
  options: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using proxy = await startDialectProxy({ only: { dialect, url: upstream.url } }, options);
  const client = new Anthropic({ baseURL: proxy.url, apiKey: "of-the-client", maxRetries: 0 });
  await body(client, upstream, proxy);
}

const each = (title: string, test: (dialect: Dialect) => Promise<void>) =>
  dialects.forEach((dialect) => it(`${title} (${dialect})`, () => test(dialect)));

/** The inputs of a message's calls, by name. */
function listInputs(content: readonly Anthropic.ContentBlock[]): [string, unknown][] {
  return content.flatMap((block) => block.type === "tool_use" ? [[block.name, block.input] as [string, unknown]] : []);
}

describe("@anthropic-ai/sdk", () => {
  each("creates a message", (dialect) =>
    withClient(dialect, speaking[dialect].respond(), async (client) => {
      const message = await client.messages.create(ask);
      assertEquals([message.type, message.role, message.stop_reason], ["message", "assistant", "end_turn"]);
      assertEquals(message.content.map((block) => block.type === "text" ? block.text : block.type), [text]);
      assertEquals([message.usage.input_tokens, message.usage.output_tokens], [10, 5]);
    }));

  each(
    "streams a message",
    (dialect) =>
      withClient(dialect, speaking[dialect].respond({ thoughts: "Let me see" }), async (client) => {
        const stream = client.messages.stream(ask);
        const heard: string[] = [];
        stream.on("text", (piece) => heard.push(piece));
        const message = await stream.finalMessage();
        assertEquals([heard.join(""), heard.length > 1], [text, true]);
        const [thinking, said] = message.content;
        assertEquals(thinking?.type === "thinking" && thinking.thinking, "Let me see");
        assertEquals(said?.type === "text" && said.text, text);
        assertEquals([message.stop_reason, message.usage.output_tokens], ["end_turn", 5]);
      }),
  );

  for (const isStream of [false, true]) {
    each(`goes there and back with parallel tool calls, ${isStream ? "streamed" : "whole"}`, (dialect) => {
      const script = [speaking[dialect].respond({ calls }), speaking[dialect].respond()];
      return withClient(dialect, script, async (client, upstream) => {
        const first = isStream
          ? await client.messages.stream({ ...ask, tools }).finalMessage()
          : await client.messages.create({ ...ask, tools });
        assertEquals(first.stop_reason, "tool_use");
        assertEquals(listInputs(first.content), calls.map(({ name, input }) => [name, input]));
        const results = first.content.flatMap((block) =>
          block.type === "tool_use"
            ? [{ type: "tool_result" as const, tool_use_id: block.id, content: `of ${block.name}` }]
            : []
        );
        const messages: Anthropic.MessageParam[] = [
          ...ask.messages,
          { role: "assistant", content: first.content },
          { role: "user", content: results },
        ];
        const second = await client.messages.create({ ...ask, tools, messages });
        assertEquals(second.stop_reason, "end_turn");
        assertEquals(
          /of get_weather.*of get_time.*of get_date/.test(JSON.stringify(upstream.requests[1]!.json())),
          true,
        );
      });
    });
  }

  it("counts tokens", () =>
    withClient("openai", status(500), async (client, upstream) => {
      const { input_tokens } = await client.messages.countTokens({ model: "chat", messages: ask.messages, tools });
      assertEquals([input_tokens > 0, upstream.calls], [true, 0]);
    }));

  it("has its own error classes", async () => {
    // deno-lint-ignore no-explicit-any
    const thrown: [Behaviour, new (...args: any[]) => Error][] = [
      [anthropicError(429, "rate_limit_error", "Slow down"), Anthropic.RateLimitError],
      [anthropicError(400, "invalid_request_error", "Too odd"), Anthropic.BadRequestError],
      [anthropicError(500, "api_error", "Oops"), Anthropic.InternalServerError],
    ];
    const options = { pool: { retry: { max_attempts: 0 } } };
    for (const [behaviour, kind] of thrown) {
      await withClient("anthropic", behaviour, async (client) => {
        await assertRejects(() => client.messages.create(ask), kind);
      }, options);
    }
    await withClient("openai", status(500), async (client) => {
      await assertRejects(() => client.messages.create({ ...ask, model: "nothing" }), Anthropic.NotFoundError);
    });
    await withClient("openai", status(500), async (client) => {
      await assertRejects(() => client.messages.create(ask), Anthropic.AuthenticationError);
    }, { tokens: ["secret"] });
  });

  it("throws where a stream breaks midway", () =>
    withClient("openai", speaking.openai.respond({ failsAfter: 3 }), async (client) => {
      const stream = client.messages.stream(ask);
      const { message } = await assertRejects(() => stream.finalMessage(), Anthropic.APIError);
      assertEquals(/cut short/.test(message), true);
    }));

  it("ends the provider's call when it leaves a stream", async () => {
    const gate = new Gate();
    await withClient("openai", speaking.openai.respond({ gate }), async (client, upstream) => {
      gate.open(3);
      const stream = await client.messages.create({ ...ask, stream: true });
      for await (const event of stream) if (event.type === "content_block_delta") break;
      const call = await upstream.received(1);
      await call.closed;
      assertEquals(call.isClosed, true);
      gate.openAll();
    });
  });
});
