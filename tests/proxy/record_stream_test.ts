import { assertEquals, assertMatch } from "@std/assert";
import { RecordRing } from "../../src/proxy/overview/record_ring.ts";
import { recordStream } from "../../src/proxy/overview/record_stream.ts";
import { fakeClock } from "../../src/runtime/test.ts";

const facts = { isVisible: () => true, isStopping: () => false };

Deno.test("a stream of records begins with the latest 1 000 and a comment, and sends a comment after 15 s of silence", async () => {
  const clock = fakeClock();
  const ring = new RecordRing(clock);
  for (let number = 1; number <= 2_500; number++) ring.emit({ type: "event", pool: String(number) });
  const stream = recordStream(ring, { ...facts, clock, after: 0 });
  const lines = String(await stream.read()).split("\n\n");
  assertEquals([lines.length, lines[1_000]], [1_002, ":"]);
  assertMatch(lines[0]!, /^id: 1501\ndata: \{"type":"event","pool":"1501"\}$/);
  const next = stream.read();
  await clock.advance(15_000);
  assertEquals(await next, ":\n\n");
  const late = stream.read();
  ring.log({ type: "log" });
  assertEquals(await late, 'id: 2501\ndata: {"type":"log"}\n\n');
  stream.cancel();
  assertEquals(await stream.read(), undefined);
  assertEquals(clock.pending, 0);
});

Deno.test("a stream of records ends within a second when the proxy stops, and at once when its reader leaves", async () => {
  const clock = fakeClock();
  const ring = new RecordRing(clock);
  let isStopping = false;
  const stopping = recordStream(ring, { ...facts, clock, after: undefined, isStopping: () => isStopping });
  assertEquals(await stopping.read(), ":\n\n");
  const stopped = stopping.read();
  isStopping = true;
  await clock.advance(1_000);
  assertEquals(await stopped, undefined);
  const left = recordStream(ring, { ...facts, clock, after: undefined });
  assertEquals(await left.read(), ":\n\n");
  const read = left.read();
  left.cancel();
  assertEquals(await read, undefined);
  assertEquals(clock.pending, 0);
});

Deno.test("a stream of records sends no more than 64 KiB and one record at once, all in order", async () => {
  const clock = fakeClock();
  const ring = new RecordRing(clock);
  const pool = "p".repeat(1_000);
  for (let number = 1; number <= 900; number++) ring.emit({ type: "event", pool });
  let ends = 0;
  const stream = recordStream(ring, { ...facts, clock, after: 0, onEnd: () => ends++ });
  const ids: number[] = [];
  let longest = 0;
  while (ids.length < 900) {
    const text = String(await stream.read());
    longest = Math.max(longest, text.length);
    for (const [, id] of text.matchAll(/^id: (\d+)$/gm)) ids.push(Number(id));
  }
  assertEquals(ids, Array.from({ length: 900 }, (_, index) => index + 1));
  assertEquals(longest <= 65 * 1024 + 100, true, String(longest));
  stream.cancel();
  stream.cancel();
  assertEquals([await stream.read(), ends, clock.pending], [undefined, 1, 0]);
});
