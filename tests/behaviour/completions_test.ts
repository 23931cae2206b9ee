/** `/v1/completions` through chat: texts that go on, for one prompt or several, non-streaming and streaming. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import OpenAI from "openai";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { happens } from "../support/patience.ts";
import { type Behaviour, Gate, ok, respond, type Script, status, stream } from "../support/upstream.ts";

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "chat-completion", ...options });
const noRetry = { retry: { max_attempts: 0 } };
const hello = { prompt: "Once upon" };

/** Answers each prompt with itself in capitals. */
const shouting: Behaviour = {
  play(exchange) {
    const { messages: [{ content }] } = exchange.request.json();
    return respond({ text: ` ${content.toUpperCase()}`, pieces: [" ", content.toUpperCase()] }).play(exchange);
  },
};

// deno-lint-ignore no-explicit-any
function parseEvents(text: string): any[] {
  const events = text.trimEnd().split("\n\n").map((event) => event.slice("data: ".length));
  assertEquals(events.at(-1), "[DONE]");
  return events.slice(0, -1).map((event) => JSON.parse(event));
}

describe("POST /v1/completions", () => {
  it("is a chat with the prompt, whose text comes back, after a failover that does not show", async () => {
    await using scene = await stage({ a: status(500), b: ok({ text: " a time" }) }, { pool: noRetry });
    const sent = { max_tokens: 9, stop: ["END"], temperature: 0.5, logprobs: 2, user: "u", best_of: 3 };
    const { status: code, headers, json: body } = await scene.post("completions", { ...hello, ...sent, echo: false });
    assertEquals(code, 200);
    const { id: _, created: __, ...completion } = body;
    assertEquals(completion, {
      object: "text_completion",
      model: "b",
      choices: [{ text: " a time", index: 0, logprobs: null, finish_reason: "stop" }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    });
    assertEquals([headers.get("x-mesh-model"), headers.get("x-mesh-dropped-params")], ["b", "best_of"]);
    assertEquals(scene.upstreams.b!.requests[0]!.json(), {
      ...{ model: "b", max_tokens: 9, stop: ["END"], temperature: 0.5, user: "u" },
      messages: [{ role: "user", content: "Once upon" }],
      ...{ logprobs: true, top_logprobs: 2 },
    });
  });

  it("answers several prompts in one, each with its choices, the tokens added up", async () => {
    await using scene = await stage({ a: shouting });
    const { json: body } = await scene.post("completions", { prompt: ["one", "two", "three"], echo: true });
    assertEquals(body.choices.map(({ index, text }: { index: number; text: string }) => [index, text]), [
      ...[[0, "one ONE"], [1, "two TWO"], [2, "three THREE"]],
    ]);
    assertEquals(body.usage, { prompt_tokens: 30, completion_tokens: 15, total_tokens: 45 });
    assertEquals(scene.calls, { a: 3 });
  });

  it("streams the text, with its usage where asked for", async () => {
    await using scene = await stage({ a: stream({ pieces: [" a", " time"] }) });
    const { headers, text } = await scene.post("completions", { ...hello, stream: true, echo: true });
    assertEquals(headers.get("content-type"), "text/event-stream");
    const events = parseEvents(text);
    assertEquals(events.map(({ object, usage }) => [object, usage]), Array(4).fill(["text_completion", undefined]));
    assertEquals(events.map(({ choices: [{ text, finish_reason }] }) => [text, finish_reason]), [
      ...[["Once upon", null], [" a", null], [" time", null], ["", "stop"]],
    ]);
    const counted = await scene.post("completions", {
      ...hello,
      stream: true,
      stream_options: { include_usage: true },
    });
    const all = parseEvents(counted.text);
    assertEquals([all[0].usage, all.at(-1).choices, all.at(-1).usage.total_tokens], [null, [], 15]);
  });

  it("streams the texts of several prompts side by side", async () => {
    await using scene = await stage({ a: shouting });
    const { text } = await scene.post("completions", {
      ...{ prompt: ["one", "two"], stream: true, stream_options: { include_usage: true } },
    });
    const events = parseEvents(text);
    const texts = ["", ""];
    for (const { choices } of events) for (const { index, text } of choices) texts[index] += text;
    assertEquals([texts, events.at(-1).usage.total_tokens], [[" ONE", " TWO"], 30]);
  });

  it("ends all streams with one error when one of them breaks midway", async () => {
    const broken = stream({ pieces: ["x"], cut: { after: 1, how: "reset" } });
    const script: Behaviour = {
      play: (exchange) => (exchange.request.json().messages[0].content === "one" ? shouting : broken).play(exchange),
    };
    await using scene = await stage({ a: script }, { pool: noRetry });
    for (const prompt of ["two", ["one", "two"]]) {
      const { text } = await scene.post("completions", { prompt, stream: true });
      const last = JSON.parse(text.trimEnd().split("\n\n").at(-1)!.slice("data: ".length));
      assertEquals([last.error.code, text.includes("[DONE]")], ["stream_interrupted", false]);
    }
  });

  it("ends the calls of all other prompts when one stream breaks, or the client leaves", async () => {
    const broken = stream({ pieces: ["x"], cut: { after: 1, how: "reset" } });
    for (const isLeaving of [false, true]) {
      const gates = [new Gate(), new Gate()] as const;
      const [first, second] = gates.map((gate) => stream({ pieces: ["x", "y", "z"], gate }));
      const script: Behaviour = {
        play(exchange) {
          const isFirst = exchange.request.json().messages[0].content === "one";
          return (isFirst ? first! : isLeaving ? second! : broken).play(exchange);
        },
      };
      await using scene = await stage({ a: script }, { pool: noRetry });
      for (const gate of gates) gate.open(2);
      const response = await fetch(`${scene.proxy.url}/v1/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "pool", prompt: ["one", "two"], stream: true }),
      });
      if (isLeaving) await response.body!.cancel();
      else await response.text();
      const other = scene.upstreams.a!.requests.find((call) => call.json().messages[0].content === "one")!;
      await happens("the end of the other prompt's call", other.closed);
      for (const gate of gates) gate.openAll();
    }
  });

  it("fails as a whole when one of several prompts cannot be answered", async () => {
    const script: Behaviour = {
      play: (exchange) =>
        (exchange.request.json().messages[0].content === "one" ? shouting : status(500)).play(exchange),
    };
    await using scene = await stage({ a: script }, { pool: noRetry });
    for (const isStream of [false, true]) {
      const { status: code, json: body } = await scene.post("completions", {
        prompt: ["one", "two"],
        stream: isStream,
      });
      assertEquals([code, body.error.code], [502, "all_attempts_failed"]);
    }
  });

  it("has OpenAI's errors, with the field", async () => {
    await using scene = await stage({ a: ok() });
    const bad: [object, string, RegExp][] = [
      [{}, "prompt", /missing/],
      [{ prompt: [] }, "prompt", /at least one string/],
      [{ prompt: 4 }, "prompt", /tokens.*send text/],
      [{ prompt: [[1, 2]] }, "prompt", /tokens.*send text/],
      [{ prompt: ["a", {}] }, "prompt[1]", /has to be a string, not an object/],
      [{ prompt: Array(101).fill("a") }, "prompt", /more than 100 strings/],
      [{ ...hello, echo: "yes" }, "echo", /has to be a boolean/],
      [{ ...hello, logprobs: true }, "logprobs", /integer/],
      [{ ...hello, n: "2" }, "n", /integer/],
      [{ ...hello, Prompt: "x" }, "Prompt", /in case alone/],
      [{ ...hello, suffix: "the end" }, "suffix", /no model of the pool supports "suffix"/i],
      [{ ...hello, echo: true, logprobs: 1 }, "echo", /supports "echo"/],
    ];
    for (const [body, param, message] of bad) {
      const { status: code, json: { error } } = await scene.post("completions", body);
      assertEquals([code, error.type, error.param], [400, "invalid_request_error", param]);
      assertMatch(error.message, message);
    }
    assertEquals(scene.calls, { a: 0 });
  });

  it("serves the official client", async () => {
    await using scene = await stage({ a: shouting });
    const client = new OpenAI({ baseURL: `${scene.proxy.url}/v1`, apiKey: "any", maxRetries: 0 });
    const whole = await client.completions.create({ model: "pool", prompt: "one", n: 1 });
    assertEquals([whole.choices[0]!.text, whole.usage?.total_tokens], [" ONE", 15]);
    let streamed = "";
    for await (const { choices } of await client.completions.create({ model: "pool", prompt: "two", stream: true })) {
      streamed += choices[0]?.text ?? "";
    }
    assertEquals(streamed, " TWO");
  });
});
