/**
 * Microbenchmarks of functions in the path of every request: `deno bench -A --no-npm scripts/bench/hot_bench.ts`.
 * @module
 */
import { ModelMesh } from "../../mod.ts";
import { EventBatches } from "../../connectors/providers/_event_batches.ts";
import { parseChunk } from "../../connectors/providers/_http.ts";
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import { chat, checkChatRequest } from "../../src/pipeline/operations/chat.ts";
import { estimateTokens } from "../../src/pipeline/estimate.ts";
import { createHandler } from "../../src/proxy/handler.ts";
import { callAfter, coarseTimers } from "../../src/runtime/_timers.ts";
import { costInNanoUsd } from "../../src/util/cost.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { readRateHeaders } from "../../src/util/rate_headers.ts";
import { SseParser } from "../../src/util/sse_parse.ts";
import { getEngine } from "../../src/engine/get_engine.ts";

const content = "lorem ipsum dolor sit amet ".repeat(10);
const messages = [{ role: "system", content }, { role: "user", content: "Say hi" }];
const text = JSON.stringify({ model: "chat", messages, max_tokens: 100 });
const long = JSON.stringify({ model: "chat", messages: [{ role: "user", content: content.repeat(400) }] });
const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
const choice = { index: 0, message: { role: "assistant", content }, finish_reason: "stop" };
const completion = JSON.stringify({
  id: "a",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [choice],
  usage,
});
const delta = { id: "a", object: "chat.completion.chunk", created: 1, model: "m" };
const event = JSON.stringify({ ...delta, choices: [{ index: 0, delta: { content: "word " }, finish_reason: null }] });

Deno.bench("editMembers, 350 characters", () => void editMembers(text, { model: "m" }));
Deno.bench("editMembers, 100 kB", () => void editMembers(long, { model: "m" }));

const parsed = JSON.parse(text);
Deno.bench("checkChatRequest", () => void checkChatRequest(parsed));
Deno.bench("estimateTokens", () => void estimateTokens(parsed));

const pricing = [{ from: "2025-01-01", input: 1, output: 2 }, { from: "2026-01-01", input: 2, output: 3 }];
const now = Date.UTC(2026, 5, 1);
Deno.bench("costNanoUsd", () => void costInNanoUsd({ input: 100, output: 20 }, pricing, now));

const plain = new Headers({ "content-type": "application/json", "content-length": "1000" });
Deno.bench("readRateHeaders, none there", () => void readRateHeaders(plain, now));

const stream = `data: ${event}\n\n`;
const parser = new SseParser();
const normalizer = new ChunkNormalizer({ model: "m", keepsFunctionCall: false, random: Math.random, now: Date.now });
const accept = (
  value: ChatCompletionChunk,
  wire: string,
) => (normalizer.normalize(value) ? { value } : { value, wire });
Deno.bench("an event of a stream, parsed", () => {
  for (const { data } of parser.push(stream)) accept(parseChunk(data), data);
});

const events = parser.push(stream.repeat(20));
const batches = new EventBatches({ parse: parseChunk, accept, joins: true });
Deno.bench("20 events of a stream that arrived together", () => void batches.read(events));

const after = coarseTimers();
const others = Array.from({ length: 64 }, () => after(30_000, () => {}));
Deno.bench("a long wait called off, one timer each", () => callAfter(30_000, () => {})());
Deno.bench("a long wait called off, timers shared", () => after(30_000, () => {})());
for (const cancel of others) cancel();

/** A mesh whose provider responds immediately. */
const mesh = new ModelMesh({
  fetch: () => Promise.resolve(new Response(completion, { headers: { "content-type": "application/json" } })),
});
await mesh.initialize({
  providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-123456" } },
  models: { m: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 1, output: 2 } } },
  pools: { chat: { models: ["m"] } },
});
const engine = getEngine(mesh);
const request = { id: "a", operation: chat, delivery: "sync", model: "chat", timeoutMs: 60_000 } as const;
Deno.bench("a request through the engine", async () => void await engine.perform({ ...request, body: parsed, text }));

const handler = createHandler(mesh);
const headers = { "content-type": "application/json", "content-length": String(text.length), host: "127.0.0.1" };
const arrival = () => new Request("http://127.0.0.1/v1/chat/completions", { method: "POST", headers, body: text });
Deno.bench("a request through the proxy's handler", async () => void await handler(arrival()));
Deno.bench("of which the Request itself, and reading it", async () => void await arrival().bytes());
