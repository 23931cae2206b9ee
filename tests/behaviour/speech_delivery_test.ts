/** Speech is delivered whole or as a stream, as the request asks, by models that deliver it so; records say which. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type Provider, routingOf, StreamInterruptedError } from "../../mod.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { type FakeClock, fakeClock } from "../support/_library.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { completeResponse, type Script } from "../support/upstream.ts";

const sound = new Uint8Array([255, 251, 0, 13]);
const spoken = completeResponse(200, sound, "audio/mpeg");
const events = completeResponse(200, 'data: {"type":"speech.audio.done"}\n\n', "text/event-stream");
const asked = { input: "Hello there", voice: "alloy" };
const sse = { stream_format: "sse" } as const;

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "text-to-speech", ...options });
const delivery = (settings: object) => ({ delivery: settings });

describe("A request for speech", () => {
  const asks = [
    [{}, "sync"],
    [{ stream_format: "audio" }, "sync"],
    [{ stream: false }, "sync"],
    [sse, "stream"],
    [{ stream: true }, "stream"],
  ] as const;
  for (const [body, mode] of asks) {
    it(`is ${mode} with ${JSON.stringify(body)}, over HTTP and by the library`, async () => {
      await using scene = await stage({ a: "stream_format" in body && body.stream_format === "sse" ? events : spoken });
      const response = await scene.post("audio/speech", { ...asked, ...body });
      assertEquals([response.status, scene.routing.delivery], [200, mode]);
      const answer = await scene.client.audio.speech.create({ ...asked, ...body });
      await answer.bytes();
      assertEquals(routingOf(answer)!.delivery, mode);
    });
  }

  it("is answered whole by a model that cannot stream, which requests for streams skip", async () => {
    const models = { a: delivery({ streaming: false }) };
    await using alone = await stage({ a: spoken }, { models });
    const response = await alone.post("audio/speech", asked);
    assertEquals([response.status, response.bytes, alone.routing.delivery], [200, sound, "sync"]);
    const { status: code, json: { error } } = await alone.post("audio/speech", { ...asked, ...sse });
    assertEquals([code, error.code, alone.calls.a], [400, "unsupported_by_pool", 1]);
    assertStringIncludes(error.message, "does speech with stream delivery");
    await using scene = await stage({ a: spoken, b: events }, { models });
    const modelFor = async (body: object) =>
      (await scene.post("audio/speech", { ...asked, ...body })).headers.get("x-mesh-model");
    assertEquals([await modelFor({}), await modelFor(sse), await modelFor({ stream: true })], ["a", "b", "b"]);
  });

  it("goes past a model with synchronous: false, unless it asks for a stream", async () => {
    const models = { a: delivery({ synchronous: false }) };
    await using alone = await stage({ a: events }, { models });
    const { status: code, json: { error } } = await alone.post("audio/speech", asked);
    assertEquals([code, error.code, alone.calls.a], [400, "unsupported_by_pool", 0]);
    assertStringIncludes(error.message, "does speech with sync delivery");
    assertEquals((await alone.post("audio/speech", { ...asked, ...sse })).status, 200);
    await using scene = await stage({ a: events, b: spoken }, { models });
    const modelFor = async (body: object) =>
      (await scene.post("audio/speech", { ...asked, ...body })).headers.get("x-mesh-model");
    assertEquals([await modelFor({}), await modelFor(sse)], ["b", "a"]);
    const { order, excluded } = await scene.client.explain(asked, { operation: "speech" });
    assertEquals([order.map(({ model }) => model), excluded], [["b"], [{ model: "a", reason: "delivery" }]]);
  });
});

describe("A provider of a program", () => {
  /** A client of a provider whose audio a test supplies, with a limit of 10 s. */
  function over(overrides: Partial<Provider>, clock: FakeClock = fakeClock()) {
    return create({
      config: {
        providers: {
          own: {
            instance: customProvider({ operations: ["speech"], ...overrides }),
            execution: { timeout: "10s" },
          },
        },
        models: { m: { provider: "own", capabilities: ["text-to-speech"] } },
        pools: { pool: { models: ["m"], retry: { max_attempts: 0 } } },
      },
      clock,
    });
  }

  it("receives which one is asked for", async () => {
    const seen: unknown[] = [];
    await using client = over({
      getCapabilities: () => ["text-to-speech"],
      supports: (_model, _leaf, mode) => (seen.push(mode), true),
      complete: (request) => (seen.push(request.stream), Promise.resolve({ extra: { audio: sound } })),
    });
    await (await client.audio.speech.create(asked)).bytes();
    await (await client.audio.speech.create({ ...asked, stream: true })).bytes();
    assertEquals(seen, ["sync", false, "stream", true]);
  });

  /** Audio in pieces, each after 4 s. */
  const trickling = (clock: FakeClock, pieces: number): Partial<Provider> => ({
    async complete() {
      async function* audio() {
        for (let piece = 0; piece < pieces; piece++) {
          await clock.sleep(4_000);
          yield sound;
        }
      }
      return await Promise.resolve({ extra: { audio: audio() } });
    },
  });

  it("has its time for a non-streaming response, and in a stream for each of its pieces", async () => {
    const advance = async (clock: FakeClock, seconds: number) => {
      for (let second = 0; second < seconds; second++) await clock.advance(1_000);
    };
    const clock = fakeClock();
    await using client = over(trickling(clock, 4), clock);
    const whole = client.audio.speech.create(asked).then((response) => response.bytes());
    const cut = assertRejects(() => whole, StreamInterruptedError, "10000 ms");
    await advance(clock, 16);
    await cut;
    const streamed = client.audio.speech.create({ ...asked, stream: true }).then((response) => response.bytes());
    await advance(clock, 16);
    assertEquals((await streamed).length, 4 * sound.length);
  });

  it("is not blamed for the time in which its audio is not read", async () => {
    const clock = fakeClock();
    async function* audio() {
      for (let piece = 0; piece < 3; piece++) yield await Promise.resolve(sound);
    }
    await using client = over({ complete: () => Promise.resolve({ extra: { audio: audio() } }) }, clock);
    const { body } = await client.audio.speech.create(asked);
    let length = 0;
    for await (const piece of body!) {
      length += piece.length;
      await clock.advance(60_000);
    }
    assertEquals(length, 3 * sound.length);
  });
});
