/** Keys of callers: providers that take them, and what they leave of others. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { startTestProxy, testConfig, type TestProxy } from "../support/proxy.ts";
import { ok, respond, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

type Parts = Readonly<Record<string, unknown>>;

const app = { token: "token-of-the-app-0123456789", name: "app", byok: true };
const other = { token: "token-of-another-0123456789", name: "other" };
const plain = "plain-token-0123456789";
const key = (name: string) => `secret-of-caller-${name}-0123456789`;
const dollar = { capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };

const taker = { credentials: "header", api_key: undefined, files: { upload: true }, batch: { supported: true } };

interface Stage {
  readonly upstreams: Readonly<Record<string, Upstream>>;
  readonly proxy: TestProxy;
  /** Everything that was logged, traced or recorded. */
  readonly reported: unknown[];
  /** Asks with a key of a provider, and returns status and code. */
  ask(keys?: string, token?: string, body?: Parts): Promise<string>;
}

/** Runs a test on a pool of models: those whose names begin with `k` are of providers that take keys of callers. */
async function withPool(names: readonly string[], test: (stage: Stage) => Promise<void>, config: Parts = {}) {
  const upstreams: Record<string, Upstream> = {};
  for (const name of names) upstreams[name] = await startUpstream(ok());
  const isTaker = (name: string) => name.startsWith("k");
  const urls = Object.fromEntries(names.map((name) => [name, upstreams[name]!.url]));
  try {
    await using proxy = await startTestProxy({
      upstreams: urls,
      clock: fakeClock({ skipSleeps: true }),
      pool: { retry: { max_attempts: 0 }, strategy: "stick-until-failure" },
      provider: (name) => isTaker(name) ? taker : {},
      config: {
        models: Object.fromEntries(names.map((name) => [name, { provider: name, ...dollar }])),
        proxy: { auth: { tokens: [plain, app, other] } },
        ...config,
      },
    });
    const reported: unknown[] = [];
    const report = (record: unknown) => void reported.push(record);
    proxy.mesh.addSink({ emit: report, log: report, trace: report, flush: () => Promise.resolve() });
    const ask = async (keys?: string, token = app.token, body: Parts = {}) => {
      const headers: Record<string, string> = {
        "authorization": `Bearer ${token}`,
        "content-type": "application/json",
      };
      if (keys !== undefined) headers["x-provider-key"] = keys;
      const response = await proxy.chat(body, { headers });
      const { error } = await response.json();
      return error === undefined ? String(response.status) : `${response.status} ${error.code}`;
    };
    await test({ upstreams, proxy, reported, ask });
  } finally {
    for (const upstream of Object.values(upstreams)) await upstream.close();
  }
}

const sentKeys = (upstream: Upstream) => upstream.requests.map(({ headers }) => headers.authorization);

describe("a provider with credentials: header", () => {
  it("gets the key of the caller for this request, and nothing else of it", async () => {
    await withPool(["k1"], async ({ upstreams: { k1 }, proxy, ask, reported }) => {
      const names = ["a", "b", "c"];
      assertEquals(await Promise.all(names.map((name) => ask(key(name)))), ["200", "200", "200"]);
      assertEquals(sentKeys(k1!).sort(), names.map((name) => `Bearer ${key(name)}`));
      assert(k1!.requests.every(({ headers }) => !("x-provider-key" in headers)));
      assert(!JSON.stringify([reported, proxy.records, await proxy.mesh.exportState()]).includes("secret-of-caller"));
      assertEquals(await ask(), "400 missing_provider_key");
    });
  });

  it("gets no key of another provider, however the header is written", async () => {
    await withPool(["k1", "k2", "m"], async ({ upstreams: { k1, k2, m }, ask }) => {
      const refused = [
        key("a"), // of which?
        `k1=${key("a")}, ${key("b")}`,
        `k3=${key("a")}`,
        `m=${key("a")}`,
        `k1=${key("a")},k1=${key("b")}`,
        `k1=`,
        `=${key("a")}`,
        `k1=${key("a")},`,
        `k1=a b`,
        "x".repeat(9000),
        Array.from({ length: 40 }, () => `k1=${key("a")}`).join(","),
      ];
      for (const keys of refused) assertEquals(await ask(keys), "400 invalid_value", keys);
      assertEquals([k1!.calls, k2!.calls, m!.calls], [0, 0, 0]);
      k1!.follow(status(500));
      k2!.follow(status(500));
      assertEquals(await ask(`k1=${key("a")}, k2=${key("b")}`), "200");
      assertEquals([sentKeys(k1!), sentKeys(k2!), sentKeys(m!)], [
        [`Bearer ${key("a")}`],
        [`Bearer ${key("b")}`],
        ["Bearer key-of-m-0123456789"],
      ]);
    });
  });

  it("is left out for a request without its key, while others serve", async () => {
    await withPool(["k1", "m"], async ({ upstreams: { k1, m }, ask }) => {
      assertEquals([await ask(), k1!.calls, m!.calls], ["200", 0, 1]);
      assertEquals([await ask(key("a")), k1!.calls, m!.calls], ["200", 1, 1]);
      assertEquals(await ask(`k1=${key("a")}`, app.token, { model: "m" }), "200");
      assertEquals(await ask(key("a"), app.token, { model: "m" }), "400 invalid_value"); // none of its providers takes it
    });
  });

  it("takes keys of clients that may send them", async () => {
    await withPool(["k1"], async ({ upstreams: { k1 }, ask }) => {
      assertEquals(await ask(key("a"), other.token), "400 invalid_value");
      assertEquals([await ask(key("a"), plain), k1!.calls], ["200", 1]);
    });
  });

  it("takes keys of clients created at runtime, while they may send them", async () => {
    await withPool(["k1"], async ({ proxy, ask }) => {
      const manage = async (method: string, path: string, body: unknown) => {
        const headers = { "authorization": `Bearer ${plain}`, "content-type": "application/json" };
        const init = { method, headers, body: JSON.stringify(body) };
        return await (await fetch(`${proxy.url}/mesh/clients${path}`, init)).json();
      };
      const { id, token, byok } = await manage("POST", "", { name: "made", byok: true });
      assertEquals([byok, await ask(key("a"), token)], [true, "200"]);
      assertEquals((await manage("PATCH", `/${id}`, { byok: null })).byok, undefined);
      assertEquals(await ask(key("a"), token), "400 invalid_value");
    }, { storage: { connector: "mesh.memory.v1" } });
  });

  for (
    const [what, code, expected] of [
      ["refused", 401, "401 invalid_provider_key"],
      ["forbidden", 403, "401 invalid_provider_key"],
      ["limited", 429, "429 rate_limit_exceeded"],
      ["without quota", 402, "429 insufficient_quota"],
      ["without the model", 404, "502 all_attempts_failed"],
    ] as const
  ) {
    it(`serves others after a key was ${what}, also its next model`, async () => {
      const error = { message: `Bad key ${key("bad")}`, code: code === 404 ? "model_not_found" : "bad_key" };
      await withPool(["k1"], async ({ upstreams: { k1 }, ask, proxy }) => {
        const headers = { "retry-after": "30", "x-ratelimit-remaining-requests": "0" };
        k1!.follow((request) =>
          request.headers.authorization === `Bearer ${key("bad")}` ? status(code, { error, headers }) : ok()
        );
        const mixed = Array.from({ length: 8 }, (_, index) => ask(key(index % 2 === 0 ? "bad" : "good")));
        assertEquals(
          await Promise.all(mixed),
          Array.from({ length: 8 }, (_, index) => index % 2 === 0 ? expected : "200"),
        );
        for (let times = 0; times < 4; times++) assertEquals(await ask(key("bad")), expected);
        const states = proxy.mesh.poolStatus().chat!.models.map((model) => model.status);
        assertEquals([...states, await ask(key("good"))], ["active", "200"]);
      });
      await withPool(["k1", "m"], async ({ upstreams: { k1, m }, ask, reported, proxy }) => {
        k1!.follow(status(code, { error }));
        assertEquals([await ask(key("bad")), m!.calls], ["200", 1]);
        assert(!JSON.stringify([reported, proxy.records]).includes("secret-of-caller"));
        k1!.follow(ok());
        assertEquals([await ask(key("good")), m!.calls], ["200", 1]); // the pool has not moved
      });
    });
  }

  it("costs no budget, and is counted apart", async () => {
    const budget = { daily_limit: 1 }; // of all
    const storage = { connector: "mesh.memory.v1" };
    const tokens = [plain, { ...app, budget: { daily_limit: 1 } }];
    const config = { budget, storage, proxy: { auth: { tokens } } };
    await withPool(["k1", "m"], async ({ ask, proxy }) => {
      assertEquals(await Promise.all(Array.from({ length: 5 }, () => ask(key("a")))), Array(5).fill("200"));
      const models = { model: "m" };
      assertEquals([await ask(undefined, app.token, models), await ask(undefined, app.token, models)], [
        "200",
        "429 budget_exceeded",
      ]);
      assertEquals(await ask(key("a")), "200"); // although the budget of the client is spent
      const routing = proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
      assertEquals(routing.filter(({ byok }) => byok).map(({ cost_usd }) => cost_usd), Array(6).fill(1));
      const get = (path: string) => fetch(`${proxy.url}${path}`, { headers: { authorization: `Bearer ${plain}` } });
      const { data } = await (await get("/mesh/usage?by=client")).json();
      assertEquals([data[0].cost_usd, data[0].byok_cost_usd], [1, 6]);
      assertStringIncludes(await (await get("/mesh/usage?by=client&format=csv")).text(), "cost_usd,byok_cost_usd\r\n");
      const metrics = await (await get("/metrics")).text();
      const read = (name: string) =>
        metrics.split("\n").filter((line) => line.startsWith(`${name}{`)).map((line) => line.split(" ").at(-1));
      assertEquals([
        read("modelmesh_cost_usd_total").filter((value) => value !== "0"),
        read("modelmesh_byok_cost_usd_total"),
      ], [["1"], ["6"]]);
    }, config);
  });

  it("serves streams and other dialects with the key, and no files or batches", async () => {
    await withPool(["k1"], async ({ upstreams: { k1 }, proxy }) => {
      k1!.follow(stream({ pieces: ["Good", " day"] }));
      const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
        fetch(`${proxy.url}${path}`, {
          method: "POST",
          headers: {
            "authorization": `Bearer ${app.token}`,
            "content-type": "application/json",
            "x-provider-key": key("a"),
            ...headers,
          },
          body: JSON.stringify(body),
        });
      const messages = [{ role: "user", content: "Hi" }];
      const responses = await Promise.all([
        post("/v1/chat/completions", { model: "chat", messages, stream: true }),
        post("/v1/messages", { model: "chat", messages, max_tokens: 9, stream: true }),
        post("/v1/responses", { model: "chat", input: "Hi", stream: true }),
        post("/v1beta/models/chat:streamGenerateContent?alt=sse", {
          contents: [{ role: "user", parts: [{ text: "Hi" }] }],
        }),
      ]);
      for (const response of responses) assertStringIncludes(await response.text(), "day");
      assertEquals(new Set(sentKeys(k1!)), new Set([`Bearer ${key("a")}`]));
      const form = new FormData();
      form.set("purpose", "user_data");
      form.set("file", new File(["text"], "text.txt"));
      const headers = { "authorization": `Bearer ${app.token}`, "x-provider-key": key("a") };
      const refused = await fetch(`${proxy.url}/v1/files`, { method: "POST", headers, body: form });
      assertEquals([refused.status, (await refused.json()).error.code], [400, "unsupported_by_pool"]);
      assertEquals(k1!.calls, 4);
    });
  });

  it("is allowed for pages by CORS", async () => {
    await withPool(["k1"], async ({ proxy }) => {
      const headers = {
        "origin": "https://app.example.com",
        "access-control-request-method": "POST",
        "access-control-request-headers": "x-provider-key",
      };
      const response = await fetch(`${proxy.url}/v1/chat/completions`, { method: "OPTIONS", headers });
      assertEquals(response.headers.get("access-control-allow-headers"), "x-provider-key");
    });
  });

  it("is excluded by explain for a request without a key", async () => {
    await withPool(["k1", "m"], async ({ proxy }) => {
      const messages = [{ role: "user" as const, content: "Hi" }];
      const { order, excluded } = await proxy.mesh.explain({ model: "chat", messages });
      assertEquals([order.map(({ model }) => model), excluded], [["m"], [{ model: "k1", reason: "credentials" }]]);
    });
  });

  it("takes the key of a call of the library", async () => {
    await using k1 = await startUpstream(respond());
    const provider = { credentials: "header", api_key: undefined };
    const client = create("chat-completion", { config: testConfig({ upstreams: { k1: k1.url }, provider }) });
    await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] }, {
      headers: { "x-provider-key": key("a") },
    });
    assertEquals(sentKeys(k1), [`Bearer ${key("a")}`]);
    await client.close();
  });

  it("starts without a key, and asks the provider for nothing", async () => {
    await using upstream = await startUpstream(respond());
    const config = testConfig({
      upstreams: { k1: upstream.url },
      provider: { credentials: "header", api_key: undefined, discovery: { enumerate_models: true } },
      config: { discovery: { health: { interval: "1s" }, sync: { interval: "1s" } } },
    });
    const clock = fakeClock();
    const client = create("chat-completion", { config, clock });
    await client.ready();
    await clock.advance(5_000);
    assertEquals(upstream.calls, 0);
    await client.close();
  });
});
