/** `/v1/completions` to a provider that has it: the client's own JSON there, the provider's own bytes back. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { type Behaviour, formatHead, json, ok, raw, respond, type Script, status } from "../support/upstream.ts";

/** Providers whose name begins with `n` have the API themselves. */
const provider = (name: string) => name.startsWith("n") ? { config: { completions: true } } : {};
const noRetry = { retry: { max_attempts: 0 } };
const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
const head = { id: "cmpl-1", object: "text_completion", created: 7, model: "vendor-x", odd: 12 };
const logprobs = { tokens: [" x"], token_logprobs: [-0.5], top_logprobs: [{ " x": -0.5 }], text_offset: [0] };

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "chat-completion", provider, pool: noRetry, ...options });

const wholeText = (text: string, more: object = {}) => ({
  ...head,
  choices: [{ text, index: 0, logprobs: null, finish_reason: "length", ...more }],
  usage,
});

/** The events of a stream: texts, then its end, then the token counts. */
const eventsOf = (...texts: string[]) =>
  [
    ...texts.map((text) => ({ ...head, choices: [{ text, index: 0, logprobs: null, finish_reason: null }] })),
    { ...head, choices: [{ text: "", index: 0, logprobs: null, finish_reason: "stop" }] },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const usageEvent = `data: ${JSON.stringify({ ...head, choices: [], usage })}\n\n`;
const done = "data: [DONE]\n\n";

const streamed = (text: string) => raw(formatHead(200, { "content-type": "text/event-stream" }) + text);

describe("/v1/completions to a provider that has it", () => {
  it("sends what the client wrote, and nothing of ours; returns what came, byte for byte", async () => {
    const reply = wholeText(" a time", { logprobs });
    await using scene = await stage({ n: json(reply) }, { models: { n: { pricing: { input: 1, output: 1 } } } });
    const sent = { prompt: "Once upon", suffix: "END", echo: true, logprobs: 2, best_of: 3, max_tokens: 9, odd: 12 };
    const { status: code, headers, text } = await scene.post("completions", { ...sent, mesh: { tags: ["a"] } });
    assertEquals([code, text], [200, JSON.stringify(reply)]);
    assertEquals([headers.get("x-mesh-dropped-params"), headers.get("x-mesh-model")], [null, "n"]);
    const { path, json: asked } = scene.upstreams.n!.requests[0]!;
    assertEquals([path, asked()], ["/v1/completions", { model: "n", ...sent }]);
    const { tokens_in, tokens_out, estimated } = scene.routing;
    assertEquals([tokens_in, tokens_out, estimated], [4, 2, undefined]);
  });

  it("returns text where the provider answers with null, or as for a chat", async () => {
    const message = { role: "assistant", content: " a time" };
    const replies: readonly (readonly [choice: object, text: string])[] = [
      [{ text: null, index: 0, finish_reason: "stop" }, ""],
      [{ message, index: 0, finish_reason: "stop" }, " a time"],
    ];
    for (const [choice, text] of replies) {
      await using scene = await stage({ n: json({ ...head, choices: [choice], usage }) });
      const { status: code, json: body } = await scene.post("completions", { prompt: "Once upon" });
      assertEquals([code, body.choices], [200, [{ text, index: 0, logprobs: null, finish_reason: "stop" }]]);
    }
  });

  it("passes events on as they came, the token counts where the client wants them, and one end", async () => {
    for (const end of ["", done]) {
      await using scene = await stage({ n: streamed(eventsOf(" a", " time") + usageEvent + end) });
      const plain = await scene.post("completions", { prompt: "Once", stream: true });
      assertEquals(plain.text, eventsOf(" a", " time") + done);
      assertEquals([scene.routing.tokens_in, scene.routing.tokens_out], [4, 2]);
      const counted = await scene.post("completions", {
        prompt: "Once",
        stream: true,
        stream_options: { include_usage: true },
      });
      assertEquals(counted.text, eventsOf(" a", " time") + usageEvent + done);
    }
  });

  it("fails over from it to a chat, and to it from one, without a trace", async () => {
    const faults = [status(503), json({ ...head, choices: [] }), json({ error: { message: "Oops" } }), json({})];
    for (const fault of faults) {
      await using scene = await stage({ n: fault, b: ok({ text: " a time" }) });
      const { json: body } = await scene.post("completions", { prompt: "Once" });
      assertEquals([body.choices[0].text, body.model, scene.calls], [" a time", "b", { n: 1, b: 1 }]);
    }
    const cuts = [streamed(""), streamed(eventsOf()), streamed(`data: {"error":{"message":"Oops"}}\n\n`)];
    for (const cut of cuts) {
      await using scene = await stage({ n: cut, b: respond({ text: " a time" }) });
      const { text } = await scene.post("completions", { prompt: "Once", stream: true });
      const texts = text.split("\n\n").flatMap((event) =>
        event.startsWith("data: {")
          ? JSON.parse(event.slice(6)).choices.map((choice: { text: string }) => choice.text)
          : []
      );
      assertEquals([texts.join(""), scene.calls], [" a time", { n: 1, b: 1 }]);
    }
    await using back = await stage({ b: status(500), n: json(wholeText("x")) });
    assertEquals((await back.post("completions", { prompt: "Once" })).text, JSON.stringify(wholeText("x")));
  });

  it("ends a stream that breaks midway with one error", async () => {
    await using scene = await stage({ n: streamed(eventsOf(" a").split("\n\n")[0] + "\n\n") });
    const { text } = await scene.post("completions", { prompt: "Once", stream: true });
    const events = text.trimEnd().split("\n\n").map((event) => JSON.parse(event.slice("data: ".length)));
    assertEquals([events[0].choices[0].text, events[1].error.code, events.length], [" a", "stream_interrupted", 2]);
  });

  it("answers several prompts in one, their texts and log probabilities as the provider counts them", async () => {
    const script: Behaviour = {
      play(exchange) {
        const { prompt, echo } = exchange.request.json();
        return json(wholeText(`${echo === true ? prompt : ""}!`, { logprobs })).play(exchange);
      },
    };
    await using scene = await stage({ n: script });
    const several = { prompt: ["one", "two"], logprobs: 1 };
    const { json: body } = await scene.post("completions", several);
    assertEquals(body.choices.map(({ index, text }: { index: number; text: string }) => [index, text]), [[0, "!"], [
      1,
      "!",
    ]]);
    assertEquals([body.choices[1].logprobs, body.usage.total_tokens], [logprobs, 12]);
    const echoed = await scene.post("completions", { prompt: ["one", "two"], echo: true });
    assertEquals(echoed.json.choices.map(({ text }: { text: string }) => text), ["one!", "two!"]);
    const counted = await scene.post("completions", { ...several, echo: true });
    assertEquals(counted.json.choices.map(({ text }: { text: string }) => text), ["one!", "two!"]);
    assertEquals(scene.upstreams.n!.requests.map((request) => request.json().echo), [
      ...[undefined, undefined, undefined, undefined, true, true],
    ]);
  });

  it("leaves out sampling that the model refuses, and says so", async () => {
    const parameters = { parameters: { drop: ["temperature"] } };
    await using scene = await stage({ n: json(wholeText("x")) }, { models: { n: parameters } });
    const { headers } = await scene.post("completions", { prompt: "Once", temperature: 2, top_p: 0.5 });
    assertEquals(scene.upstreams.n!.requests[0]!.json(), { model: "n", prompt: "Once", top_p: 0.5 });
    assertEquals(headers.get("x-mesh-dropped-params"), "temperature");
  });

  it("is what a request with a suffix is for: other models are skipped", async () => {
    await using scene = await stage({ b: ok({ text: "b" }), n: json(wholeText("x")) });
    const { json: body } = await scene.post("completions", { prompt: "Once", suffix: "END" });
    assertEquals([body.choices[0].text, scene.calls], ["x", { b: 0, n: 1 }]);
    const { status: code, json: { error } } = await scene.post("completions", {
      model: "b",
      prompt: "a",
      suffix: "END",
    });
    assertEquals(code, 400);
    assertMatch(error.message, /supports "suffix"/);
  });
});
