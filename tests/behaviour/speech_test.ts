/** Text to speech end to end: over real HTTP, by the library and by the official client. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type Provider, routingOf, StreamInterruptedError } from "../../mod.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { environment } from "../support/_library.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { completeResponse, formatHead, json, raw, type Script, startUpstream, status } from "../support/upstream.ts";

const sound = new Uint8Array([255, 251, 0, 13, 10, 7]);
const spoken = (type = "audio/mpeg") => completeResponse(200, sound, type);
const asked = { input: "Hello there", voice: "alloy" };

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "text-to-speech", ...options });

describe("POST /v1/audio/speech", () => {
  it("answers with the sound, passes the request on, and says where it went", async () => {
    await using scene = await stage({ a: spoken() });
    const body = { ...asked, instructions: "slowly", speed: 1.5, response_format: "mp3" };
    const response = await scene.post("audio/speech", body);
    assertEquals([response.status, response.bytes], [200, sound]);
    const { headers } = response;
    assertEquals([headers.get("content-type"), headers.get("x-mesh-model")], ["audio/mpeg", "a"]);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    const sent = scene.upstreams.a!.requests[0]!;
    assertEquals([sent.path, sent.json()], ["/v1/audio/speech", { ...body, model: "a" }]);
  });

  it("says what the sound is where its provider does not", async () => {
    await using scene = await stage({ a: spoken("application/octet-stream") });
    const typeOf = async (body: object) =>
      (await scene.post("audio/speech", { ...asked, ...body })).headers.get("content-type");
    const formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
    const types = await Promise.all(formats.map((response_format) => typeOf({ response_format })));
    assertEquals(types, ["mpeg", "ogg", "aac", "flac", "wav", "pcm"].map((type) => `audio/${type}`));
    assertEquals(await typeOf({ stream_format: "sse" }), "text/event-stream");
  });

  it("comes from the next model when one fails, sends nothing, or sends something else", async () => {
    const page = completeResponse(200, "<html>", "text/html");
    for (
      const broken of [status(503), completeResponse(200, "", "audio/mpeg"), json({ error: { message: "no" } }), page]
    ) {
      await using scene = await stage({ a: broken, b: spoken() }, { pool: { retry: { max_attempts: 0 } } });
      const response = await scene.post("audio/speech", asked);
      assertEquals([response.status, response.bytes, response.headers.get("x-mesh-model")], [200, sound, "b"]);
      assertEquals(scene.routing.fallback_chain.map(({ model }) => model), ["a", "b"]);
    }
  });

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: spoken() }, {
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } },
    });
    for (let count = 0; count < 4; count++) await scene.post("audio/speech", asked);
    assertEquals(scene.calls, { a: 2, b: 4 });
  });

  it("breaks off where its provider does", async () => {
    const cut = raw(formatHead(200, { "content-type": "audio/mpeg", "content-length": "100" }) + "abc", "close");
    await using scene = await stage({ a: cut });
    const response = await scene.client.audio.speech.create(asked);
    await assertRejects(() => response.arrayBuffer(), StreamInterruptedError);
  });
});

describe("Speech under limits", () => {
  const pricing = { per_million_characters: 10_000 }; // a cent a character
  const spend = { models: { a: { pricing } }, pool: { budget: { daily_limit: 0.33 } } };

  it("spends a budget to the cent, and no more, however many come at once", async () => {
    await using scene = await stage({ a: spoken() }, spend);
    const ask = () =>
      scene.client.audio.speech.create(asked).then((one) => one.arrayBuffer()).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.33);
  });

  it("records what it cost by its characters, with an estimate of its tokens", async () => {
    await using scene = await stage({ a: spoken() }, spend);
    await scene.post("audio/speech", asked);
    const { capability, cost_usd, estimated, tokens_in } = scene.routing;
    assertEquals([capability, cost_usd, estimated], ["generation.audio.text-to-speech", 0.11, undefined]);
    assert(tokens_in! > 0);
  });

  it("estimates the cost of a model that is priced by tokens, and says so", async () => {
    await using scene = await stage({ a: spoken() }, { models: { a: { pricing: { input: 1, audio_output: 10 } } } });
    await scene.post("audio/speech", asked);
    const { cost_usd, estimated, tokens_in, tokens_out } = scene.routing;
    assertEquals([estimated, cost_usd], [true, (tokens_in! + 10 * tokens_out!) / 1e6]);
  });

  it("counts towards what the vendor allows", async () => {
    await using scene = await stage({ a: spoken(), b: spoken() }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => {
      const response = await scene.client.audio.speech.create(asked);
      await response.arrayBuffer();
      return routingOf(response)!.model;
    };
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });
});

describe("Voices", () => {
  const voices = {
    a: { voices: { nova: "Nora", default: "Dora" } },
    b: { voices: { alloy: "Al", default: "Bert" } },
    c: { voices: { default: "Cid" } },
  };

  it("are the vendor's own, of a model that has the voice asked for", async () => {
    await using scene = await stage({ a: spoken(), b: spoken() }, { models: voices });
    for (const voice of ["alloy", "Al"]) {
      const { headers } = await scene.post("audio/speech", { ...asked, voice });
      assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-dropped-params")], ["b", null]);
    }
    assertEquals(scene.upstreams.b!.requests.map((one) => one.json().voice), ["Al", "Al"]);
  });

  it("do not change on a failover", async () => {
    await using scene = await stage({ a: spoken(), b: status(500) }, { models: voices });
    assertEquals((await scene.post("audio/speech", asked)).status, 502);
    assertEquals(scene.calls.a, 0);
  });

  it("are the default ones where no model has the voice, and a header says so", async () => {
    await using scene = await stage({ a: spoken(), c: spoken() }, { models: voices });
    const { headers } = await scene.post("audio/speech", asked);
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-dropped-params")], ["a", "voice"]);
    assertEquals(scene.upstreams.a!.requests[0]!.json().voice, "Dora");
  });

  it("that no model has are refused where there is no default", async () => {
    await using scene = await stage({ a: spoken() }, { models: { a: { voices: { nova: "Nora" } } } });
    const { status: code, json: { error } } = await scene.post("audio/speech", asked);
    assertEquals([code, error.code], [400, "unsupported_by_pool"]);
    assertStringIncludes(error.message, '"alloy"');
  });

  it("go as they are to a model whose voices are unknown, and so does a custom one", async () => {
    await using scene = await stage({ a: spoken() });
    await scene.post("audio/speech", { ...asked, voice: { id: "voice_1" } });
    await scene.post("audio/speech", { ...asked, voice: "anything" });
    const sent = scene.upstreams.a!.requests.map((one) => one.json().voice);
    assertEquals(sent, [{ id: "voice_1" }, "anything"]);
  });
});

describe("Formats of sound", () => {
  const models = { a: { response_formats: ["wav"] }, b: { response_formats: ["mp3", "wav"] } };

  it("are those of a model that has them", async () => {
    await using scene = await stage({ a: spoken("audio/wav"), b: spoken() }, { models });
    const modelFor = async (response_format: string) =>
      (await scene.post("audio/speech", { ...asked, response_format })).headers.get("x-mesh-model");
    assertEquals([await modelFor("wav"), await modelFor("mp3")], ["a", "b"]);
    const { json: { error } } = await scene.post("audio/speech", { ...asked, response_format: "flac" });
    assertStringIncludes(error.message, 'speech in the format "flac"');
  });

  it("do not change on a failover, where the request names none", async () => {
    await using scene = await stage({ a: [spoken("audio/wav"), status(500)], b: spoken() }, { models });
    assertEquals((await scene.post("audio/speech", asked)).headers.get("content-type"), "audio/wav");
    assertEquals(scene.upstreams.a!.requests[0]!.json().response_format, "wav");
    assertEquals([(await scene.post("audio/speech", asked)).status, scene.calls.b], [502, 0]);
  });

  it("as events go to a model that has them", async () => {
    const refusing = { models: { a: { parameters: { refuse: ["stream_format"] } } } };
    await using scene = await stage({ a: spoken(), b: spoken("text/event-stream") }, refusing);
    const modelFor = async (stream_format: string) =>
      (await scene.post("audio/speech", { ...asked, stream_format })).headers.get("x-mesh-model");
    assertEquals([await modelFor("sse"), await modelFor("audio")], ["b", "a"]);
    assertEquals(scene.upstreams.a!.requests[0]!.json().stream_format, undefined);
  });

  it("and voices are explained", async () => {
    await using scene = await stage({ a: spoken(), b: spoken() }, { models });
    const { order, excluded } = await scene.client.explain(asked, { operation: "speech" });
    assertEquals([order.map(({ model }) => model), excluded], [["a"], [{ model: "b", reason: "interchangeable" }]]);
  });
});

describe("A bad speech request", () => {
  const cases: readonly (readonly [body: object, code: string, param: string])[] = [
    [{ voice: "alloy" }, "missing_required_parameter", "input"],
    [{ input: " ", voice: "alloy" }, "invalid_value", "input"],
    [{ input: ["a"], voice: "alloy" }, "invalid_value", "input"],
    [{ input: "a" }, "missing_required_parameter", "voice"],
    [{ input: "a", voice: "" }, "invalid_value", "voice"],
    [{ input: "a", voice: { name: "x" } }, "invalid_value", "voice"],
    [{ ...asked, speed: 5 }, "invalid_value", "speed"],
    [{ ...asked, speed: "1" }, "invalid_value", "speed"],
    [{ ...asked, response_format: 1 }, "invalid_value", "response_format"],
    [{ ...asked, instructions: [] }, "invalid_value", "instructions"],
    [{ ...asked, stream_format: "chunks" }, "invalid_value", "stream_format"],
    [{ ...asked, stream: "yes" }, "invalid_value", "stream"],
    [{ ...asked, Voice: "b" }, "invalid_value", "Voice"],
    [{ ...asked, model: undefined }, "missing_required_parameter", "model"],
  ];
  for (const [body, code, param] of cases) {
    it(`is refused: ${JSON.stringify(body)}`, async () => {
      await using scene = await stage({ a: spoken() });
      const response = await scene.post("audio/speech", body);
      const { error } = response.json;
      assertMatchesSchema("ErrorResponse", { error });
      assertEquals([response.status, error.code, error.param], [400, code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is what a provider says it is, when all say so", async () => {
    await using scene = await stage({ a: status(400) });
    const response = await scene.post("audio/speech", asked);
    assertEquals(response.status, 400);
    assertStringIncludes(response.json.error.message, "Scripted 400");
  });
});

describe("client.audio.speech", () => {
  it("answers by the pool for speech of detected providers", async () => {
    await using upstream = await startUpstream(spoken());
    const client = create({ env: environment({ openai: upstream.url }) });
    const response = await client.audio.speech.create(asked);
    assertEquals([await response.bytes(), response.headers.get("content-type")], [sound, "audio/mpeg"]);
    assertEquals(routingOf(response)!.pool, "text-to-speech");
    assertEquals(upstream.requests[0]!.json(), { ...asked, model: "gpt-4o-mini-tts" });
    await client.close();
  });

  it("ends its provider's call when its body is cancelled, at the cost of what was asked", async () => {
    await using scene = await stage({ a: raw(formatHead(200, { "content-type": "audio/mpeg" }) + "abc", "hang") });
    const response = await scene.client.audio.speech.create(asked);
    await response.body!.cancel();
    const [{ requests_total, requests_failed } = { requests_total: 0, requests_failed: 0 }] = scene.client.stats();
    assertEquals([requests_total, requests_failed], [1, 0]);
  });
});

describe("A provider of a program", () => {
  const over = (complete: Provider["complete"]) =>
    create({
      config: {
        providers: { own: { instance: customProvider({ operations: ["speech"], complete }) } },
        models: { m: { provider: "own", capabilities: ["text-to-speech"], voices: { alloy: "Al" } } },
        pools: { pool: { models: ["m"] } },
      },
    });

  it("gets what is asked as an AudioRequest, and may answer with an AudioResponse alone", async () => {
    let extra: unknown;
    await using client = over((request) => {
      extra = request.extra;
      return Promise.resolve({ extra: { audio: sound, usage: { input_tokens: 3, output_tokens: 4 } } });
    });
    const response = await client.audio.speech.create({ ...asked, response_format: "wav" });
    assertEquals([await response.bytes(), response.headers.get("content-type")], [sound, "audio/wav"]);
    assertEquals(extra, { input: "Hello there", voice: "Al", format: "wav", model: "m" });
    const { tokens_in, tokens_out } = client.stats().find(({ scope }) => scope === "model")!;
    assertEquals([tokens_in, tokens_out], [3, 4]);
  });

  it("that answers without sound has failed", async () => {
    await using client = over(() => Promise.resolve({ extra: { text: "no" } }));
    const { code } = await client.audio.speech.create(asked).catch((error) => error);
    assertEquals(code, "all_attempts_failed");
  });
});

describe("The openai package", () => {
  it("gets sound", async () => {
    await using scene = await stage({ a: spoken() });
    const response = await createSdk(scene.proxy).audio.speech.create({ model: "pool", ...asked });
    assertEquals(new Uint8Array(await response.arrayBuffer()), sound);
  });
});
