import { assertEquals, assertThrows } from "@std/assert";
import { readSse, type SseEvent, SseParser } from "../../src/util/sse_parse.ts";

/** What the WHATWG standard says of each input; `data` of the events in order. */
const cases: readonly (readonly [name: string, input: string, data: readonly string[]])[] = [
  ["LF ends lines", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["CRLF ends lines", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR ends lines", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["line ends may be mixed", "data: a\r\n\ndata: b\r\r\ndata: c\n\r", ["a", "b", "c"]],
  ["data lines join by LF", "data: a\ndata: b\n\n", ["a\nb"]],
  ["one leading space goes", "data:a\n\ndata:  b\n\n", ["a", " b"]],
  ["comments are ignored", ": ping\n\ndata: a\n:x\n\n", ["a"]],
  ["unknown fields are ignored", "id: 1\nretry: 5\nfoo: x\ndata: a\n\n", ["a"]],
  ["a field without colon has no value", "data\n\ndata\ndata\n\n", ["", "\n"]],
  ["an event without data is none", "event: x\n\ndata: a\n\n", ["a"]],
  ["an unterminated last event is dropped", "data: a\n\ndata: b\n", ["a"]],
  ["four-byte characters survive", "data: 😀é\n\n", ["😀é"]],
];

Deno.test("SseParser reads what the standard says, wherever the text is cut", () => {
  for (const [name, input, expected] of cases) {
    for (let cut = 0; cut <= input.length; cut++) {
      const parser = new SseParser();
      const events = [...parser.push(input.slice(0, cut)), ...parser.push(input.slice(cut))];
      assertEquals(events.map(({ data }) => data), expected, `${name}, cut at ${cut}`);
    }
  }
});

Deno.test("readSse reads what the standard says, wherever the bytes are cut, from a buffer that is used again", async () => {
  const input = new TextEncoder().encode("\ufeffdata: 😀é\n\n\ufeffdata: no field\n\ndata: \ufeff\n\n");
  for (let cut = 0; cut <= input.length; cut++) {
    const buffer = new Uint8Array(input.length);
    const parts = [input.subarray(0, cut), input.subarray(cut)];
    let isLent = false;
    const reader = {
      lend: () => void (isLent = true),
      read() {
        const part = parts.shift();
        if (part === undefined) return Promise.resolve({ done: true as const, value: undefined });
        buffer.fill(0).set(part);
        return Promise.resolve({ done: false as const, value: buffer.subarray(0, part.length) });
      },
      cancel: () => Promise.resolve(),
    };
    const events: SseEvent[] = [];
    for await (const batch of readSse(reader)) events.push(...batch);
    assertEquals(events.map(({ data }) => data), ["😀é", "\ufeff"], `cut at ${cut}`);
    assertEquals(isLent, true);
  }
});

Deno.test("SseParser keeps the event's name", () => {
  const parser = new SseParser();
  assertEquals(parser.push("event: error\ndata: x\n\ndata: y\n\n"), [
    { event: "error", data: "x" },
    { event: "", data: "y" },
  ]);
});

Deno.test("SseParser refuses an event without end", () => {
  const parser = new SseParser();
  const piece = `data: ${"x".repeat(1024 * 1024)}\n`;
  assertThrows(() => {
    for (let n = 0; n < 5; n++) parser.push(piece);
  }, "over 4 MiB");
});

async function read(bytes: Uint8Array, size: number): Promise<SseEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const events: SseEvent[] = [];
  for await (const event of readSse(body.getReader())) events.push(...event);
  return events;
}

Deno.test("readSse drops one byte order mark, decodes cut characters and ends with the event that was cut off", async () => {
  const bytes = new TextEncoder().encode("\uFEFFdata: 😀\n\nevent: end\ndata: [DONE]");
  for (let size = 1; size < 9; size++) {
    assertEquals(await read(bytes, size), [{ event: "", data: "😀" }, { event: "end", data: "[DONE]" }]);
  }
});

Deno.test("readSse cancels its body when the loop is left", async () => {
  let reason: unknown = "not cancelled";
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode("data: a\n\n")),
    cancel: (why) => void (reason = why),
  });
  for await (const _ of readSse(body.getReader())) break;
  assertEquals(reason, undefined);
});
