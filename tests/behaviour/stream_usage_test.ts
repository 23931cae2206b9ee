/** Streams whose usage stands elsewhere than in a chunk of its own. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { startTestProxy } from "../support/proxy.ts";
import { formatHead, raw, startUpstream } from "../support/upstream.ts";

const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

function chunk(choice: object, more: object = {}): object {
  const choices = [{ index: 0, delta: {}, finish_reason: null, ...choice }];
  return { id: "c-1", created: 7, model: "m", object: "chat.completion.chunk", choices, ...more };
}

/** The last chunk, and the cost at 1 for a million tokens in, 0.1 from the cache, 10 out. */
const streams: readonly (readonly [name: string, connector: string, last: object, usd: number])[] = [
  // 100·1 + 900·0.1 + 100·10
  [
    "in the choice, as Moonshot's",
    "moonshot.kimi.v1",
    chunk({ finish_reason: "stop", usage: { ...usage, cached_tokens: 900 } }),
    0.00119,
  ],
  // 1 000·1 + 100·10
  [
    "in a member of the vendor, as Groq's",
    "groq.api.v1",
    chunk({ finish_reason: "stop" }, { x_groq: { usage } }),
    0.002,
  ],
  // 1 000·1 + 100·10
  ["beside the choice", "openai.compatible.v1", chunk({ finish_reason: "stop" }, { usage }), 0.002],
];

describe("The usage of a stream", () => {
  for (const [name, connector, last, usd] of streams) {
    it(`is read ${name}`, async () => {
      const events = [chunk({ delta: { role: "assistant", content: "Hi" } }), last];
      const lines = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      const head = formatHead(200, { "content-type": "text/event-stream" });
      await using upstream = await startUpstream(() => raw(`${head}${lines}data: [DONE]\n\n`));
      const pricing = { input: 1, output: 10, cached_input: 0.1 };
      await using proxy = await startTestProxy({
        upstreams: {},
        config: {
          providers: { a: { connector, base_url: upstream.url, api_key: "key-of-a-0123456789" } },
          models: { m: { provider: "a", capabilities: ["chat-completion"], pricing } },
          pools: { p: { models: ["m"] } },
        },
      });
      const response = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "Hi" }] }),
      });
      await response.text();
      const [record] = proxy.records.filter((one): one is RoutingRecord => one.type === "routing");
      const { cost_usd, tokens_in, tokens_out, estimated } = record!;
      assertEquals([cost_usd, tokens_in, tokens_out, estimated], [usd, 1_000, 100, undefined]);
    });
  }
});
