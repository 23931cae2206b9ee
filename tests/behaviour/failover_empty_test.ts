/** A response with nothing in it is tried elsewhere once, without a failure; a response that says why it is short is one. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Cast, readStream, type Stage, stage, type StageOptions } from "../support/_failover.ts";
import { type Behaviour, json, ok, respond, respondEmpty, status, type StreamOptions } from "../support/upstream.ts";

const oneOutcome: StageOptions = { pool: { deactivation: { retry_limit: 1 } } };
const empty = respondEmpty();
const full = respond({ text: "from b" });
const allActive = { a: "active", b: "active" };

/** Non-streaming and streaming answers are the same story. */
function bothWays(name: string, cast: Cast, check: (scene: Stage, stream: boolean) => Promise<void>): void {
  for (const stream of [false, true]) {
    it(`${name} (${stream ? "streamed" : "whole"})`, async () => {
      await using scene = await stage(cast, oneOutcome);
      await check(scene, stream);
    });
  }
}

const ask = (scene: Stage, stream: boolean) => stream ? scene.askStream() : scene.ask();

describe("an empty response", () => {
  for (const stream of [false, true]) {
    for (const [what, cast] of Object.entries({ "left behind": { a: empty, b: full }, "passed on": { a: empty } })) {
      it(`counts for what it says it took, ${what} (${stream ? "streamed" : "whole"})`, async () => {
        await using scene = await stage(cast as Cast, { pool: { deactivation: { token_limit: 15 } } });
        assertEquals((await ask(scene, stream)).status, 200);
        assertEquals(scene.states().a, "token_limit for 60s"); // all 15 of them
      });
    }
  }

  bothWays(
    "goes to the next provider, without a vote and without a retry",
    { a: empty, b: full },
    async (scene, stream) => {
      const seen = await ask(scene, stream);
      assertEquals([seen.status, seen.text, seen.route], [200, "from b", "b 2/1"]);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 1 }, allActive]);
      assertEquals([scene.events, scene.clock.sleeps], [["rotation a>b empty"], []]);
      assertEquals(scene.routing.fallback_chain.map(({ outcome }) => outcome), ["empty", "ok"]);
    },
  );

  bothWays("of a lone provider comes as it was; nobody was left behind", { a: empty }, async (scene, stream) => {
    const seen = await ask(scene, stream);
    assertEquals([seen.status, seen.text, seen.route], [200, "", "a 1/0"]);
    assertEquals([scene.calls, scene.states()], [{ a: 1 }, { a: "active" }]);
  });

  bothWays("of two providers: the first one's comes, a third is not asked", {
    a: respond({ text: "", model: "first" }),
    b: respond({ text: "", model: "second" }),
    c: full,
  }, async (scene, stream) => {
    const response = await scene.proxy.chat({ stream });
    const { headers } = response;
    const text = await response.text();
    const { model } = stream ? readStream(text).chunks[0] as unknown as { model: string } : JSON.parse(text);
    assertEquals([response.status, model, headers.get("x-mesh-model")], [200, "first", "a"]);
    assertEquals([headers.get("x-mesh-attempts"), headers.get("x-mesh-fallbacks")], ["2", "1"]);
    assertEquals([scene.calls, scene.states()], [{ a: 1, b: 1, c: 0 }, { ...allActive, c: "active" }]);
  });

  bothWays("comes as it was when the next provider fails", { a: empty, b: status(401) }, async (scene, stream) => {
    const seen = await ask(scene, stream);
    assertEquals([seen.status, seen.text, seen.headers.get("x-mesh-model")], [200, "", "a"]);
    assertEquals([scene.calls, scene.states()], [{ a: 1, b: 1 }, { a: "active", b: "retry_limit for 60s" }]);
  });

  bothWays("after a failure: comes, when nobody else is left", { a: status(401), b: empty }, async (scene, stream) => {
    const seen = await ask(scene, stream);
    assertEquals([seen.status, seen.text, seen.route], [200, "", "b 2/1"]);
    assertEquals(scene.states(), { a: "retry_limit for 60s", b: "active" });
  });

  it("is not a success either: failures before and after it are in a row", async () => {
    for (const stream of [false, true]) {
      const cast = { a: [status(401), empty, status(401)], b: full };
      await using scene = await stage(cast, { pool: { deactivation: { retry_limit: 2 } } });
      for (let count = 0; count < 3; count++) assertEquals((await ask(scene, stream)).text, "from b");
      assertEquals(scene.states(), { a: "retry_limit for 60s", b: "active" });
    }
  });

  it("stays where it is when the pool must not rotate", async () => {
    for (const stream of [false, true]) {
      await using scene = await stage({ a: empty, b: full }, { pool: { retry: { scope: "same_model" } } });
      assertEquals([(await ask(scene, stream)).text, scene.calls], ["", { a: 1, b: 0 }]);
    }
  });

  it("stays with its provider when the pool must", async () => {
    for (const stream of [false, true]) {
      await using scene = await stage({ a: empty, b: full }, { pool: { retry: { scope: "same_provider" } } });
      assertEquals([(await ask(scene, stream)).text, scene.calls], ["", { a: 1, b: 0 }]);
    }
  });

  const message = { role: "assistant", content: null };
  const shapes: readonly [name: string, behaviour: Behaviour][] = [
    ["content null", json({ choices: [{ index: 0, message, finish_reason: "stop" }] })],
    ["no finish reason", json({ choices: [{ index: 0, message, finish_reason: null }] })],
    ["a message without members", json({ choices: [{ index: 0, message: {}, finish_reason: "stop" }] })],
    ["an empty list of tool calls", json({ choices: [{ index: 0, message: { ...message, tool_calls: [] } }] })],
  ];
  for (const [name, behaviour] of shapes) {
    it(`is one with ${name}, too`, async () => {
      await using scene = await stage({ a: behaviour, b: full }, oneOutcome);
      assertEquals([(await scene.ask()).text, scene.calls, scene.states()], ["from b", { a: 1, b: 1 }, allActive]);
    });
  }
});

describe("a response of few words", () => {
  const toolCalls = [{ name: "look", arguments: "{}" }];
  const legal: readonly [name: string, options: StreamOptions][] = [
    ["cut by its length", { text: "", finishReason: "length" }],
    ["cut by a filter", { text: "", finishReason: "content_filter" }],
    ["of a tool call alone", { toolCalls }],
    ["of thoughts alone", { text: "", reasoning: "Hmm" }],
    ["of one space", { pieces: [" "], text: " " }],
  ];
  for (const [name, options] of legal) {
    bothWays(`${name} is an answer`, { a: respond(options), b: full }, async (scene, stream) => {
      const seen = await ask(scene, stream);
      assertEquals([seen.status, seen.route], [200, "a 1/0"]);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, allActive]);
    });
  }

  it("of a refusal alone is a response", async () => {
    const message = { role: "assistant", content: null, refusal: "I would rather not" };
    const refusal = json({ choices: [{ index: 0, message, finish_reason: "stop" }] });
    await using scene = await stage({ a: refusal, b: full });
    assertEquals([(await scene.ask()).route, scene.calls], ["a 1/0", { a: 1, b: 0 }]);
  });

  it("that counts as one: the row of failures ends", async () => {
    const script = [status(401), respond({ text: "", finishReason: "length" }), status(401)];
    await using scene = await stage({ a: script, b: ok() }, { pool: { deactivation: { retry_limit: 2 } } });
    await scene.askTimes(3);
    assertEquals(scene.states(), allActive);
  });
});
