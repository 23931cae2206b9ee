/** `/metrics`: what the proxy prints, and for whom. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, version } from "../../mod.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { readPrometheus, type ScrapedFamily } from "../support/prometheus.ts";
import { ok, startUpstream, status, stream } from "../support/upstream.ts";

const once = { retry: { max_attempts: 0 } };

/** What `/metrics` says. */
async function scrape({ url }: TestProxy, token?: string): Promise<ReadonlyMap<string, ScrapedFamily>> {
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token}` };
  const response = await fetch(`${url}/metrics`, headers && { headers });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return readPrometheus(await response.text());
}

/** Samples of a counter or gauge, as `label=value … number`. */
function lines(families: ReadonlyMap<string, ScrapedFamily>, name: string): string[] {
  return (families.get(name)?.samples ?? []).map(({ labels, value }) =>
    [...Object.entries(labels).map(([label, text]) => `${label}=${text}`), value].join(" ")
  );
}

async function proxyOver(
  scripts: Readonly<Record<string, Parameters<typeof startUpstream>[0]>>,
  options: Omit<TestProxyOptions, "upstreams"> = {},
): Promise<TestProxy> {
  const started = await Promise.all(
    Object.entries(scripts).map(async ([name, script]) => {
      return [name, await startUpstream(script)] as const;
    }),
  );
  const upstreams = Object.fromEntries(started.map(([name, { url }]) => [name, url]));
  const proxy = await startTestProxy({ upstreams, ...options });
  return {
    ...proxy,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      for (const [, upstream] of started) await upstream.close();
    },
  };
}

describe("/metrics", () => {
  it("has every metric of the contract, with its labels, after a failover", async () => {
    const models = { b: { pricing: { input: 1, output: 2 } } };
    await using proxy = await proxyOver({ a: status(500), b: ok() }, {
      pool: once,
      config: { models: { a: { provider: "a" }, b: { provider: "b", ...models.b } } },
    });
    await (await proxy.chat()).text();
    const families = await scrape(proxy);
    const of = (name: string) => lines(families, name);
    assertEquals(of("modelmesh_requests_total"), ["pool=chat model=b provider=b client= status=200 1"]);
    assertEquals(of("modelmesh_attempts_total"), [
      "model=a provider=a outcome=server 1",
      "model=b provider=b outcome=ok 1",
    ]);
    assertEquals(of("modelmesh_rotations_total"), ["pool=chat reason=server 1"]);
    assertEquals(of("modelmesh_tokens_total"), [
      "pool=chat model=b provider=b client= direction=input 10",
      "pool=chat model=b provider=b client= direction=output 5",
    ]);
    assertEquals(of("modelmesh_cost_usd_total"), ["pool=chat model=b provider=b client= 0.00002"]);
    assertEquals(of("modelmesh_model_active"), ["pool=chat model=a 1", "pool=chat model=b 1"]);
    assertEquals(of("modelmesh_requests_in_flight"), ["0"]);
    assertEquals(families.get("modelmesh_request_duration_seconds")?.type, "histogram");
    assertEquals(families.get("modelmesh_overhead_seconds")?.samples.at(-1)?.value, 1);
    assertEquals(families.has("modelmesh_time_to_first_token_seconds"), false);
  });

  it("measures the first token of streams, and counts what is in flight", async () => {
    await using proxy = await proxyOver({ a: stream({}) });
    const response = await proxy.chat({ stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    while (!(await reader.read()).done);
    const families = await scrape(proxy);
    const first = families.get("modelmesh_time_to_first_token_seconds")!;
    assertEquals(first.samples.at(-1), {
      name: "modelmesh_time_to_first_token_seconds_count",
      labels: { pool: "chat", model: "a", provider: "a", operation: "chat" },
      value: 1,
    });
    assertEquals(lines(families, "modelmesh_requests_in_flight"), ["0"]);
  });

  it("counts refused requests by status alone: what they contain is not a label", async () => {
    await using proxy = await proxyOver({ a: ok() });
    for (let number = 0; number < 40; number++) {
      await (await proxy.chat({ model: `nobody-${number}"}\n`, user: `u${number}`, mesh: { tags: [`t${number}`] } }))
        .text();
      await (await fetch(`${proxy.url}/nowhere/${number}`)).text();
    }
    const families = await scrape(proxy);
    assertEquals(lines(families, "modelmesh_requests_total"), [
      "pool= model= provider= client= status=404 80",
    ]);
  });

  it("is behind the token; a client with pools of its own sees its own", async () => {
    const tokens = [{ token: "t-admin", name: "admin" }, { token: "t-team", name: "team", pools: ["chat"], rpm: 100 }];
    const config = {
      pools: { chat: { models: ["a"] }, other: { models: ["b"] } },
      proxy: { auth: { method: "bearer", tokens } },
    };
    await using proxy = await proxyOver({ a: ok(), b: ok() }, { config });
    assertEquals((await (await fetch(`${proxy.url}/metrics`)).json()).error.code, "invalid_api_key");
    for (const [token, model] of [["t-team", "chat"], ["t-admin", "other"]]) {
      const init = { headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } };
      await (await proxy.chat({ model }, init)).text();
    }
    const all = await scrape(proxy, "t-admin");
    assertEquals(lines(all, "modelmesh_requests_total").sort(), [
      "pool= model= provider= client= status=401 1",
      "pool=chat model=a provider=a client=team status=200 1",
      "pool=other model=b provider=b client=admin status=200 1",
    ]);
    const own = await scrape(proxy, "t-team");
    assertEquals([...own.keys()], [
      "modelmesh_requests_total",
      "modelmesh_tokens_total",
      "modelmesh_cached_input_tokens_total",
      "modelmesh_cost_usd_total",
      "modelmesh_model_active",
    ]);
    assertEquals(lines(own, "modelmesh_requests_total"), ["pool=chat model=a provider=a client=team status=200 1"]);
    assertEquals(lines(own, "modelmesh_model_active"), ["pool=chat model=a 1"]);
  });

  it("has spent amount and limit of every budget, a client its own alone, and the version", async () => {
    const budget = (daily_limit: number) => ({ daily_limit });
    const tokens = [{ token: "t-admin", name: "admin" }, { token: "t-team", name: "team", budget: budget(3) }];
    const config = {
      models: { a: { provider: "a", pricing: { input: 10_000, output: 20_000 } } },
      budget: { daily_limit: 7, monthly_limit: 70 },
      proxy: { auth: { method: "bearer", tokens } },
    };
    await using proxy = await proxyOver({ a: ok() }, {
      config,
      pool: { budget: budget(5) },
      provider: { budget: budget(6) },
    });
    const headers = { authorization: "Bearer t-team", "content-type": "application/json" };
    await (await proxy.chat({ max_tokens: 5 }, { headers })).text(); // 10 tokens in, 5 out
    const all = await scrape(proxy, "t-admin");
    assertEquals(lines(all, "modelmesh_budget_limit_usd").sort(), [
      "scope=all id= window=day 7",
      "scope=all id= window=month 70",
      "scope=client id=team window=day 3",
      "scope=pool id=chat window=day 5",
      "scope=provider id=a window=day 6",
    ]);
    assertEquals(all.get("modelmesh_budget_spent_usd")!.samples.map(({ value }) => value), [0.2, 0.2, 0.2, 0.2, 0.2]);
    assertEquals(lines(all, "modelmesh_build_info"), [`version=${version} 1`]);
    const own = await scrape(proxy, "t-team");
    assertEquals(lines(own, "modelmesh_budget_spent_usd"), ["scope=client id=team window=day 0.2"]);
    assertEquals(lines(own, "modelmesh_budget_limit_usd"), ["scope=client id=team window=day 3"]);
  });

  it("agrees with the statistics", async () => {
    await using proxy = await proxyOver({ a: [status(500), ok(), status(400), ok()], b: ok() }, { pool: once });
    for (let request = 0; request < 5; request++) await (await proxy.chat()).text();
    const families = await scrape(proxy);
    const sum = (name: string) => families.get(name)!.samples.reduce((total, { value }) => total + value, 0);
    const pool = proxy.mesh.stats().find(({ scope }) => scope === "pool")!;
    assertEquals(sum("modelmesh_requests_total"), pool.requests_total);
    assertEquals(sum("modelmesh_tokens_total"), pool.tokens_in + pool.tokens_out);
    assert(pool.requests_total === 5);
  });
});

describe("a client's stats()", () => {
  it("are those of its mesh", async () => {
    await using upstream = await startUpstream(ok());
    await using client = create("chat-completion", {
      env: { OPENAI_API_KEY: "key-0123456789abcdef", OPENAI_BASE_URL: upstream.url },
    });
    await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] });
    const { requests_success } = client.stats().find(({ scope, id }) => scope === "pool" && id === "chat-completion")!;
    assertEquals(requests_success, 1);
  });
});
