import { assertEquals } from "@std/assert";
import { PlainEvents } from "../../connectors/providers/_plain_events.ts";
import { SseParser } from "../../src/util/sse_parse.ts";

const chunk = (choice: object, more: object = {}) =>
  JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice], ...more });
const text = (content: string) => chunk({ index: 0, delta: { content }, finish_reason: null });
const first = { id: "x", object: "chat.completion.chunk" as const, created: 1, model: "m" };

function begun(): PlainEvents {
  const plain = new PlainEvents();
  plain.saw({ value: { ...first, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] } });
  return plain;
}

const eventsOf = (...datas: string[]) => datas.map((data) => ({ event: "", data }));

Deno.test("events that only say more are one chunk, whose text is a stream's", () => {
  const datas = ["a", 'quotes: "finish_reason":"stop", "error", "usage":{', "ü\u2028"].map(text);
  const events = eventsOf(...datas, chunk({ index: 0, delta: {}, finish_reason: "stop" }));
  const { value, wire, others } = begun().run(events, 0)!;
  assertEquals({ value, others }, { value: { ...first, choices: [] }, others: 2 });
  const parsed = new SseParser().push(`data: ${wire}\n\n`);
  assertEquals(parsed.map(({ data }) => data), datas);
  assertEquals(begun().run(events, 2)?.others, 0);
});

Deno.test("no event is passed on unread before the first content was read", () => {
  const plain = new PlainEvents();
  assertEquals(plain.run(eventsOf(text("a")), 0), undefined);
  plain.saw({
    value: { ...first, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
  });
  assertEquals(plain.run(eventsOf(text("a")), 0), undefined);
});

Deno.test("an event that says anything else is read", () => {
  const others = {
    "the end": chunk({ index: 0, delta: {}, finish_reason: "stop" }),
    "two answers": chunk({ index: 0, delta: { content: "a" }, finish_reason: null }).replace(
      "]",
      ',{"index":1,"delta":{},"finish_reason":"stop"}]',
    ),
    "another answer": chunk({ index: 1, delta: { content: "a" }, finish_reason: null }),
    "a tool": chunk({ index: 0, delta: { tool_calls: [] }, finish_reason: null }),
    "usage": chunk({ index: 0, delta: { content: "a" }, finish_reason: null }, { usage: { total_tokens: 1 } }),
    "an error": JSON.stringify({ error: { message: "no" } }),
    "an error beside text": chunk({ index: 0, delta: { content: "a" }, finish_reason: null }, { error: {} }),
    "no choices": JSON.stringify({ ...first, choices: [] }),
    "no delta": chunk({ index: 0, finish_reason: null }),
    "cut off": text("a").slice(0, -1),
    "spaced": text("a").replaceAll(":", ": "),
    "several lines": text("a").replace(",", ",\n"),
    "done": "[DONE]",
    "nothing": "",
  };
  for (const [name, data] of Object.entries(others)) {
    assertEquals(begun().run(eventsOf(data), 0), undefined, name);
  }
  assertEquals(begun().run([{ event: "error", data: text("a") }], 0), undefined);
});
