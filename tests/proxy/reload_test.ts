/** Reloading a running proxy: what continues, what begins anew, and what is refused. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { ConfigError, MeshError } from "../../src/errors.ts";
import { type RunningProxy, startProxy } from "../../src/proxy/serve.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { type FakeClock, fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { goodBody } from "../support/_surface.ts";
import { testConfig } from "../support/proxy.ts";
import { Gate, ok, respond, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

type Sections = Readonly<Record<string, unknown>>;

interface Started extends AsyncDisposable {
  readonly proxy: RunningProxy;
  readonly clock: FakeClock;
  /** Kinds and reasons of all events, and the messages of all traces. */
  readonly reported: readonly string[];
  /** Writes the file and has it read. */
  renew(config: Sections): Promise<readonly string[]>;
  write(text: string): void;
  ask(body?: Sections, token?: string): Promise<Response>;
}

async function start(config: Sections): Promise<Started> {
  const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
  const runtime = testRuntime({
    send: serverRuntime().send,
    clock,
    env: { TOKEN: "of-a-secret-0123456789" },
    files: { "mesh.json": JSON.stringify(config) },
  });
  const reported: string[] = [];
  const sink = {
    emit: (record: { type: string; event?: string; reason?: string }) => {
      if (record.type === "event") reported.push(`${record.event} ${record.reason}`);
    },
    trace: ({ message }: { message: string }) => {
      if (!message.includes("answered 500")) reported.push(message); // with an address that differs each time
    },
    flush: () => Promise.resolve(),
  };
  const parts = { connectors: serverConnectors, runtime, shell: serverShell(), sinks: [sink] };
  const proxy = await startProxy(parts, { config: "mesh.json", port: 0 });
  const write = (text: string) => void runtime.files.contents.set("mesh.json", text);
  return {
    proxy,
    clock,
    reported,
    write,
    renew(config) {
      write(JSON.stringify(config));
      return proxy.reload();
    },
    ask: (body = {}, token) =>
      fetch(`${proxy.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
        body: JSON.stringify({ ...goodBody, ...body }),
      }),
    async [Symbol.asyncDispose]() {
      await proxy.stop();
      assertEquals(clock.pending, 0, "no timer is left of any mesh");
    },
  };
}

const over = (upstream: Upstream, config: Sections = {}, pool: Sections = {}) =>
  testConfig({ upstreams: { a: upstream.url }, config, pool });

/** One dollar a request, whatever it says. */
const dollar = {
  models: {
    a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
  },
};

/** A status, its body let go. */
async function readCode(response: Response | Promise<Response>): Promise<number> {
  const { status, body } = await response;
  await body?.cancel();
  return status;
}

async function readBody(response: Response): Promise<string> {
  const body = await response.json();
  return body.choices?.[0].message.content ?? body.error.code;
}

Deno.test("new requests go by the new configuration, those under way end by the old one", async () => {
  await using old = await startUpstream(respond({ text: "old" }));
  await using young = await startUpstream(respond({ text: "young" }));
  await using started = await start(over(old));
  const gate = new Gate();
  old.follow(() => stream({ gate }));
  const streamed = await (gate.open(2), started.ask({ stream: true }));
  const held = new Gate();
  old.follow({ play: async (exchange) => void (await held.pass(), await ok({ text: "old" }).play(exchange)) });
  const whole = started.ask();
  await held.reached(1);
  const before = started.proxy.mesh;
  await started.renew(over(young, { aliases: { fresh: "chat" } }));
  assert(started.proxy.mesh !== before);
  assertEquals(await readBody(await started.ask({ model: "fresh" })), "young");
  gate.openAll();
  held.openAll();
  const text = await streamed.text();
  assertStringIncludes(text, "world");
  assert(text.endsWith("data: [DONE]\n\n"), text);
  assertEquals(await readBody(await whole), "old");
  await assertRejects(() => getEngine(before).perform({} as never), MeshError, "closed");
});

Deno.test("standby, failures in a row and their time are carried over, and come back on time", async () => {
  await using upstream = await startUpstream(status(500));
  await using started = await start(over(upstream, {}, { retry: { max_attempts: 0 } }));
  const states = () => Object.values(started.proxy.mesh.poolStatus())[0]!.models.map(({ status }) => status);
  for (let count = 0; count < 2; count++) await readCode(started.ask());
  await started.renew(over(upstream, { aliases: { x: "chat" } }, { retry: { max_attempts: 0 } }));
  assertEquals(states(), ["active"]);
  await readCode(started.ask());
  assertEquals(states(), ["standby"], "the third failure in a row");
  await started.clock.advance(30_000);
  await started.renew(over(upstream));
  assertEquals(states(), ["standby"]);
  await started.clock.advance(29_999);
  assertEquals(states(), ["standby"]);
  await started.clock.advance(1);
  assertEquals(states(), ["active"]);
  assertEquals(
    started.reported,
    [
      "deactivation retry_limit",
      "outage retry_limit",
      'The pool "chat" has no active model left',
      "outage retry_limit",
      'The provider "a" has no active model left',
      "recovery retry_limit",
      "outage retry_limit",
      'The pool "chat" has an active model again',
      "outage retry_limit",
      'The provider "a" has an active model again',
    ],
    "each reported once, by one mesh",
  );
});

Deno.test("what a request under way finds out after a reload holds for the model, and the next reload", async () => {
  await using upstream = await startUpstream(respond({ text: "served" }));
  await using started = await start(over(upstream, {}, { retry: { max_attempts: 0 } }));
  const gate = new Gate();
  upstream.follow({
    play: async (exchange) => {
      await gate.pass();
      await status(429, { headers: { "retry-after": "600" } }).play(exchange);
    },
  });
  const refused = started.ask();
  await gate.reached(1);
  await started.renew(over(upstream, { aliases: { one: "chat" } }));
  await started.renew(over(upstream, { aliases: { two: "chat" } }));
  gate.openAll();
  assertEquals(await readCode(refused), 429);
  const [model] = Object.values(started.proxy.mesh.poolStatus())[0]!.models;
  assertEquals([model!.status, model!.reason], ["standby", "rate_limited"]);
  assertEquals(started.reported.filter((line) => line.startsWith("deactivation")), ["deactivation rate_limited"]);
  assertEquals(await readCode(started.ask()), 429);
  assertEquals(upstream.calls, 1, "no call while the model is in standby");
});

Deno.test("spending and reservations count on under new limits, with requests under way", async () => {
  const budgets = (limit: number) => ({
    ...dollar,
    budget: { daily_limit: limit },
    proxy: {
      auth: {
        tokens: [{ token: "of-the-app-0123456789", name: "app", budget: { daily_limit: limit - 1 } }, {
          token: "of-another-0123456789",
          name: "other",
        }],
      },
    },
  });
  await using upstream = await startUpstream(respond());
  await using started = await start(over(upstream, budgets(2)));
  const ask = (name: "the-app" | "another") => started.ask({}, `of-${name}-0123456789`);
  const gate = new Gate();
  upstream.follow({ play: async (exchange) => void (await gate.pass(), await ok().play(exchange)) });
  const underWay = ask("the-app");
  await gate.reached(1);
  await started.renew(over(upstream, budgets(3)));
  const second = ask("the-app");
  await gate.reached(2);
  assertEquals(await readBody(await ask("the-app")), "budget_exceeded", "two dollars are reserved");
  gate.openAll();
  assertEquals([await readCode(underWay), await readCode(second)], [200, 200]);
  assertEquals(await readBody(await ask("the-app")), "budget_exceeded");
  assertEquals(await readCode(ask("another")), 200, "the third of three dollars in all");
  assertEquals(await readCode(ask("another")), 429);
  await started.renew(over(upstream, budgets(4)));
  assertEquals([await readCode(ask("the-app")), await readCode(ask("another"))], [200, 429]);
});

Deno.test("requests a minute, of a client and of a model, and limits of a pool count on", async () => {
  const limited = (alias: string) => ({
    ...over(upstream, {
      aliases: { [alias]: "chat" },
      proxy: {
        auth: { tokens: [{ token: "of-the-app-0123456789", name: "app", rpm: 3 }, "a-plain-token-0123456789"] },
      },
    }, { deactivation: { request_limit: 5 } }),
  });
  await using upstream = await startUpstream(respond());
  await using started = await start(limited("one"));
  const codes: number[] = [];
  for (const alias of ["two", "three", "four", "five"]) {
    codes.push(await readCode(started.ask({}, "of-the-app-0123456789")));
    await started.renew(limited(alias));
  }
  assertEquals(codes, [200, 200, 200, 429]);
  const plain = () => readCode(started.ask({}, "a-plain-token-0123456789"));
  assertEquals(
    [await plain(), await plain(), await plain()],
    [200, 200, 503],
    "five in all, then the pool is in standby",
  );
});

Deno.test("an invalid configuration is refused whole, and the old one stays in force", async () => {
  await using upstream = await startUpstream(respond({ text: "old" }));
  await using started = await start(over(upstream));
  const { mesh, url } = started.proxy;
  const port = Number(new URL(url).port);
  const bad: [text: string, message: RegExp][] = [
    ["{", /mesh\.json/],
    ["", /empty/],
    [JSON.stringify(over(upstream, { pols: {} })), /pols.*pools/],
    [JSON.stringify(over(upstream, { proxy: { auth: { tokens: ["${secrets:ABSENT}"] } } })), /"ABSENT"/],
    [JSON.stringify(testConfig({ upstreams: { a: `http://127.0.0.1:${port}/v1` } })), /is this proxy itself/],
  ];
  for (const [text, message] of bad) {
    started.write(text);
    const error = await assertRejects(() => started.proxy.reload(), MeshError);
    assertMatch(error.message, message);
    assertEquals(started.proxy.mesh, mesh);
    assertEquals(await readBody(await started.ask()), "old");
  }
  const many = JSON.stringify(over(upstream, { a: 1, b: 2 }));
  started.write(many);
  assertEquals((await assertRejects(() => started.proxy.reload(), ConfigError)).problems.length, 2);
});

Deno.test("tokens come and go, and what a server decides at its start asks for a restart", async () => {
  await using upstream = await startUpstream(respond());
  await using started = await start(over(upstream));
  assertEquals(await readCode(started.ask()), 200);
  const warnings = await started.renew(
    over(upstream, {
      proxy: { port: 8081, host: "127.0.0.2", listener: "deno", auth: { tokens: ["${secrets:TOKEN}"] } },
    }),
  );
  assertEquals(warnings, [
    "proxy.host has changed: it takes effect after a restart",
    "proxy.listener has changed: it takes effect after a restart",
  ], "the port was given by hand, and wins over the file");
  assertEquals(await readCode(started.ask()), 401);
  assertEquals(await readCode(started.ask({}, "of-a-secret-0123456789")), 200);
  assertEquals(await started.renew(over(upstream)), []);
  assertEquals(await readCode(started.ask()), 200);
});

Deno.test("reloads that come at once are one or two, and none takes over after the stop", async () => {
  await using upstream = await startUpstream(respond());
  await using started = await start(over(upstream));
  const meshes = new Set([started.proxy.mesh]);
  await Promise.all(
    Array.from({ length: 20 }, () => started.proxy.reload().then(() => meshes.add(started.proxy.mesh))),
  );
  assertEquals(meshes.size, 2, "a waiting caller gets the reload that is about to begin");
  const { mesh } = started.proxy;
  const late = started.proxy.reload();
  const stopped = started.proxy.stop();
  await Promise.all([late, stopped]);
  assertEquals(started.proxy.mesh, mesh);
});

Deno.test("a provider that has another key or address begins anew", async () => {
  await using upstream = await startUpstream(status(401));
  const config = (key: string) =>
    testConfig({
      upstreams: { a: upstream.url },
      provider: { api_key: key },
      pool: { provider_deactivation: "on_auth_failure" },
    });
  await using started = await start(config("key-that-is-refused-0123"));
  assertEquals([await readCode(started.ask()), await readCode(started.ask())], [502, 503]);
  await started.renew(config("key-that-is-refused-0123"));
  assertEquals(await readCode(started.ask()), 503);
  upstream.follow(respond());
  await started.renew(config("key-that-is-good-0123456"));
  assertEquals(await readCode(started.ask()), 200);
});

Deno.test("a pool that is removed while its model is in standby leaves nothing behind", async () => {
  await using upstream = await startUpstream(status(500));
  const noRetry = { retry: { max_attempts: 0 }, deactivation: { retry_limit: 1 } };
  await using started = await start(over(upstream, {}, noRetry));
  await readCode(started.ask());
  upstream.follow(respond({ text: "good" }));
  await started.renew(over(upstream, { pools: { other: { models: ["a"] } } }));
  await started.clock.advance(3_600_000);
  const down = [
    "deactivation retry_limit",
    "outage retry_limit",
    'The pool "chat" has no active model left',
    "outage retry_limit",
    'The provider "a" has no active model left',
  ];
  assertEquals(started.reported, down);
  assertEquals(await readBody(await started.ask({ model: "other" })), "good");
  await started.renew(over(upstream, {}, noRetry));
  assertEquals(await readBody(await started.ask()), "good");
});
