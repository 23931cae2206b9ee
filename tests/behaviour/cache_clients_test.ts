/** Who shares the responses of the cache, what counts them, and what guards do with them. */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { MeshEvent, RoutingRecord } from "../../mod.ts";
import { askCached, cacheStage } from "../support/_cached.ts";
import { type ReceivedRequest, respond, type Script, status } from "../support/upstream.ts";

const names = ["ann", "bob", "cat"] as const;
type Name = typeof names[number];
const toToken = (name: string) => `token-of-${name}-0123456789`;
const priced = { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };

/** A proxy with clients: `ann` and `bob` are in a team, `cat` is not. */
async function open({ cache = {}, clients = {}, tokens = [], script, ...config }: {
  readonly cache?: object;
  readonly clients?: Partial<Record<Name, object>>;
  /** Tokens without a name. */
  readonly tokens?: readonly string[];
  readonly script?: Script;
  readonly [section: string]: unknown;
} = {}) {
  const own = names.map((name) => ({
    name,
    token: toToken(name),
    ...(name !== "cat" && { team: "red" }),
    ...clients[name],
  }));
  const proxy = { auth: { tokens: [...own, ...tokens.map(toToken)], admin_tokens: [toToken("admin")] } };
  const models = { a: priced };
  const teams = { red: {} };
  const stage = await cacheStage({ cache, ...(script && { script }), config: { models, teams, proxy, ...config } });
  const ask = async (name: string, options: Parameters<typeof askCached>[2] = {}) => {
    const headers = { authorization: `Bearer ${toToken(name)}`, ...options.headers };
    return await askCached(stage.url, "chat", { ...options, headers });
  };
  return { ...stage, ask };
}

const short = ({ cache }: { readonly cache: string }) => cache.slice(0, 4);

function routings(records: readonly (MeshEvent | RoutingRecord)[]): RoutingRecord[] {
  return records.filter((record) => record.type === "routing");
}

describe("A response is shared", () => {
  const expected = {
    client: { ann: "HIT;", bob: "MISS", cat: "MISS", one: "MISS", two: "MISS" },
    team: { ann: "HIT;", bob: "HIT;", cat: "MISS", one: "MISS", two: "MISS" },
    all: { ann: "HIT;", bob: "HIT;", cat: "HIT;", one: "HIT;", two: "HIT;" },
  };
  for (const [scope, seen] of Object.entries(expected)) {
    it(`with the scope ${scope} by those who belong to it, and no others`, async () => {
      await using stage = await open({ cache: { scope }, tokens: ["one", "two"] });
      await stage.ask("ann");
      for (const [name, cache] of Object.entries(seen)) assertEquals(short(await stage.ask(name)), cache, name);
      for (const name of Object.keys(seen)) assertEquals(short(await stage.ask(name)), "HIT;", name);
    });
  }

  it("by no client that may not use its pool, or one of its models", async () => {
    const pools = { chat: { models: ["a"] }, other: { models: ["a", "b"] } };
    const models = { a: priced, b: { ...priced, model: "b" } };
    const clients = { bob: { pools: ["other"] }, cat: { models: ["b"] } };
    await using stage = await open({ cache: { scope: "all" }, clients, pools, models });
    await stage.ask("ann");
    for (const name of ["bob", "cat"]) {
      for (const headers of [undefined, { "x-mesh-cache": "only" }]) {
        const refused = await stage.ask(name, { headers });
        assertEquals([refused.status, refused.cache], [404, ""], name);
      }
    }
    const other = { body: { model: "other" } };
    assertEquals(short(await stage.ask("ann", other)), "MISS");
    assertEquals(short(await stage.ask("cat", other)), "MISS", "its pool has other models");
    assertEquals(short(await stage.ask("bob", other)), "HIT;");
  });

  it("in the pools of the setting alone", async () => {
    const pools = { chat: { models: ["a"] }, other: { models: ["a"] } };
    await using stage = await open({ cache: { pools: ["other"] }, pools });
    const other = { body: { model: "other" } };
    for (const expected of ["", ""]) assertEquals(short(await stage.ask("ann")), expected);
    for (const expected of ["MISS", "HIT;"]) assertEquals(short(await stage.ask("ann", other)), expected);
  });
});

describe("A response to a caller with a key of its own", () => {
  it("is not shared, and not repeated", async () => {
    await using stage = await cacheStage({
      provider: { api_key: undefined, credentials: "header" },
      config: { proxy: { auth: { tokens: [{ name: "ann", token: toToken("ann"), byok: true }] } } },
    });
    const headers = { authorization: `Bearer ${toToken("ann")}`, "x-provider-key": "a=key-of-ann-0123456789" };
    for (let sent = 1; sent <= 2; sent++) {
      const { status, cache, text } = await askCached(stage.url, "chat", { headers });
      assertEquals([status, cache, stage.sent()], [200, "", sent], text);
    }
  });
});

describe("A response from the cache", () => {
  it("counts as a request of its client, and is refused beyond the limit", async () => {
    await using stage = await open({ clients: { ann: { rpm: 2 } } });
    assertEquals([(await stage.ask("ann")).status, (await stage.ask("ann")).status], [200, 200]);
    const refused = await stage.ask("ann");
    assertEquals([refused.status, refused.cache], [429, ""]);
    await stage.clock.advance(61_000);
    assertEquals(short(await stage.ask("ann")), "HIT;");
  });

  it("costs nothing: it is served when budgets are spent", async () => {
    await using stage = await open({ clients: { ann: { budget: { daily_limit: 1 } } } });
    await stage.ask("ann");
    for (let sent = 0; sent < 3; sent++) assertEquals(short(await stage.ask("ann")), "HIT;");
    assertEquals((await stage.ask("ann", { body: { top_p: 0.5 } })).status, 429);
  });

  it("is served while no model is active", async () => {
    const pool = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } };
    await using stage = await cacheStage({ script: [respond(), status(500)], pool });
    await askCached(stage.url, "chat");
    const other = { body: { top_p: 0.5 } };
    const statuses = [await askCached(stage.url, "chat", other), await askCached(stage.url, "chat", other)];
    assertEquals(statuses.map((response) => response.status), [502, 503]);
    assertEquals(short(await askCached(stage.url, "chat")), "HIT;");
  });

  for (const isStreamed of [false, true]) {
    it(`has a record with its origin, ${isStreamed ? "streamed" : "complete"}`, async () => {
      await using stage = await open();
      const headers = { "x-request-id": "second" };
      await stage.ask("ann", { isStreamed });
      await stage.ask("ann", { isStreamed, headers, body: { user: "u", mesh: { tags: ["t"] } } });
      const [first, second] = routings(stage.records);
      const { timestamp: _, duration_ms: __, ttft_ms: ___, routing_latency_ms: ____, ...facts } = second!;
      assertEquals(facts, {
        type: "routing",
        request_id: "second",
        operation: "chat",
        capability: first!.capability,
        pool: "chat",
        model: "a",
        provider: "a",
        delivery: isStreamed ? "stream" : "sync",
        fallback_chain: [],
        attempts: 0,
        client: "ann",
        team: "red",
        tags: ["t"],
        user: "u",
        cached: true,
        saved_usd: 1,
        status: 200,
        cost_usd: 0,
      });
      assertEquals([first!.cost_usd, first!.cached, first!.saved_usd], [1, undefined, undefined]);
    });
  }

  it("counts for its pool, and not for a model or a provider", async () => {
    await using stage = await open();
    for (let sent = 0; sent < 3; sent++) await stage.ask("ann");
    const totals = stage.mesh.stats().map((
      { scope, id, requests_total, tokens_in },
    ) => [scope, id, requests_total, tokens_in]);
    assertEquals(totals.filter(([, id]) => id === "a" || id === "chat"), [
      ["model", "a", 1, 10],
      ["provider", "a", 1, 10],
      ["pool", "chat", 3, 10],
    ]);
  });
});

const pii = (action: string) => ({ connector: "mesh.guard.pii.v1", action, types: ["email"] });

/** Responds with the address that it was sent. */
const echo = (request: ReceivedRequest) => respond({ text: `Mail ${request.json().messages.at(-1).content} now` });

describe("Guards and the cache", () => {
  const mail = (address: string) => ({ messages: [{ role: "user", content: address }] });

  for (const isStreamed of [false, true]) {
    it(`restore in each repetition what its own request had, ${isStreamed ? "streamed" : "complete"}`, async () => {
      const pools = { chat: { models: ["a"], guards: ["pii"] } };
      await using stage = await open({ cache: { scope: "all" }, guards: { pii: pii("restore") }, pools, script: echo });
      const read = async (name: string, address: string) => {
        const { cache, text } = await stage.ask(name, { isStreamed, body: mail(address) });
        return [cache.slice(0, 4), /[\w.]+@example\.com/.exec(text.replaceAll(/"\}.*\n\n.*"content":"/g, ""))?.[0]];
      };
      assertEquals(await read("ann", "ann@example.com"), ["MISS", "ann@example.com"]);
      assertEquals(await read("bob", "bob@example.com"), ["HIT;", "bob@example.com"]);
      assertEquals(stage.sent(), 1);
    });

    it(`check each repetition for its client, ${isStreamed ? "streamed" : "complete"}`, async () => {
      const script = respond({ text: "Mail ann@example.com now" });
      const clients = { bob: { guards: ["pii"] } };
      await using stage = await open({ cache: { scope: "all" }, guards: { pii: pii("block") }, clients, script });
      assertEquals((await stage.ask("ann", { isStreamed })).status, 200);
      for (let sent = 0; sent < 2; sent++) {
        const refused = await stage.ask("bob", { isStreamed });
        assertEquals(refused.status, 400, refused.text);
        assertMatch(refused.text, /content_blocked/);
        assertNotMatch(refused.text, /ann@/);
      }
      const last = routings(stage.records).at(-1)!;
      assertEquals([last.status, last.code, last.cached, last.guards?.[0]?.guard], [
        400,
        "content_blocked",
        true,
        "pii",
      ]);
      assertEquals(stage.sent(), 1);
    });

    it(`keep from the request log what they replace, ${isStreamed ? "streamed" : "complete"}`, async () => {
      const logged: string[] = [];
      const log = (record: unknown) => void logged.push(JSON.stringify(record));
      await using stage = await cacheStage({
        script: respond({ text: "Mail ann@example.com now" }),
        pool: { guards: ["pii"] },
        sinks: { "test.log.v1": { emit: () => {}, trace: () => {}, log, flush: () => Promise.resolve() } },
        config: {
          guards: { pii: pii("mask") },
          observability: { logging: { connector: "test.log.v1", level: "full" } },
        },
      });
      for (let sent = 0; sent < 2; sent++) {
        assertNotMatch((await askCached(stage.url, "chat", { isStreamed })).text, /ann@/);
      }
      assertEquals(logged.length, 2);
      assertNotMatch(logged.join(), /ann@/);
    });

    it(`let nothing be kept that they block, ${isStreamed ? "streamed" : "complete"}`, async () => {
      const script = respond({ text: "Mail ann@example.com now" });
      const clients = { bob: { guards: ["pii"] } };
      await using stage = await open({ cache: { scope: "all" }, guards: { pii: pii("block") }, clients, script });
      assertEquals((await stage.ask("bob", { isStreamed })).status, 400);
      assertEquals(short(await stage.ask("ann", { isStreamed })), "MISS");
      assertEquals(stage.sent(), 2);
    });
  }
});
