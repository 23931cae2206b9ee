import { assert, assertEquals } from "@std/assert";
import { EventBatches } from "../../connectors/providers/_event_batches.ts";
import { parseChunk } from "../../connectors/providers/_http.ts";
import { ChunkNormalizer } from "../../src/util/normalize_chunk.ts";
import { SseParser } from "../../src/util/sse_parse.ts";

const chunk = (choice: object, more: object = {}) =>
  JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice], ...more });
const text = (content: string) => chunk({ index: 0, delta: { content }, finish_reason: null });
const role = chunk({ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null });
const first = chunk({ index: 0, delta: { role: "assistant", content: "Hi" }, finish_reason: null });
const end = chunk({ index: 0, delta: {}, finish_reason: "stop" });
const eventsOf = (...datas: string[]) => datas.map((data) => ({ event: "", data }));

/** The reader of a stream, which has said this much. */
function begun(joins: boolean, ...datas: string[]): EventBatches {
  const normalizer = new ChunkNormalizer({ model: "m", keepsFunctionCall: false, random: () => 0, now: () => 0 });
  const batches = new EventBatches({
    parse: parseChunk,
    accept: (value, data) => normalizer.normalize(value) || data.includes("\n") ? { value } : { value, wire: data },
    joins,
  });
  batches.read(eventsOf(...datas));
  return batches;
}

Deno.test("events that arrive together and only say more are one chunk, whose text is a stream's", () => {
  const datas = [...["a", 'quotes: "finish_reason":"stop", "usage":{', "ü\u2028"].map(text), end];
  const { chunks: [joined, ...others], isDone } = begun(true, first).read(eventsOf(...datas));
  const parsed = new SseParser().push(`data: ${joined!.wire}\n\n`);
  assertEquals(parsed.map(({ data }) => data), datas);
  assertEquals([others.length, joined!.more, isDone], [0, undefined, false]);
  const apart = begun(false, first).read(eventsOf(...datas)).chunks;
  assertEquals(apart.map(({ wire, more }) => [wire, more]), datas.map((wire, at) => [wire, at < 3 ? true : undefined]));
});

Deno.test("nothing is joined before the first content, nor to what does not go on as it came", () => {
  const { chunks } = begun(true).read(eventsOf(role, role, first, text("a")));
  assertEquals(chunks.map(({ wire }) => wire), [role, role, `${first}\n\ndata: ${text("a")}`]);
  assertEquals(chunks[2]!.value.choices[0]!.delta.content, "Hi");
  const others = {
    "usage": chunk({ index: 0, delta: { content: "a" }, finish_reason: null }, { usage: { total_tokens: 1 } }),
    "usage alone": JSON.stringify({ choices: [], usage: {} }),
    "no delta": chunk({ index: 0, finish_reason: null }),
    "several lines": text("a").replace(",", ",\n"),
  };
  for (const [name, data] of Object.entries(others)) {
    assertEquals(begun(true, first).read(eventsOf(text("a"), data, text("b"))).chunks.length, 3, name);
  }
});

Deno.test("a chunk waits for what is passed on after it, and not for usage, which is kept for the end", () => {
  const counts = JSON.stringify({ choices: [], usage: { total_tokens: 1 } });
  const moreOf = (...datas: string[]) => begun(true, first).read(eventsOf(...datas)).chunks.map(({ more }) => more);
  assertEquals(moreOf(text("a"), counts), [undefined, undefined]);
  assertEquals(moreOf(text("a"), counts, text("b")), [true, true, undefined]);
  assertEquals(moreOf(text("a"), counts, "[DONE]"), [true, true]);
});

Deno.test("one unreadable event is skipped, also between two reads; two in a row are a failure", () => {
  const broken = text("c").slice(0, -1);
  const batches = begun(true, first);
  const read = (...datas: string[]) => {
    const { chunks, failure } = batches.read(eventsOf(...datas));
    return [chunks.map(({ wire }) => wire), failure !== undefined];
  };
  assertEquals(read(text("a"), broken, text("b"), broken), [[`${text("a")}\n\ndata: ${text("b")}`], false]);
  assertEquals(read(text("d"), broken), [[text("d")], false]);
  assertEquals(read(broken), [[], true]);
});

Deno.test("what comes before an event that fails is kept, and nothing after [DONE] is read", () => {
  const broken = text("c").slice(0, -1);
  const failing = begun(true, first).read(eventsOf(text("a"), text("b"), broken, broken, text("d")));
  assertEquals([failing.chunks.length, failing.chunks[0]!.more, failing.isDone], [1, true, false]);
  assert(failing.failure !== undefined);
  const done = begun(true, first).read(eventsOf(text("a"), "", "[DONE]", "{"));
  assertEquals([done.chunks[0]!.more, done.isDone, done.failure], [true, true, undefined]);
  const { failure } = begun(true, first).read([{ event: "error", data: text("a") }]);
  assert(failure !== undefined);
});
