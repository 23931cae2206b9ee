/** Amazon Bedrock: streams. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromConverse } from "../../connectors/providers/_bedrock_response.ts";
import { event, eventFrame, exception } from "../support/event_frames.ts";
import { completeResponse, emptyBody, html200, json } from "../support/upstream.ts";
import { gather } from "./_anthropic.ts";
import { catchFault, type CloudCall, stream } from "./_clouds.ts";

const haiku = "global.anthropic.claude-haiku-4-5-20251001-v1:0";
const type = "application/vnd.amazon.eventstream";

function joined(...frames: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(frames.flatMap((frame) => [...frame]));
}

function call(...frames: readonly Uint8Array[]): CloudCall {
  return {
    connector: "aws.bedrock.v1",
    script: completeResponse(200, joined(...frames), type, { "x-amzn-requestid": "d1e2f3" }),
    model: haiku,
    config: { region: "eu-central-1" },
  };
}

const start = event("messageStart", { role: "assistant" });
const textDelta = (text: string, index = 0) =>
  event("contentBlockDelta", { contentBlockIndex: index, delta: { text } });
const delta = (index: number, more: unknown) => event("contentBlockDelta", { contentBlockIndex: index, delta: more });
const stop = (index: number) => event("contentBlockStop", { contentBlockIndex: index });
const end = (stopReason: string) => event("messageStop", { stopReason });
const metadata = event("metadata", {
  usage: { inputTokens: 10, outputTokens: 4, totalTokens: 34, cacheReadInputTokens: 20, cacheWriteInputTokens: 0 },
  metrics: { latencyMs: 9 },
});

Deno.test("text is streamed as it comes, with usage at the end", async () => {
  const { sent, chunks } = await stream(
    call(start, textDelta("Hel"), textDelta("lo"), stop(0), end("end_turn"), metadata),
  );
  assertEquals(sent.path, "/model/global.anthropic.claude-haiku-4-5-20251001-v1%3A0/converse-stream");
  assertEquals(chunks.map(({ choices }) => choices.map(({ delta, finish_reason }) => [delta, finish_reason])), [
    [[{ role: "assistant", content: "", refusal: null }, null]],
    [[{ content: "Hel" }, null]],
    [[{ content: "lo" }, null]],
    [[{}, "stop"]],
    [],
  ]);
  assertEquals(chunks[0]!.id, "d1e2f3");
  assertEquals(chunks[0]!.model, haiku);
  assertEquals(chunks.at(-1)!.usage, {
    prompt_tokens: 30,
    completion_tokens: 4,
    total_tokens: 34,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 0 },
  });
});

Deno.test("thoughts, calls and their signatures are put together", async () => {
  const frames = [
    start,
    delta(0, { reasoningContent: { text: "Hm" } }),
    delta(0, { reasoningContent: { text: "m" } }),
    delta(0, { reasoningContent: { signature: "sig" } }),
    stop(0),
    delta(1, { reasoningContent: { redactedContent: "c2VjcmV0" } }),
    stop(1),
    textDelta("I look", 2),
    stop(2),
    event("contentBlockStart", { contentBlockIndex: 3, start: { toolUse: { toolUseId: "t1", name: "weather" } } }),
    delta(3, { toolUse: { input: '{"city":' } }),
    delta(3, { toolUse: { input: '"Bern"}' } }),
    stop(3),
    event("contentBlockStart", { contentBlockIndex: 4, start: { toolUse: { toolUseId: "t2", name: "now" } } }),
    stop(4),
    end("tool_use"),
    metadata,
  ];
  const { chunks } = await stream(call(...frames));
  const thinking_blocks = [
    { type: "thinking", thinking: "Hmm", signature: "sig" },
    { type: "redacted_thinking", data: "c2VjcmV0" },
  ];
  assertEquals(gather(chunks), {
    role: "assistant",
    content: "I look",
    refusal: null,
    reasoning_content: "Hmm",
    tool_calls: [
      {
        id: "t1",
        type: "function",
        function: { name: "weather", arguments: '{"city":"Bern"}' },
        extra_content: { anthropic: { thinking_blocks } },
      },
      { id: "t2", type: "function", function: { name: "now", arguments: "{}" } },
    ],
  });
  assertEquals(chunks.findLast(({ choices }) => choices.length > 0)!.choices[0]!.finish_reason, "tool_calls");
  const other = await stream({ ...call(...frames), model: "deepseek.r1-v1:0" });
  assertEquals(gather(other.chunks).tool_calls![0]!.extra_content, undefined, "nobody wants these back");
  assertEquals(gather(other.chunks).reasoning_content, "Hmm");
});

Deno.test("unknown events are passed over, and a stream may end without usage", async () => {
  const frames = [
    start,
    event("somethingNew", "no JSON"),
    textDelta("a"),
    delta(0, { citation: {} }),
    end("max_tokens"),
  ];
  const { chunks } = await stream(call(...frames));
  assertEquals(gather(chunks).content, "a");
  assertEquals(chunks.at(-1)!.choices[0]!.finish_reason, "length");
  assertEquals(chunks.some(({ usage }) => usage !== undefined), false);
});

Deno.test("exceptions within a stream are classed by their names", async () => {
  const table: [name: string, kind: string, status: number][] = [
    ["throttlingException", "rate_limited", 429],
    ["validationException", "request", 400],
    ["modelStreamErrorException", "server", 424],
    ["internalServerException", "server", 500],
    ["serviceUnavailableException", "server", 503],
    ["somethingNewException", "server", 500],
  ];
  for (const [name, kind, code] of table) {
    const error = await catchFault(call(start, textDelta("a"), exception(name, "what it says")), true);
    assertEquals([name, error.kind, error.fault?.status], [name, kind, code]);
    assertStringIncludes(error.message, "what it says");
  }
  const headers = { ":message-type": "error", ":error-code": "ThrottlingException", ":error-message": "slow down" };
  const error = await catchFault(call(start, eventFrame(headers, "")), true);
  assertEquals(error.kind, "rate_limited");
  assertStringIncludes(error.message, "slow down");
});

Deno.test("streams that are none, end early or are damaged are broken ones", async () => {
  const damagedFrame = textDelta("a");
  damagedFrame[20]! ^= 1;
  const scripts = [
    call(start, textDelta("a")),
    call(start, textDelta("a").subarray(0, 30)),
    call(start, damagedFrame),
    call(start, event("contentBlockDelta", "{oops")),
    call(start, event("contentBlockDelta", "[]")),
    call(start, end("malformed_tool_use")),
    { ...call(), script: completeResponse(200, "data: {}\n\n", type) },
    { ...call(), script: html200() },
    { ...call(), script: emptyBody() },
  ];
  for (const [index, one] of scripts.entries()) {
    assertEquals((await catchFault(one, true)).kind, "invalid_response", `script ${index}`);
  }
});

Deno.test("a non-streaming response to a streaming request becomes a stream", async () => {
  const answer = { output: { message: { content: [{ text: "Hello" }] } }, stopReason: "end_turn" };
  const { chunks } = await stream({ ...call(), script: json(answer) });
  assertEquals(gather(chunks).content, "Hello");
});

Deno.test("citations become annotations, of pages of the web and of documents", async () => {
  const web = { title: "A", sourceContent: [{ text: "Rain" }], location: { web: { url: "https://a.example/" } } };
  const page = { title: "Report", location: { documentPage: { documentIndex: 0, start: 1, end: 2 } } };
  const frames = [
    start,
    textDelta("Well, "),
    event("contentBlockStop", { contentBlockIndex: 0 }),
    delta(1, { text: "it rains" }),
    delta(1, { citation: web }),
    delta(1, { citation: page }),
    event("contentBlockStop", { contentBlockIndex: 1 }),
    end("end_turn"),
  ];
  const { chunks } = await stream(call(...frames));
  const annotations = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.annotations ?? []));
  const content = [{ text: "Well, " }, {
    citationsContent: { content: [{ text: "it rains" }], citations: [web, page] },
  }];
  const whole = fromConverse({ output: { message: { content } }, stopReason: "end_turn" }, {
    ...{ id: "1", model: "m", created: 0, signs: true },
  });
  assertEquals(annotations, whole.choices[0]!.message.annotations);
  assertEquals(whole.choices[0]!.message.content, "Well, it rains");
  const range = { start_index: 6, end_index: 14 };
  assertEquals(annotations.map(({ url_citation }) => url_citation), [
    { ...range, url: "https://a.example/", title: "A" },
    { ...range, url: "", title: "Report" },
  ]);
  // clients of the Messages API expect an index, and send it back
  assertEquals((annotations[0]!.extra_content!.anthropic as Record<string, unknown>).encrypted_index, "");
  const { start_page_number, type } = annotations[1]!.extra_content!.anthropic as Record<string, unknown>;
  assertEquals([type, start_page_number], ["page_location", 1]);
});
