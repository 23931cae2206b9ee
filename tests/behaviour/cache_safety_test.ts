/** What the cache must not repeat, or not to others, although it looks repeatable. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { routingOf } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { askCached, cacheStage } from "../support/_cached.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { type Dialect, type Json, speaking } from "../support/_dialects.ts";
import { startIssuer } from "../support/_issuer.ts";
import { clientOver, messages } from "../support/_library.ts";
import { operationStage } from "../support/_operations.ts";
import { completeResponse, json, respond, startUpstream } from "../support/upstream.ts";

const guards = { words: { connector: "mesh.guard.regex.v1", patterns: { bad: "bad" } } };
const short = ({ cache }: { readonly cache: string }) => cache.slice(0, 4);

describe("A response is not repeated", () => {
  const searches: readonly Json[] = [
    { search_parameters: { mode: "on" } },
    { plugins: [{ id: "web" }] },
    { enable_search: true },
    { web_search_options: {} },
  ];
  for (const body of searches) {
    it(`if its model has searched: ${JSON.stringify(body)}`, async () => {
      await using stage = await cacheStage();
      const headers = { "x-mesh-cache": "ttl=60" };
      for (const options of [{ body }, { body }, { body, headers }, { body, headers }]) {
        assertEquals((await askCached(stage.url, "chat", options)).cache, "");
      }
      assertEquals(stage.sent(), 4);
    });
  }

  it("unless its request says that its model shall not search", async () => {
    await using stage = await cacheStage();
    const body = { search_parameters: { mode: "off" }, enable_search: false, plugins: [] };
    await askCached(stage.url, "chat", { body });
    assertEquals(short(await askCached(stage.url, "chat", { body })), "HIT;");
  });

  for (const isStreamed of [false, true]) {
    it(`if it is empty, ${isStreamed ? "streamed" : "complete"}`, async () => {
      await using stage = await cacheStage({ script: respond({ text: "" }), clock: fakeClock({ skipSleeps: true }) });
      for (let sent = 0; sent < 2; sent++) {
        const { status, cache } = await askCached(stage.url, "chat", { isStreamed });
        assertEquals([status, cache], [200, "MISS"]);
      }
    });
  }

  it("if it is sound without any", async () => {
    const script = completeResponse(200, new Uint8Array(), "audio/mpeg");
    await using stage = await operationStage({ a: script }, { capability: "text-to-speech", config: { cache: {} } });
    const headers = { "content-type": "application/json", "x-mesh-cache": "ttl=60" };
    const [first, second] = [await say(), await say()];
    assertEquals([first, second], ["MISS", "MISS"]);

    async function say(): Promise<string | null> {
      const response = await stage.post("audio/speech", { input: "Hi", voice: "alloy" }, { headers });
      return response.headers.get("x-mesh-cache");
    }
  });

  it("longer than it may be, after the clock was set back", async () => {
    const clock = fakeClock();
    await using stage = await cacheStage({ clock, cache: { ttl: "10m" } });
    await askCached(stage.url, "chat");
    clock.jumpWallTime(-5 * 60_000);
    const young = { headers: { "x-mesh-cache": "ttl=60" } };
    assertMatch((await askCached(stage.url, "chat")).cache, /^HIT; age=0/);
    assertEquals((await askCached(stage.url, "chat", young)).cache, "MISS");
    clock.jumpWallTime(-24 * 60 * 60_000);
    assertEquals((await askCached(stage.url, "chat")).cache, "MISS");
    assertMatch((await askCached(stage.url, "chat")).cache, /^HIT/);
  });
});

/** Requests whose form in chat has less than they have, and whose provider understands all of it. */
const richer: readonly {
  readonly dialect: string;
  readonly provider: Dialect;
  readonly body: Json;
  readonly part: string;
}[] = [
  {
    dialect: "messages",
    provider: "anthropic",
    body: {
      tools: [{ type: "web_search_20250305", name: "web_search" }, { name: "look", input_schema: { type: "object" } }],
    },
    part: "web_search_20250305",
  },
];

describe("A request is sent as its client wrote it", () => {
  for (const { dialect, provider, body, part } of richer) {
    it(`if chat has less, and its provider understands ${part}`, async () => {
      await using upstream = await startUpstream(speaking[provider].respond());
      const a = { dialect: provider, url: upstream.url };
      await using proxy = await startDialectProxy({ a }, { config: { cache: {} } });
      for (const isStreamed of [false, true]) {
        const { status, cache } = await askCached(proxy.url, dialect, { body, isStreamed });
        assertEquals([status, cache], [200, ""]);
        assertStringIncludes(JSON.stringify(upstream.requests.at(-1)!.json()), part);
      }
    });
  }
});

describe("A request with members of the same name", () => {
  for (
    const [what, config] of [["the key", { cache: {} }], ["guards", { guards, proxy: { guards: ["words"] } }]] as const
  ) {
    it(`is sent as ${what} has it`, async () => {
      await using stage = await cacheStage({ cache: undefined, config });
      const body = '{"model":"chat","temperature":0,"messages":[{"role":"user","content":"bad","content":"good"}]}';
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${stage.url}/v1/chat/completions`, { method: "POST", headers, body });
      await response.body?.cancel();
      assertEquals(response.status, 200);
      const [sent] = stage.upstream.requests;
      assertEquals([sent!.body.includes("good"), sent!.body.includes("bad")], [true, false]);
    });
  }
});

describe("The members of a team whose tokens name no client", () => {
  const shared = { client: "MISS", team: "HIT;", all: "HIT;" };
  for (const [scope, expected] of Object.entries(shared)) {
    it(`share responses with the scope ${scope}: ${expected === "HIT;"}`, async () => {
      await using issuer = await startIssuer();
      const jwt = [{ issuer: issuer.url, audience: "mesh", team: "group" }];
      const config = { teams: { red: {}, blue: {} }, proxy: { auth: { jwt } } };
      await using stage = await cacheStage({ cache: { scope }, config, clock: fakeClock() });
      const ask = async (claims: Json) => {
        const authorization = `Bearer ${await issuer.token(claims)}`;
        return short(await askCached(stage.url, "chat", { headers: { authorization } }));
      };
      assertEquals(await ask({ group: "red", sub: "one" }), "MISS");
      assertEquals(await ask({ group: "red", sub: "one", jti: "renewed" }), "HIT;");
      assertEquals(await ask({ group: "red", sub: "two" }), expected);
      assertEquals(await ask({ group: "blue", sub: "three" }), scope === "all" ? "HIT;" : "MISS");
    });
  }
});

describe("A page of an insecure origin", () => {
  it("has a cache, although it has no Web Crypto", async () => {
    await using upstream = await startUpstream(respond());
    await using scene = clientOver({ upstreams: { a: upstream.url }, config: { cache: {} } });
    const request = { model: "chat", messages, temperature: 0 };
    const { subtle } = crypto;
    Object.defineProperty(crypto, "subtle", { value: undefined, configurable: true });
    try {
      for (const cached of [undefined, true]) {
        assertEquals(routingOf(await scene.client.chat.completions.create(request))?.cached, cached);
      }
    } finally {
      Object.defineProperty(crypto, "subtle", { value: subtle, configurable: true });
    }
  });
});

describe("Embeddings are repeated", () => {
  for (const usage of [undefined, null, {}, { prompt_tokens: "3" }, { prompt_tokens: 3 }, { total_tokens: -1 }]) {
    it(`if their usage is ${JSON.stringify(usage)}`, async () => {
      const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
      const script = json({ object: "list", model: "e", data, ...(usage !== undefined && { usage }) });
      await using stage = await operationStage({ a: script }, { capability: "text-embeddings", config: { cache: {} } });
      const ask = () => stage.post("embeddings", { input: "Hi" });
      const [first, second] = [await ask(), await ask()];
      assertEquals([first.status, second.status], [200, 200], first.text + second.text);
      assertMatch(second.headers.get("x-mesh-cache") ?? "", /^HIT/);
      assertEquals(second.json.data, first.json.data);
      assertEquals(Object.values(second.json.usage ?? {}).includes(null), false, second.text);
    });
  }
});
