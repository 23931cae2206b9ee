import { assert, assertEquals, assertLessOrEqual, assertMatch, assertNotMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  create,
  DeadlineError,
  type MeshEvent,
  ModelMesh,
  NoProvidersError,
  type Observability,
  ProviderError,
  routingOf,
  type RoutingRecord,
  SecretNotFoundError,
} from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { startProxy } from "../../src/proxy/serve.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { fakeShell } from "../support/_cli.ts";
import { breathe, stage } from "../support/_failover.ts";
import { clientOver, environment, fakeClock, getText, messages } from "../support/_library.ts";
import { clientOfOwn } from "../support/_regressions.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { hang, ok, respond, startUpstream, status } from "../support/upstream.ts";

const once = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 99 } };
const day = 24 * 60 * 60 * 1000;

describe("A configured model", () => {
  it("keeps its own account and key when the catalogue of another provider has its name", async () => {
    await using first = await startUpstream(ok({ text: "First" }));
    await using second = await startUpstream(ok({ text: "Second" }));
    const account = (base_url: string, api_key: string) => ({ connector: "openai.llm.v1", base_url, api_key });
    await using client = create({
      config: {
        providers: {
          openai: account(first.url, "key-of-first-0123456789"),
          second: account(second.url, "key-of-second-0123456789"),
        },
        models: { "openai.gpt-4o": { provider: "second" } },
        pools: { chat: { models: ["openai.gpt-4o"] } },
      },
      clock: fakeClock({ skipSleeps: true }),
    });
    for (const target of [{}, { model: "openai.gpt-4o" }]) {
      assertEquals(getText(await client.chat.completions.create({ messages, ...target })), "Second");
    }
    const keys = second.requests.map(({ headers }) => headers.authorization);
    assertEquals([first.calls, ...keys], [0, ...Array(2).fill("Bearer key-of-second-0123456789")]);
  });
});

describe("The list `models` of a request", () => {
  it("has up to 16 names", async () => {
    await using scene = await stage({ a: respond() });
    assertEquals((await scene.ask({ models: Array(16).fill("chat") })).status, 200);
    const { status, error } = await scene.ask({ models: Array(17).fill("chat") });
    assertEquals([status, error?.code, error?.param, scene.calls.a], [400, "invalid_value", "models", 1]);
  });

  it("asks a name that it repeats once", async () => {
    await using scene = await stage({ a: status(503) }, { pool: once });
    assertEquals((await scene.ask({ models: Array(16).fill("chat") })).status, 503);
    assertEquals(scene.calls, { a: 1 });
  });

  const lists: readonly (readonly [model: string, models: readonly string[]])[] = [
    ["chat", ["typo"]],
    ["typo", ["chat"]],
    ["typo", ["chat", "another-typo"]],
  ];
  for (const [model, models] of lists) {
    it(`reports the failure of models that were there, not a typo: ${[model, ...models].join(", ")}`, async () => {
      await using scene = await stage({ a: status(503) }, { pool: once });
      const { status: seen, error } = await scene.ask({ model, models });
      assertEquals([seen, error?.code, scene.calls.a], [503, "overloaded", 1]);
    });
  }
});

describe("An absurd Retry-After", () => {
  const headers = { "retry-after": "99999999999999" };
  const answers = [
    status(429, { headers, error: { code: "insufficient_quota", type: "insufficient_quota" } }),
    status(402, { headers }),
    status(429, { headers }),
  ];
  for (const [place, bad] of answers.entries()) {
    it(`leaves /health and /v1/models working, its rest at most 31 days (${place + 1})`, async () => {
      await using scene = await stage({ a: bad }, { pool: once });
      assertEquals((await scene.ask()).status, 429);
      const health = await fetch(`${scene.proxy.url}/health`);
      assertEquals([health.status, (await health.json()).status], [503, "unavailable"]);
      const models = await fetch(`${scene.proxy.url}/v1/models`);
      assertEquals([models.status, (await models.json()).data[0].mesh.standby], [200, 1]);
      const model = scene.proxy.mesh.poolStatus().chat?.models[0];
      assertLessOrEqual(Date.parse(model?.retryAt ?? "") - scene.clock.now(), 31 * day);
    });
  }
});

describe("create() with a capability and a configuration", () => {
  it("uses the configured pool of that capability, with its strategy", async () => {
    await using upstream = await startUpstream(respond());
    const pools = { mine: { capability: "chat-completion", strategy: "round-robin" } };
    const upstreams = { m1: upstream.url, m2: upstream.url };
    await using one = clientOver({
      upstreams,
      config: { pools },
      options: { capability: "chat-completion" },
    });
    const served: (string | undefined)[] = [];
    for (let call = 0; call < 4; call++) {
      const answer = await one.client.chat.completions.create({ messages });
      served.push(`${routingOf(answer)?.pool} ${routingOf(answer)?.model}`);
    }
    assertEquals(served, ["mine m1", "mine m2", "mine m1", "mine m2"]);
    assertEquals(one.client.describe().pools.map(({ name }) => name), ["mine"]);
  });
});

describe("What a program plugs in to watch", () => {
  const broken = {
    emit: () => Promise.reject(new Error("emit")),
    trace: () => Promise.reject(new Error("trace")),
    flush: () => {
      throw new Error("flush");
    },
  };

  it("may reject in a listener, a sink or a usage report: answers come, and the client closes", async () => {
    const reported: string[] = [];
    const reject = (what: string) => {
      reported.push(what);
      return Promise.reject(new Error(what));
    };
    const calls = { reportUsage: () => reject("usage") };
    const options = { on: () => reject("on") };
    const client = clientOfOwn(calls, undefined, options);
    client.mesh.addSink(broken as Observability);
    client.mesh.addSink({ ...broken, flush: () => reject("flush") } as Observability);
    assertEquals(getText(await client.chat.completions.create({ messages })), "Custom");
    await breathe(); // an unhandled rejection ends the test run here
    await client.close();
    await breathe();
    assertEquals([...new Set(reported)].sort(), ["flush", "on", "usage"]);
  });
});

describe("A failure that a custom provider calls the request's", () => {
  it("is a failed attempt when it says no more about it", async () => {
    await using client = clientOfOwn({
      complete: () => Promise.reject(new Error("too much")),
      classifyError: () => "request",
    });
    const call = () => client.chat.completions.create({ messages });
    const { status, code } = await assertRejects(call, ProviderError);
    assertEquals([status, code], [502, "all_attempts_failed"]);
  });
});

describe("An empty retry budget", () => {
  it("leaves the provider's hint its due: standby and Retry-After, no failure of the model", async () => {
    const limited = status(429, { headers: { "retry-after": "5" } });
    const pool = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 3, max_delay: "60s" } };
    const provider = { retry: { budget: { min: 0, ratio: 0, window: "10s" } } };
    await using scene = await stage({ a: limited }, { pool, provider });
    const { status: seen, headers, error } = await scene.ask();
    assertEquals([seen, error?.code, headers.get("retry-after")], [429, "rate_limit_exceeded", "5"]);
    assertEquals([scene.states(), scene.calls], [{ a: "rate_limited for 5s" }, { a: 1 }]);
    const { state } = getEngine(scene.proxy.mesh).registry.pool("chat")!.members[0]!;
    assertEquals(state.consecutiveFailures, 0);
  });
});

describe("ModelMesh.initialize()", () => {
  it("detects providers for a configuration without any", async () => {
    await using upstream = await startUpstream(respond());
    const mesh = new ModelMesh({ env: environment({ openai: upstream.url }), clock: fakeClock({ skipSleeps: true }) });
    await mesh.initialize({ pools: { chat: { capability: "chat-completion" } } });
    assert(mesh.poolStatus().chat!.active > 0);
    const body = JSON.stringify({ model: "chat", messages });
    const request = new Request("http://127.0.0.1/v1/chat/completions", { method: "POST", body });
    request.headers.set("content-type", "application/json");
    const response = await createHandler(mesh)(request);
    assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "Hello world"]);
    await mesh.close();
    const bare = new ModelMesh({ env: {} });
    await assertRejects(
      () => bare.initialize({ pools: { chat: { capability: "chat-completion" } } }),
      NoProvidersError,
    );
    await bare.close();
  });

  it("called a second time writes every record once", async () => {
    await using upstream = await startUpstream(respond());
    const own: string[] = [];
    const configured: string[] = [];
    const sink = (into: string[]): Observability => ({
      emit: (record: MeshEvent | RoutingRecord) => void into.push(record.type),
      trace: () => {},
      flush: () => Promise.resolve(),
    });
    const mesh = new ModelMesh({ clock: fakeClock({ skipSleeps: true }), on: ({ type }) => own.push(type) });
    mesh.registerConnector("my.sink.v1", { id: "my.sink.v1", kind: "observability", create: () => sink(configured) });
    const config = {
      providers: { one: { connector: "openai.compatible.v1", base_url: upstream.url } },
      models: { a: { provider: "one" } },
      pools: { chat: { models: ["a"] } },
      observability: { routing: { connector: "my.sink.v1" } },
    };
    await mesh.initialize(config);
    await mesh.initialize(config);
    const body = { model: "chat", messages };
    await getEngine(mesh).perform({ id: "1", operation: chat, delivery: "sync", model: "chat", body, timeoutMs: 1000 });
    assertEquals([own, configured], [["routing"], ["routing"]]);
    await mesh.close();
  });
});

describe("ready()", () => {
  it("succeeds after it has failed, once what was away is back", async () => {
    await using upstream = await startUpstream(respond());
    const env: Record<string, string> = {};
    await using one = clientOver({
      upstreams: { a: upstream.url },
      provider: { api_key: "${secrets:LATE_KEY}" },
      options: { env },
    });
    await assertRejects(() => one.client.ready(), SecretNotFoundError);
    await assertRejects(() => one.client.mesh.ready(), SecretNotFoundError);
    env.LATE_KEY = "late-key-0123456789";
    await one.client.ready();
    await one.client.chat.completions.create({ messages });
    assertEquals(upstream.requests[0]?.headers.authorization, "Bearer late-key-0123456789");
  });
});

describe("A provider on the proxy's port number", () => {
  const rows: readonly (readonly [host: string, address: string, isSelf: boolean])[] = [
    ["192.168.1.5", "127.0.0.1", false],
    ["127.0.0.1", "192.168.1.5", false],
    ["192.168.1.5", "192.168.1.5", true],
    ["127.0.0.1", "localhost", true],
    ["0.0.0.0", "127.0.0.1", true],
    ["::", "127.0.0.1", true],
  ];
  for (const [host, address, isSelf] of rows) {
    it(`at ${address} is ${isSelf ? "the proxy itself" : "another server"} when that listens on ${host}`, async () => {
      const shell = fakeShell({ listens: false });
      const config = {
        providers: { vllm: { connector: "openai.compatible.v1", base_url: `http://${address}:8080/v1` } },
        models: { a: { provider: "vllm" } },
        pools: { chat: { models: ["a"] } },
      };
      const parts = { connectors: serverConnectors, runtime: testRuntime(), shell };
      const start = async () => await (await startProxy(parts, { config, host, port: 8080 })).stop();
      if (isSelf) await assertRejects(start, Error, "is this proxy itself");
      else await start();
      assertEquals(shell.served.length, isSelf ? 0 : 1);
    });
  }
});

describe("The message of a deadline", () => {
  it("has no fractions", async () => {
    await using upstream = await startUpstream(hang());
    const clock = fakeClock();
    await using one = clientOver({ upstreams: { a: upstream.url }, clock });
    await one.client.ready();
    const call = one.client.chat.completions.create({ messages }, { timeout: 29.321933 });
    const failed = assertRejects(() => call, DeadlineError);
    await upstream.received(1);
    await clock.advance(30);
    const { message } = await failed;
    assertMatch(message, /\b29 ms/);
    assertNotMatch(message, /\d\.\d/);
  });
});
