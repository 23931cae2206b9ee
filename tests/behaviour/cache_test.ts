/** The cache of responses: what is repeated, for whom, and what a client sees of it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { stateIn } from "../../mod.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { askCached, cacheStage, requests } from "../support/_cached.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { dialects, type Json, speaking } from "../support/_dialects.ts";
import { type Behaviour, reset, respond, startUpstream, status } from "../support/upstream.ts";

describe("A repeated response", () => {
  for (const dialect of Object.keys(requests)) {
    for (const isStreamed of [false, true]) {
      it(`has the bytes of the first one in ${dialect}, ${isStreamed ? "streamed" : "complete"}`, async () => {
        await using stage = await cacheStage();
        const first = await askCached(stage.url, dialect, { isStreamed });
        await stage.clock.advance(12_000);
        const second = await askCached(stage.url, dialect, { isStreamed });
        assertEquals([first.status, first.cache], [200, "MISS"], first.text);
        assertMatch(second.cache, /^HIT; age=12/);
        assertEquals(second.text, first.text);
        assertMatch(first.text, /Hello/);
        assertEquals(stage.sent(), 1);
      });
    }
  }

  for (const vendor of dialects) {
    it(`has them also if its provider has an API of its own: ${vendor}`, async () => {
      await using upstream = await startUpstream(speaking[vendor].respond());
      const provider = { dialect: vendor, url: upstream.url };
      for (const isStreamed of [false, true]) {
        for (const dialect of Object.keys(requests)) {
          await using proxy = await startDialectProxy({ a: provider }, { config: { cache: {} } });
          const first = await askCached(proxy.url, dialect, { isStreamed });
          const second = await askCached(proxy.url, dialect, { isStreamed });
          assertEquals([first.status, first.cache], [200, "MISS"], first.text);
          assertMatch(second.cache, /^HIT/, `${dialect} ${isStreamed}`);
          assertEquals(second.text, first.text);
        }
      }
    });
  }

  it("is that of the same request in another dialect", async () => {
    await using stage = await cacheStage();
    await askCached(stage.url, "chat", { body: { max_tokens: 100 } });
    const second = await askCached(stage.url, "messages");
    assertMatch(second.cache, /^HIT/);
    assertMatch(second.text, /"type":"text","text":"Hello world"/);
  });

  it("has usage in its stream if its client requests that", async () => {
    await using stage = await cacheStage();
    const stream_options = { include_usage: true };
    const first = await askCached(stage.url, "chat", { isStreamed: true });
    const second = await askCached(stage.url, "chat", { isStreamed: true, body: { stream_options } });
    const third = await askCached(stage.url, "chat", { isStreamed: true });
    const hasUsage = [first, second, third].map(({ text }) => /"total_tokens":15/.test(text));
    assertEquals(hasUsage, [false, true, false]);
    assertEquals(third.text, first.text);
    assertEquals(stage.sent(), 1);
  });

  it("names the model and the provider that it is of, and what it has saved", async () => {
    const models = { a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 100, output: 200 } } };
    await using stage = await cacheStage({ config: { models } });
    const first = await askCached(stage.url, "chat");
    const second = await askCached(stage.url, "chat");
    const name = (response: typeof first, header: string) => response.headers.get(`x-mesh-${header}`);
    assertEquals(second.cache, "HIT; age=0; saved=0.002");
    for (const header of ["pool", "model", "provider"]) assertEquals(name(second, header), name(first, header), header);
    assertEquals([name(first, "cost-usd"), name(second, "cost-usd")], ["0.002", "0"]);
    assertEquals([name(second, "attempts"), name(second, "fallbacks")], ["0", "0"]);
  });

  it("is as old as the setting allows, and not older than its client wants", async () => {
    await using stage = await cacheStage({ cache: { ttl: "10m" } });
    const ask = async (headers = {}) => (await askCached(stage.url, "chat", { headers })).cache.slice(0, 4);
    assertEquals(await ask(), "MISS");
    await stage.clock.advance(120_000);
    assertEquals(await ask({ "x-mesh-cache": "ttl=60" }), "MISS");
    assertEquals(await ask({ "x-mesh-cache": "ttl=60" }), "HIT;");
    await stage.clock.advance(61_000);
    assertEquals(await ask(), "MISS", "an entry lives as long as the request says that it is of");
    await stage.clock.advance(601_000);
    assertEquals(await ask(), "MISS");
  });
});

const png = (data: string) => [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }];
const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } });
const say = (content: unknown, system: string) => ({
  messages: [{ role: "system", content: system }, { role: "user", content }],
});

/** Requests of which none has the response of another one. */
const different: Readonly<Record<string, readonly Json[]>> = {
  chat: [
    {},
    say("Hi", "Be kind"),
    say("Hi", "Be brief"),
    say("Hi", "\ud800"),
    say("Hi", "\ufffd"),
    say(png("AAAA"), "Be kind"),
    say(png("AAAB"), "Be kind"),
    { tools: [tool("read")] },
    { tools: [tool("write")] },
    { tools: [tool("read")], tool_choice: "none" },
    { top_p: 0.5 },
    { max_tokens: 5 },
    { temperature: 1, seed: 1 },
    { temperature: 1, seed: 2 },
    { stop: ["a"] },
    { n: 2 },
    { response_format: { type: "json_object" } },
    { mesh: { only: ["a"] } },
    { model: "a" },
  ],
  messages: [{}, { system: "Be kind" }, { system: "Be brief" }, { max_tokens: 5 }, { top_p: 0.5 }],
  gemini: [
    {},
    { systemInstruction: { parts: [{ text: "Be kind" }] } },
    { systemInstruction: { parts: [{ text: "Be brief" }] } },
    { generationConfig: { temperature: 0, maxOutputTokens: 5 } },
  ],
  responses: [{}, { instructions: "Be kind" }, { instructions: "Be brief" }, { max_output_tokens: 16 }, { top_p: 0.5 }],
};

/** Requests with the response of the plain one: they differ in who asks, and in the form of the response. */
const equal: readonly Json[] = [
  { user: "ann" },
  { metadata: { a: "b" } },
  { safety_identifier: "ann" },
  { prompt_cache_key: "k" },
  { mesh: { session: "s", tags: ["a"], user: "ann", deadline: "20s" } },
  { model: "talk" },
  { stream: false },
];

describe("The key of a response", () => {
  for (const [dialect, bodies] of Object.entries(different)) {
    it(`differs for requests that may be answered differently in ${dialect}`, async () => {
      await using stage = await cacheStage();
      for (const body of bodies) {
        assertEquals((await askCached(stage.url, dialect, { body })).cache, "MISS", JSON.stringify(body));
      }
      for (const body of bodies) {
        assertMatch((await askCached(stage.url, dialect, { body })).cache, /^HIT/, JSON.stringify(body));
      }
    });
  }

  it("is the same for requests that differ in their caller", async () => {
    await using stage = await cacheStage({ config: { aliases: { talk: "chat" } } });
    await askCached(stage.url, "chat");
    for (const body of equal) {
      assertMatch((await askCached(stage.url, "chat", { body })).cache, /^HIT/, JSON.stringify(body));
    }
    const body = { temperature: 0, messages: [{ content: "Hi", role: "user" }] };
    assertMatch((await askCached(stage.url, "chat", { body })).cache, /^HIT/, "the order of members");
  });
});

/** Requests whose responses are not repeated. */
const passing: readonly (readonly [what: string, body: Json, headers?: Readonly<Record<string, string>>])[] = [
  ["with a temperature", { temperature: 1 }],
  ["without a temperature", { temperature: undefined }],
  ["with a temperature that is null", { temperature: null }],
  ["that is to be stored", { store: true }],
  ["with a search", { web_search_options: {} }],
  ["with a tool that its provider runs", { tools: [{ type: "code_interpreter" }] }],
  ["with the header no-store", {}, { "x-mesh-cache": "no-store" }],
  ["with no-store in its body", { mesh: { cache: "no-store" } }],
];

/** Responses that are not repeated. */
const unkept: readonly (readonly [what: string, behaviour: Behaviour, body?: Json])[] = [
  ["an error", status(400)],
  ["an outage", status(500)],
  ["one that breaks", reset()],
  ["calls of tools", respond({ toolCalls: [{ name: "read", arguments: "{}" }] }), { tools: [tool("read")] }],
  ["one at the limit of the model", respond({ finishReason: "length" })],
  ["one that is filtered", respond({ finishReason: "content_filter" })],
];

describe("Never repeated", () => {
  for (const [what, body, headers = {}] of passing) {
    it(`is the response to a request ${what}`, async () => {
      await using stage = await cacheStage();
      for (let sent = 1; sent <= 2; sent++) {
        const { status, cache } = await askCached(stage.url, "chat", { body, headers });
        assertEquals([status, cache, stage.sent()], [200, "", sent]);
      }
    });
  }

  for (const [what, behaviour, body = {}] of unkept) {
    for (const isStreamed of [false, true]) {
      it(`is ${what}, ${isStreamed ? "streamed" : "complete"}`, async () => {
        await using stage = await cacheStage({
          script: behaviour,
          pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 9 } },
        });
        await askCached(stage.url, "chat", { isStreamed, body });
        const sent = stage.sent();
        const again = await askCached(stage.url, "chat", { isStreamed, body });
        assert(!again.cache.startsWith("HIT"));
        assertEquals(stage.sent(), 2 * sent);
      });
    }
  }

  it("is what only one vendor understands, such as tools that it runs", async () => {
    await using upstream = await startUpstream(speaking.anthropic.respond());
    const provider = { dialect: "anthropic", url: upstream.url } as const;
    await using proxy = await startDialectProxy({ a: provider }, { config: { cache: {} } });
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    for (const name of ["x-other", "x-mesh-cache"]) {
      for (let sent = 0; sent < 2; sent++) {
        const { status, cache } = await askCached(proxy.url, "messages", {
          body: { tools },
          headers: { [name]: "ttl=60" },
        });
        assertEquals([status, cache], [200, ""]);
      }
    }
  });

  it("is a turn of a stored conversation", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const config = { storage: { connector: "mesh.memory.v1" }, proxy: { responses: { state: true } } };
    await using stage = await cacheStage({ clock, storage: stateIn(new MemoryStorage(clock)), config });
    const ask = async (body: Json, isStreamed = false) => await askCached(stage.url, "responses", { body, isStreamed });
    const { id } = JSON.parse((await ask({})).text);
    const turns = [{}, { store: true }, { previous_response_id: id }, { previous_response_id: id, store: false }];
    for (const body of [...turns, ...turns]) {
      for (const isStreamed of [false, true]) {
        const { status, cache } = await ask(body, isStreamed);
        assertEquals([status, cache], [200, ""], JSON.stringify(body));
      }
    }
    assertEquals((await ask({ store: false })).cache, "MISS");
    assertMatch((await ask({ store: false })).cache, /^HIT/);
  });

  it("is a stream that its client leaves, or whose provider fails midway", async () => {
    const cut = respond({ pieces: ["Hello", " world"], cut: { after: 1, how: "reset" } });
    await using stage = await cacheStage({ script: [cut, respond()] });
    const first = await askCached(stage.url, "chat", { isStreamed: true });
    assertMatch(first.text, /stream_interrupted/);
    assertEquals((await askCached(stage.url, "chat", { isStreamed: true })).cache, "MISS");
    assertMatch((await askCached(stage.url, "chat", { isStreamed: true })).cache, /^HIT/);
  });
});

describe("Repeated is", () => {
  it("a response that ends at the limit of its request", async () => {
    await using stage = await cacheStage({ script: respond({ finishReason: "length" }) });
    for (const isStreamed of [false, true]) {
      const body = { max_tokens: isStreamed ? 5 : 6 };
      assertEquals((await askCached(stage.url, "chat", { body, isStreamed })).cache, "MISS");
      assertMatch((await askCached(stage.url, "chat", { body, isStreamed })).cache, /^HIT/);
    }
  });

  for (
    const [what, options] of Object.entries({
      "x-mesh-cache: ttl=60": { headers: { "x-mesh-cache": "ttl=60" } },
      "mesh.cache with a time": { body: { mesh: { cache: { ttl: "60s" } } } },
      "mesh.cache with seconds": { body: { mesh: { cache: { ttl: 60 } } } },
    })
  ) {
    it(`what its client wants to be repeated, by ${what}`, async () => {
      await using stage = await cacheStage();
      const body = { temperature: 1, ..."body" in options ? options.body : {} };
      assertEquals((await askCached(stage.url, "chat", { ...options, body })).cache, "MISS");
      assertMatch((await askCached(stage.url, "chat", { ...options, body })).cache, /^HIT/);
    });
  }

  it("nothing else, for a client that wants only that", async () => {
    for (const cache of [{}, undefined]) {
      await using stage = await cacheStage({ cache });
      const only = { headers: { "x-mesh-cache": "only" } };
      for (const dialect of Object.keys(requests)) {
        const refused = await askCached(stage.url, dialect, only);
        assertEquals([refused.status, stage.sent()], [504, 0], refused.text);
      }
      const { text, headers } = await askCached(stage.url, "chat", only);
      assertEquals(JSON.parse(text).error.code, "cache_miss");
      assertEquals(headers.get("x-should-retry"), "false");
      if (cache === undefined) continue;
      await askCached(stage.url, "chat");
      assertMatch((await askCached(stage.url, "chat", only)).cache, /^HIT/);
      assertMatch((await askCached(stage.url, "chat", { body: { mesh: { cache: "only" } } })).cache, /^HIT/);
    }
  });

  it("nothing for a request that says something else about the cache", async () => {
    for (const cache of [{}, undefined]) {
      await using stage = await cacheStage({ cache });
      for (const value of ["yes", "ttl", "ttl=", "ttl=0", "ttl=-1", "ttl=1e3", "ttl=9999999999", "no-store, only"]) {
        const { status, text } = await askCached(stage.url, "chat", { headers: { "x-mesh-cache": value } });
        const { code, param } = JSON.parse(text).error;
        assertEquals([status, code, param], [400, "invalid_value", "x-mesh-cache"], value);
      }
      for (const value of [true, 60, "off", [], {}, { ttl: 0 }, { ttl: -1 }, { ttl: 1.5 }, { ttl: "x" }, { max: 1 }]) {
        const { status, text } = await askCached(stage.url, "chat", { body: { mesh: { cache: value } } });
        const { code, param } = JSON.parse(text).error;
        assertEquals([status, code, param], [400, "invalid_value", "mesh.cache"], JSON.stringify(value));
      }
      assertEquals(stage.sent(), 0);
    }
  });
});
