import { assert, assertEquals, assertFalse } from "@std/assert";
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { UpstreamRequest } from "../../src/contracts/runtime.ts";
import { bytes, catchFailure, events, fixture, json, now, options, provider, request, stream } from "./_gemini.ts";

const usage = {
  prompt_tokens: 11,
  completion_tokens: 60,
  total_tokens: 71,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 54 },
};

/** Deltas and reasons, without what all chunks have in common. */
function reported(chunks: readonly ChatCompletionChunk[]): unknown[] {
  return chunks.flatMap(({ choices }) => choices.map(({ delta, finish_reason: reason }) => reason ?? delta));
}

const reportedText = [
  { role: "assistant", content: "" },
  { reasoning_content: "**Planning**\n\nA greeting." },
  { content: "Grüß" },
  { content: " Gott 👋" },
  "stop",
];

Deno.test("stream() asks streamGenerateContent for events", async () => {
  const sent: UpstreamRequest[] = [];
  const call = options([events(bytes(await fixture("text.sse")))], sent);
  for await (const _ of provider().stream!(request(), call));
  const path = "models/gemini-2.5-flash:streamGenerateContent?alt=sse";
  assertEquals(sent[0]!.url, `https://generativelanguage.googleapis.com/v1beta/${path}`);
  assertEquals(sent[0]!.headers["x-goog-api-key"], "AIza-test");
});

Deno.test("stream() says role, thoughts, text, reason and usage in this order", async () => {
  const chunks = await stream(events(bytes(await fixture("text.sse"))));
  assertEquals(reported(chunks), reportedText);
  assertEquals(chunks.at(-1)?.choices, []);
  assertEquals(chunks.at(-1)?.usage, usage);
  for (const { id, object, created, model, choices } of chunks) {
    assertEquals([id, object, created, model], [
      "JPozaonvK7yzvdIPrJ7FyAk",
      "chat.completion.chunk",
      Math.floor(now / 1000),
      "gemini-2.5-flash",
    ]);
    for (const choice of choices) assertEquals([choice.index, choice.logprobs], [0, null]);
  }
});

Deno.test("stream() does not care where the bytes are cut", async () => {
  for (const name of ["text.sse", "calls.sse"]) {
    const whole = bytes(await fixture(name));
    const wanted = await stream(events(whole));
    const text = JSON.stringify(wanted);
    for (let at = 1; at < whole.length; at++) {
      const chunks = await stream(events(whole.slice(0, at), whole.slice(at)));
      if (JSON.stringify(chunks) !== text) assertEquals(chunks, wanted, `${name} cut at ${at}`);
    }
    assertEquals(await stream(events(...Array.from(whole, (byte) => Uint8Array.of(byte)))), wanted);
  }
});

Deno.test("stream() brings each call whole, with index, id, type and signature", async () => {
  const chunks = await stream(events(bytes(await fixture("calls.sse"))));
  const call = (index: number, id: string, name: string, args: string, more = {}) => ({
    tool_calls: [{ index, id, type: "function", function: { name, arguments: args }, ...more }],
  });
  assertEquals(reported(chunks), [
    { role: "assistant", content: "" },
    call(0, "nqh2j2zy", "get_weather", '{"city":"Zürich"}', {
      extra_content: { google: { thought_signature: "EuIOCt8O" } },
    }),
    call(1, "call_r1_0", "get_time", "{}"),
    call(2, "call_r1_1", "get_date", "{}"),
    "tool_calls",
  ]);
});

Deno.test("stream() keeps several answers apart", async () => {
  const chunks = await stream(events(bytes(await fixture("several.sse"))));
  const texts = ["", ""];
  for (const { choices } of chunks) for (const { index, delta } of choices) texts[index] += delta.content ?? "";
  assertEquals(texts, ["Waves", "Tides and"]);
  const reasons = chunks.flatMap(({ choices }) => choices).filter(({ finish_reason: reason }) => reason !== null);
  assertEquals(reasons.map(({ index, finish_reason: reason }) => [index, reason]), [[0, "stop"], [1, "length"]]);
});

Deno.test("stream() takes a blocked prompt for a filtered response", async () => {
  const chunks = await stream(events(bytes(await fixture("blocked.sse"))));
  assertEquals(reported(chunks), [{ role: "assistant", content: "" }, "content_filter"]);
  assertEquals(chunks.at(-1)?.usage?.prompt_tokens, 7);
});

Deno.test("stream() names no usage that was not counted", async () => {
  const event = 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n';
  const chunks = await stream(events(bytes(event)));
  assertEquals(reported(chunks), [{ role: "assistant", content: "" }, { content: "Hi" }, "stop"]);
  assertFalse(chunks.some((chunk) => "usage" in chunk));
  assert(/^chatcmpl-/.test(chunks[0]!.id));
});

Deno.test("stream() waits for the last event before it says why the response ended", async () => {
  const event = (text: string) => `data: {"candidates":[{"content":{"parts":[{${text}}]},"finishReason":"STOP"}]}\n\n`;
  const both = event('"text":"a"') + event('"functionCall":{"name":"b","args":{}}');
  const reasons = reported(await stream(events(bytes(both)))).filter((delta) => typeof delta === "string");
  assertEquals(reasons, ["tool_calls"]);
});

Deno.test("stream() fails where the provider's stream does", async () => {
  const whole = await fixture("text.sse");
  const html = { type: "text/html", pieces: [bytes("<html></html>")] };
  const malformed = 'data: {"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}\n\n';
  const cases = [
    [events(bytes(await fixture("cut.sse"))), "invalid_response"],
    // seen in the wild: an error that is not an event
    [events(bytes(`${await fixture("cut.sse")}{\n  "error": {\n    "code": 503\n  }\n}\n`)), "invalid_response"],
    [events(bytes(whole.slice(0, 300))), "invalid_response"],
    [events(bytes(whole.slice(0, -60))), "invalid_response"],
    [events(), "invalid_response"],
    [events(bytes(": nothing\n\n")), "invalid_response"],
    [events(bytes("data: not JSON\n\n")), "invalid_response"],
    [events(bytes('data: {"usageMetadata":{"promptTokenCount":1}}\n\n')), "invalid_response"],
    [events(bytes(malformed)), "invalid_response"],
    [html, "invalid_response"],
    [json('{"candidates":[{"content":{"parts":[{"text":"cut"'), "invalid_response"],
    [events(bytes(await fixture("error.sse"))), "server"],
    [json(await fixture("error_unavailable.json"), 503), "server"],
  ] as const;
  for (const [answer, kind] of cases) assertEquals((await catchFailure(() => stream(answer))).kind, kind);
});

Deno.test("stream() yields what came before an error", async () => {
  const seen: unknown[] = [];
  const failure = await catchFailure(async () => {
    const chunks = provider().stream!(request(), options([events(bytes(await fixture("error.sse")))]));
    for await (const { value } of chunks) seen.push(...reported([value]));
  });
  assertEquals(seen, [{ role: "assistant", content: "" }, { content: "So far" }]);
  assertEquals(failure.fault?.status, 503);
});

Deno.test("stream() makes do with a last event that lacks its blank line", async () => {
  const whole = await fixture("text.sse");
  assertEquals(reported(await stream(events(bytes(whole.trimEnd())))), reportedText);
  assertEquals(reported(await stream(events(bytes(`${whole}data: [DONE]\n\n`)))), reportedText);
});

Deno.test("stream() turns a whole JSON response, or a list of events, into a stream", async () => {
  const chunks = await stream(json(await fixture("text.json")));
  assertEquals(reported(chunks).at(-1), "stop");
  assertEquals(chunks.at(-1)?.usage?.total_tokens, 2393);
  const list = `[${(await fixture("text.sse")).trim().split("\r\n\r\n").map((event) => event.slice(6)).join(",\n")}]`;
  assertEquals(await stream(json(list)), await stream(events(bytes(await fixture("text.sse")))));
});

Deno.test("stream() ends the call when its reader leaves", async () => {
  let cancelled = false;
  const cut = bytes(await fixture("cut.sse"));
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(cut),
    cancel: () => void (cancelled = true),
  });
  const headers = new Headers({ "content-type": "text/event-stream" });
  const send = () => Promise.resolve({ status: 200, headers, body, reader: () => body.getReader() });
  for await (const _ of provider().stream!(request(), { ...options([]), send })) break;
  assert(cancelled);
});
