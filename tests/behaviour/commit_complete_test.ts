/**
 * Streams that commit when they are complete (`commit: complete`): a client receives the complete response of one model, or
 * an error, whatever happens midway.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, routingOf } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { clients } from "../failover16/_clients.ts";
import { SteppedClock } from "../failover16/_clock.ts";
import { healthy, Mock } from "../failover16/_mock.ts";
import { vendors } from "../failover16/_vendors.ts";
import { readModelState } from "../support/_dialect_proxy.ts";
import { isOpen, readStream, soon, stage, type StageOptions } from "../support/_failover.ts";
import { startTestProxy, testConfig } from "../support/proxy.ts";
import { type Behaviour, Gate, hang, startUpstream, status, stream } from "../support/upstream.ts";

const complete = { commit: "complete" };
const prices = (pool: object = complete): StageOptions => ({
  pool: { ...pool, retry: { max_attempts: 0 } },
});
const cut = stream({ pieces: ["one", " two", " three"], cut: { after: 2, how: "close" } });
const fromB = stream({ pieces: ["from", " b"] });

describe("A stream that commits when it is complete", () => {
  it("goes to the next model after a cut, from the beginning", async () => {
    await using scene = await stage({ a: cut, b: fromB }, prices());
    const seen = await scene.askStream({ stream_options: { include_usage: true } });
    assertEquals([seen.text, seen.done, seen.error, seen.route], ["from b", 1, undefined, "b 2/1"]);
    assertEquals(seen.chunks.at(-1)?.usage, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    assertEquals(scene.routing.fallback_chain.map(({ model, outcome }) => `${model} ${outcome}`), [
      "a stream_interrupted",
      "b ok",
    ]);
    assertEquals(scene.upstreams.b!.requests[0]!.json().messages, scene.upstreams.a!.requests[0]!.json().messages);
    assertEquals(scene.events, ["rotation a>b stream_interrupted"]);
  });

  it("counts the cut as a failure of its model", async () => {
    await using scene = await stage({ a: cut, b: fromB }, prices({ ...complete, deactivation: { retry_limit: 1 } }));
    await scene.askStream();
    assertEquals(scene.states(), { a: "retry_limit for 60s", b: "active" });
  });

  it("costs what both models have written", async () => {
    const models = (name: string) => ({
      provider: name,
      capabilities: ["chat-completion"],
      pricing: { input: 0, output: 1e6 },
    });
    const config = { models: { a: models("a"), b: models("b") } };
    await using scene = await stage({ a: cut, b: fromB }, { ...prices(), config: { ...config, pools: pools() } });
    await scene.askStream();
    assertEquals([scene.routing.cost_usd! > 5, scene.routing.estimated], [true, true]); // five tokens of b, and some of a
    await using whole = await stage({ a: fromB, b: fromB }, { ...prices(), config: { ...config, pools: pools() } });
    await whole.askStream();
    assertEquals(whole.routing.cost_usd, 5);
  });

  it("ends with an error before anything else when all are cut", async () => {
    await using scene = await stage({ a: cut, b: cut }, prices());
    const response = await scene.proxy.chat({ stream: true });
    const { error } = await response.json();
    assertEquals([response.status, error.code, scene.calls], [502, "all_attempts_failed", { a: 1, b: 1 }]);
  });

  it("never ends with the refusal of a model that was asked after a cut", async () => {
    await using scene = await stage({ a: cut, b: status(400) }, prices());
    const response = await scene.proxy.chat({ stream: true });
    const { error } = await response.json();
    assertEquals([response.status, error.code], [502, "all_attempts_failed"]);
  });

  for (const [mode, text] of [["return", undefined], ["rotate", "from b"]] as const) {
    it(`that its provider refuses midway has the end that on_content_filter: ${mode} asks for`, async () => {
      const error = { message: "Not this", type: "invalid_request_error", code: "content_policy_violation" };
      const refused = stream({ pieces: ["one"], error: { after: 1, error } });
      await using scene = await stage({ a: refused, b: fromB }, prices({ ...complete, on_content_filter: mode }));
      const response = await scene.proxy.chat({ stream: true });
      const body = await response.text();
      assertEquals([response.status, scene.calls.b], text === undefined ? [400, 0] : [200, 1]);
      if (text === undefined) assertEquals(JSON.parse(body).error.message, "Not this");
      else assertEquals(readStream(body).text, text);
      assertEquals(readModelState(scene.proxy.mesh, "a").failures, 0);
    });
  }

  it("goes to the next model after silence", async () => {
    const silent = stream({ pieces: ["one"], cut: { after: 1, how: "hang" } });
    await using scene = await stage({ a: silent, b: fromB }, { ...prices(), config: { proxy: { heartbeat: "0s" } } });
    const answer = scene.askStream();
    const call = await scene.received("a");
    await isOpen(answer);
    await scene.clock.advance(59_999);
    assertEquals([await isOpen(answer), scene.calls.b], [true, 0]);
    await scene.clock.advance(1);
    assertEquals((await soon(answer)).text, "from b");
    await soon(call.closed);
  });
});

function pools() {
  return {
    chat: { ...complete, models: ["a", "b"], strategy: "priority", model_priority: ["a", "b"] },
  };
}

/** Opens a stream whose events wait at a gate, on a clock of its own. */
async function open(options: { readonly config?: object; readonly headers?: Record<string, string> } = {}) {
  const gate = new Gate();
  const clock = fakeClock();
  const upstream = await startUpstream(stream({ pieces: ["one", " two"], gate }));
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock,
    pool: complete,
    ...(options.config === undefined ? {} : { config: options.config as Record<string, unknown> }),
  });
  const controller = new AbortController();
  const headers = { "content-type": "application/json", ...options.headers };
  const response = proxy.chat({ stream: true }, { headers, signal: controller.signal });
  await gate.reached(1);
  gate.open(2);
  await gate.reached(3); // the first content has been sent
  return {
    gate,
    clock,
    proxy,
    response,
    call: upstream.requests[0]!,
    leave: () => controller.abort(),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

describe("Until a stream is complete", () => {
  it("its client receives nothing but heartbeats, from ten seconds on", async () => {
    await using scene = await open();
    await scene.clock.advance(9_999);
    assertEquals(await isOpen(scene.response), true);
    await scene.clock.advance(1);
    const response = await soon(scene.response);
    const text = response.text();
    await scene.clock.advance(15_000);
    assertEquals([await isOpen(text), response.headers.get("x-mesh-model")], [true, null]);
    scene.gate.openAll();
    const [heartbeats = "", events = ""] = (await soon(text)).split(/(?<=heartbeat\n\n)(?=data)/);
    assertMatch(heartbeats, /^(: heartbeat\n\n){2}$/);
    assertEquals(readStream(events).text, "one two");
  });

  it("its client can leave: the call ends, and counts as no failure", async () => {
    await using scene = await open();
    scene.leave();
    await scene.response.catch(() => {});
    await soon(scene.call.closed);
    const [model] = scene.proxy.mesh.poolStatus().chat!.models;
    assertEquals(model!.status, "active");
  });

  it("the deadline applies to all of it", async () => {
    await using scene = await open({ headers: { "x-mesh-route": "deadline=5s" } });
    await scene.clock.advance(4_999);
    assertEquals(await isOpen(scene.response), true);
    await scene.clock.advance(1);
    const response = await soon(scene.response);
    assertEquals([response.status, (await response.json()).error.code], [504, "timeout"]);
    await soon(scene.call.closed);
  });
});

describe("Of a stream with more than 4 MiB", () => {
  it("the events are passed on, and a later failure is its client's", async () => {
    const piece = "x".repeat(1024 * 1024);
    const long = stream({ pieces: Array(5).fill(piece), cut: { after: 5, how: "close" } });
    await using scene = await stage({ a: long, b: fromB }, prices());
    const seen = await scene.askStream();
    assertEquals([seen.text.length, seen.last, seen.error?.code], [5 * piece.length, "error", "stream_interrupted"]);
    assertEquals(scene.calls, { a: 1, b: 0 });
  });
});

describe("A hedge whose stream commits when it is complete", () => {
  const hedge = { after: "2s", max_share: 1 };

  it("is read to its end; after a cut, the model that was slower is asked again", async () => {
    const slow = [hang(), stream({ pieces: ["from", " a"] })];
    const config = { proxy: { heartbeat: "0s" } };
    await using scene = await stage({ a: slow, b: cut }, { pool: { ...complete, hedge }, config });
    const answer = scene.askStream();
    await scene.received("a");
    await isOpen(answer);
    await scene.clock.advance(2_000);
    assertEquals([(await soon(answer)).text, scene.calls], ["from a", { a: 2, b: 1 }]);
  });

  it("ends with its client", async () => {
    const silent = stream({ pieces: ["one"], cut: { after: 1, how: "hang" } });
    await using scene = await stage({ a: hang(), b: silent }, { pool: { ...complete, hedge } });
    const controller = new AbortController();
    const answer = scene.proxy.chat({ stream: true }, { signal: controller.signal });
    await scene.received("a");
    await isOpen(answer);
    await scene.clock.advance(2_000);
    const call = await scene.received("b");
    await isOpen(answer);
    controller.abort();
    await answer.catch(() => {});
    await soon(call.closed);
  });
});

const pairs = [
  ["chat", "openai"],
  ["messages", "openai"],
  ["messages", "anthropic"],
  ["responses", "openai"],
  ["responses", "responses"],
  ["gemini", "openai"],
  ["gemini", "gemini"],
] as const;

describe("A complete stream has no trace of the models that were cut", () => {
  for (const [client, vendor] of pairs) {
    it(`${client} in front of ${vendor}`, async () => {
      const clock = new SteppedClock();
      const broken = (mock: Mock) => mock.breakOff(40, { ending: "close" });
      await using a = new Mock("a", { vendor: vendors[vendor], clock, conduct: broken });
      await using b = new Mock("b", { vendor: vendors[vendor], clock, conduct: healthy });
      const { connector, settings } = vendors[vendor];
      const { path, body } = clients[client].request(true);
      await using proxy = await startTestProxy({
        upstreams: { a: await a.start(), b: await b.start() },
        provider: { connector, ...settings },
        pool: complete,
      });
      const response = await fetch(proxy.url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", ...body }),
      });
      const text = await response.text();
      const seen = clients[client].readStream(text);
      assertEquals([seen.end, seen.text, seen.model, seen.tokens], ["complete", b.words.join(""), "b", 60]);
      assert(!/\ba-\d/.test(text), text);
    });
  }

  it("completions", async () => {
    await using scene = await stage({ a: cut, b: fromB }, prices());
    const response = await fetch(`${scene.proxy.url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "chat", prompt: "Hi", stream: true }),
    });
    const text = await response.text();
    assert(text.endsWith("data: [DONE]\n\n") && text.includes("from") && !text.includes("one"), text);
  });
});

describe("A single request chooses when its stream commits", () => {
  it("by header and by body", async () => {
    await using scene = await stage({ a: cut, b: fromB }, prices({}));
    const headers = { "content-type": "application/json", "x-mesh-route": "commit=complete" };
    assertEquals((await scene.askStream({}, { headers })).text, "from b");
    assertEquals((await scene.askStream({ mesh: { commit: "complete" } })).text, "from b");
    assertEquals((await scene.askStream()).last, "error");
  });

  it("also against its pool", async () => {
    await using scene = await stage({ a: cut, b: fromB }, prices());
    assertEquals((await scene.askStream({ mesh: { commit: "first_content" } })).text, "one two");
  });

  it("in the library", async () => {
    const upstreams = await Promise.all([cut, fromB].map((behaviour: Behaviour) => startUpstream(behaviour)));
    const urls = { a: upstreams[0]!.url, b: upstreams[1]!.url };
    await using client = create({ config: testConfig({ upstreams: urls }) });
    const events = await client.chat.completions.create(
      { model: "chat", messages: [{ role: "user", content: "Hi" }], stream: true },
      { route: { commit: "complete" } },
    );
    let text = "";
    for await (const { choices } of events) text += choices[0]?.delta.content ?? "";
    assertEquals([text, routingOf(events)?.model], ["from b", "b"]);
    for (const upstream of upstreams) await upstream.close();
  });

  it("with a value that exists", async () => {
    await using scene = await stage({ a: fromB }, prices());
    const response = await scene.proxy.chat({ stream: true, mesh: { commit: "whole" } });
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.param], [400, "invalid_value", "mesh.commit"]);
  });

  it("but not for audio", async () => {
    const models = { a: { provider: "a", capabilities: ["text-to-speech"] } };
    await using scene = await stage({ a: fromB }, { config: { models, pools: { speech: { models: ["a"] } } } });
    const response = await fetch(`${scene.proxy.url}/v1/audio/speech`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-mesh-route": "commit=complete" },
      body: JSON.stringify({ model: "speech", input: "Hi", voice: "alloy" }),
    });
    const { error } = await response.json();
    assertEquals([response.status, error.code, error.param], [400, "invalid_value", "x-mesh-route"]);
  });
});
