/** The queue of a pool over HTTP: in every dialect, through every listener, with several API keys, and at the end. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createHandler, listen } from "../../proxy.ts";
import { ModelMesh } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { behind } from "../support/_failover.ts";
import { keyed, keyIn, limited } from "../support/_keys.ts";
import { goodBody, listeners } from "../support/_surface.ts";
import { tally } from "../support/_tuned.ts";
import { becomes, until } from "../support/patience.ts";
import { startTestProxy, testConfig, type TestProxyOptions } from "../support/proxy.ts";
import { type Behaviour, Gate, ok, type Script, startUpstream, stream } from "../support/upstream.ts";

/** A proxy over one model that takes so many requests at once, and whose responses a gate holds. */
async function start(
  { concurrent = 1, queue = {}, behaviour = ok(), ...options }: Partial<TestProxyOptions> & {
    readonly concurrent?: number;
    readonly queue?: object;
    readonly behaviour?: Behaviour;
  } = {},
) {
  const gate = new Gate();
  let [most, inProgress] = [0, 0];
  const upstream = await startUpstream({
    async play(exchange) {
      most = Math.max(most, ++inProgress);
      await gate.pass();
      inProgress--; // before the response, after which the next request may arrive at any time
      await behaviour.play(exchange);
    },
  });
  const models = { a: { provider: "a", capabilities: ["chat-completion"], limits: { concurrent } } };
  const clock = fakeClock();
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock,
    pool: { queue },
    config: { models },
    ...options,
  });
  return {
    gate,
    clock,
    proxy,
    upstream,
    get most() {
      return most;
    },
    /** Resolves when so many requests wait, and the model is busy. */
    waits: (count: number) => until(() => proxy.mesh.poolStatus().chat!.waiting === count && upstream.calls > 0),
    async [Symbol.asyncDispose]() {
      gate.openAll();
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

for (const listener of listeners) {
  describe(`Requests that wait, through ${listener}`, () => {
    it("are served two at once, 50 of them", async () => {
      await using site = await start({ listener, concurrent: 2 });
      const answers = Array.from({ length: 50 }, () => site.proxy.chat());
      await site.waits(48);
      site.gate.openAll();
      const statuses = (await Promise.all(answers)).map(async (response) => {
        await response.body?.cancel();
        return response.status;
      });
      assertEquals(tally(await Promise.all(statuses)), { 200: 50 });
      assertEquals([site.upstream.calls, site.most], [50, 2]);
    });

    it("leave with their clients, and take no place any more", async () => {
      await using site = await start({ listener });
      const first = site.proxy.chat();
      await site.waits(0);
      const clients = [1, 2, 3].map(() => new AbortController());
      const left = clients.map(({ signal }) => site.proxy.chat({}, { signal }).catch((error: Error) => error.name));
      const last = site.proxy.chat();
      await site.waits(4);
      for (const client of clients) client.abort();
      assertEquals(await Promise.all(left), Array(3).fill("AbortError"));
      await site.waits(1);
      site.gate.openAll();
      for (const answer of [first, last]) assertEquals((await (await answer).json()).object, "chat.completion");
      assertEquals(site.upstream.calls, 2);
    });

    it("begin their streams meanwhile, with heartbeats", async () => {
      await using site = await start({ listener, behaviour: stream({ text: "served" }), queue: { max_wait: "1m" } });
      const first = site.proxy.chat({ stream: true });
      await site.waits(0);
      const waiting = site.proxy.chat({ stream: true });
      await site.waits(1);
      await site.clock.advance(10_000);
      const response = await waiting;
      assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
      site.gate.openAll();
      assertMatch(await response.text(), /^: heartbeat\n\n[^]*served[^]*data: \[DONE\]\n\n$/);
      await (await first).text();
    });

    it("are answered with 503 when the proxy stops before their turn", async () => {
      const upstream = await startUpstream(behind(new Gate(), ok()));
      const mesh = new ModelMesh();
      const models = { a: { provider: "a", capabilities: ["chat-completion"], limits: { concurrent: 1 } } };
      await mesh.initialize(testConfig({ upstreams: { a: upstream.url }, pool: { queue: {} }, config: { models } }));
      const server = await listen(createHandler(mesh), { port: 0, listener });
      const send = () =>
        fetch(`http://127.0.0.1:${server.port}/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(goodBody),
        });
      const answers = [send(), send(), send()];
      await until(() => mesh.poolStatus().chat!.waiting === 2, "two requests wait");
      await server.stop(0);
      for (const answer of answers) {
        const { status, headers, body } = await answer;
        assertEquals([status, headers.get("retry-after")], [503, "1"]);
        await body?.cancel();
      }
      assertEquals(mesh.poolStatus().chat!.waiting, 0);
      await mesh.close();
      await upstream.close();
    });
  });
}

describe("The wait of a request", () => {
  it("does not use up the time that its model has", async () => {
    const provider = { execution: { first_token_timeout: "1s", connect_timeout: "1s" } };
    await using site = await start({ provider, queue: { max_wait: "1m" } });
    const first = site.proxy.chat();
    await site.waits(0);
    const waiting = site.proxy.chat({ stream: true });
    await site.waits(1);
    await site.clock.advance(9_000);
    site.gate.openAll();
    assertMatch(await (await waiting).text(), /data: \[DONE\]/);
    assertEquals([(await first).status, site.upstream.calls], [200, 2]);
    await (await first).body?.cancel();
  });
});

describe("A request that would wait beyond the bounds", () => {
  const chat = { messages: goodBody.messages };
  const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
  const dialects: Readonly<Record<string, readonly [path: string, body: object, error: object]>> = {
    chat: ["chat/completions", chat, { type: "rate_limit_error", code: "rate_limit_exceeded" }],
    completions: ["completions", { prompt: "Hi" }, { type: "rate_limit_error", code: "rate_limit_exceeded" }],
    responses: ["responses", { input: "Hi" }, { type: "rate_limit_error", code: "rate_limit_exceeded" }],
    messages: ["messages", { ...chat, max_tokens: 9 }, { type: "rate_limit_error" }],
    gemini: ["models/chat:generateContent", { contents }, { code: 429, status: "RESOURCE_EXHAUSTED" }],
  };
  for (const [dialect, [path, body, expected]] of Object.entries(dialects)) {
    it(`is refused with 429 and Retry-After in the dialect of ${dialect}`, async () => {
      await using site = await start({ queue: { max_length: 1, max_wait: "5s" } });
      const send = () =>
        fetch(`${site.proxy.url}/${dialect === "gemini" ? "v1beta" : "v1"}/${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...(dialect === "gemini" ? {} : { model: "chat" }), ...body }),
        });
      const first = site.proxy.chat();
      await site.waits(0);
      const late = send();
      await site.waits(1);
      const full = await send();
      await site.clock.advance(5_000);
      const reasons = [/queue\.max_length/, /queue\.max_wait/];
      for (const [index, response] of [full, await late].entries()) {
        assertEquals([response.status, response.headers.get("retry-after")], [429, "1"]);
        const { error } = await response.json();
        assertEquals({ ...error, ...expected }, error);
        assertMatch(error.message, reasons[index]!);
      }
      site.gate.openAll();
      await (await first).body?.cancel();
    });
  }
});

describe("A request to a provider with two keys", () => {
  const models = { a: "a" };
  const pool = { queue: { max_wait: "1m" } };
  const model = { limits: { concurrent: 1 } };

  it("is served by the key that is free first", async () => {
    const gates = [new Gate(), new Gate()];
    const script: Script = (request) => behind(gates[keyIn(request) - 1]!, ok());
    await using scene = await keyed(script, { models, pool, model });
    const answers = [scene.ask(), scene.ask(), scene.ask()];
    await until(() => scene.calls.a === 2 && scene.proxy.mesh.poolStatus().chat!.waiting === 1, "one request waits");
    gates[1]!.openAll();
    await until(() => scene.calls.a === 3, "it is sent");
    assertEquals(keyIn(scene.upstreams.a!.requests.at(-1)!), 2);
    gates[0]!.openAll();
    assertEquals((await Promise.all(answers)).map(({ status }) => status), [200, 200, 200]);
  });

  it("is served by a key whose standby ends first", async () => {
    const gate = new Gate();
    let isLimited = true;
    const script: Script = (request) => keyIn(request) === 1 ? isLimited ? limited(20) : ok() : behind(gate, ok());
    await using scene = await keyed(script, { models, pool, model });
    const first = scene.ask(); // refused with the first key, and held with the second
    await until(() => scene.calls.a === 2, "both keys were used");
    isLimited = false;
    const second = scene.ask();
    await becomes(() => scene.proxy.mesh.poolStatus().chat!.waiting, 1);
    await scene.clock.advance(20_000);
    assertEquals((await second).status, 200);
    assertEquals(keyIn(scene.upstreams.a!.requests.at(-1)!), 1);
    gate.openAll();
    assertEquals((await first).status, 200);
  });
});
