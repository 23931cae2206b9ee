import { assert, assertEquals, assertRejects } from "@std/assert";
import type { ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CallOptions } from "../../src/contracts/provider.ts";
import type { UpstreamRequest } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import {
  bytes,
  complete,
  events,
  fixture,
  gather,
  now,
  options,
  provider,
  request,
  respond,
  stream,
} from "./_anthropic.ts";

Deno.test("thoughts come back to the API in the order they were answered in", async () => {
  const answered = JSON.parse(await fixture("thinking_tools.json"));
  const whole = (await complete(respond(JSON.stringify(answered)))).choices[0]!.message;
  const streamed = gather(await stream(events(bytes(await fixture("stream_thinking_tools.sse")))));
  for (const message of [whole, streamed]) {
    const sent: UpstreamRequest[] = [];
    const results = message.tool_calls!.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "18" }));
    const body = { messages: [{ role: "user" as const, content: "Weather?" }, { ...message }, ...results] };
    await provider().complete({ ...request(), body }, options([respond(JSON.stringify(answered))], sent));
    assertEquals(JSON.parse(sent[0]!.body as string).messages, [
      { role: "user", content: [{ type: "text", text: "Weather?" }] },
      { role: "assistant", content: answered.content },
      {
        role: "user",
        content: answered.content.slice(4).map(({ id }: { id: string }) => ({
          type: "tool_result",
          tool_use_id: id,
          content: [{ type: "text", text: "18" }],
        })),
      },
    ]);
  }
});

Deno.test("stream() yields role, text, finish reason and usage, wherever the bytes are cut", async () => {
  const whole = bytes(await fixture("stream_text.sse"));
  const expected = await stream(events(whole));
  assertEquals(gather(expected).content, "Grüße, 世界! 🌍");
  assertEquals(expected[0], {
    id: "msg_01Ys7DgKkq2mXcQvB4WnLrTe",
    object: "chat.completion.chunk",
    created: now / 1000,
    model: "claude-haiku-4-5-20251001",
    choices: [{
      index: 0,
      delta: { role: "assistant", content: "", refusal: null },
      finish_reason: null,
      logprobs: null,
    }],
  });
  assertEquals(expected.at(-2)?.choices[0]?.finish_reason, "stop");
  assertEquals(expected.at(-1)?.choices, []);
  assertEquals(expected.at(-1)?.usage, {
    prompt_tokens: 2125,
    completion_tokens: 15,
    total_tokens: 2140,
    prompt_tokens_details: { cached_tokens: 2000, cache_write_tokens: 100 },
  });
  const text = JSON.stringify(expected);
  for (let cut = 1; cut < whole.length; cut++) {
    const chunks = await stream(events(whole.subarray(0, cut), whole.subarray(cut)));
    if (JSON.stringify(chunks) !== text) assertEquals(chunks, expected, `cut at ${cut}`);
  }
  assertEquals(await stream(events(...Array.from(whole, (byte) => Uint8Array.of(byte)))), expected);
});

Deno.test("stream() says the same as a non-streaming response", async () => {
  const chunks = await stream(events(bytes((await fixture("stream_thinking_tools.sse")).replaceAll("\n", "\r\n"))));
  const whole = await complete(respond(await fixture("thinking_tools.json")));
  const { tool_calls, ...message } = gather(chunks);
  const { tool_calls: calls, ...expected } = whole.choices[0]!.message;
  assertEquals(message, expected);
  assertEquals(
    tool_calls!.map(({ function: { arguments: text, name }, ...call }) => ({ ...call, name, input: JSON.parse(text) })),
    calls!.map(({ function: { arguments: text, name }, ...call }) => ({ ...call, name, input: JSON.parse(text) })),
  );
  const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
  assertEquals(pieces.map(({ index }) => index), [0, 0, 0, 1, 1]);
  assertEquals(pieces.at(-1), { index: 1, function: { arguments: "{}" } });
  assertEquals(chunks.at(-2)?.choices[0]?.finish_reason, "tool_calls");
  assertEquals(chunks.at(-1)?.usage?.completion_tokens_details, { reasoning_tokens: 40 });
  assertEquals(chunks.at(-1)?.usage?.prompt_tokens, 472);
});

Deno.test("stream() fails with what an error event says", async () => {
  const seen: ChatCompletionChunk[] = [];
  const answers = options([events(bytes(await fixture("stream_overloaded.sse")))]);
  const error = await assertRejects(async () => {
    for await (const { value } of provider().stream!(request(true), answers)) seen.push(value);
  }, UpstreamError);
  assertEquals(gather(seen).content, "Once");
  assertEquals([error.kind, error.fault?.status, error.fault?.error.code], ["server", 200, "overloaded"]);
  const limited = 'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Slow"}}\n\n';
  assertEquals((await assertRejects(() => stream(events(bytes(limited))), UpstreamError)).kind, "rate_limited");
});

Deno.test("stream() fails when it ends before it has named its end", async () => {
  const whole = await fixture("stream_text.sse");
  const named = await stream(events(bytes(whole.slice(0, whole.indexOf("event: message_stop")))));
  assertEquals(gather(named), gather(await stream(events(bytes(whole)))));
  for (const end of [0, whole.indexOf("event: content_block_stop"), whole.indexOf("event: message_delta")]) {
    const error = await assertRejects(() => stream(events(bytes(whole.slice(0, end)))), UpstreamError);
    assertEquals(error.kind, "invalid_response");
  }
  const garbled = 'event: message_start\ndata: {"type":\n\n';
  assertEquals((await assertRejects(() => stream(events(bytes(garbled))), UpstreamError)).kind, "invalid_response");
});

Deno.test("stream() turns a non-streaming response into a stream and refuses a web page", async () => {
  const chunks = await stream(respond(await fixture("thinking_tools.json")));
  assertEquals(gather(chunks), (await complete(respond(await fixture("thinking_tools.json")))).choices[0]?.message);
  assertEquals(chunks.at(-1)?.usage?.prompt_tokens, 512);
  const page = { headers: { "content-type": "text/html" }, pieces: [bytes("<html></html>")] };
  assertEquals((await assertRejects(() => stream(page), UpstreamError)).kind, "invalid_response");
});

Deno.test("stream() ends the call when its reader leaves early", async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: async (controller) =>
      controller.enqueue(bytes(await fixture("stream_text.sse").then((text) => text.slice(0, 900)))),
    cancel: () => void (cancelled = true),
  });
  const call: CallOptions = {
    signal: new AbortController().signal,
    send: () => Promise.resolve({ status: 200, headers: new Headers(), body, reader: () => body.getReader() }),
  };
  for await (const _ of provider().stream!(request(true), call)) break;
  assert(cancelled);
});
