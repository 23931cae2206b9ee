import { assertEquals, assertRejects } from "@std/assert";
import type { PlainRequest } from "../../src/contracts/shell.ts";
import { BodyMemory, readRequestBody } from "../../src/proxy/body_reader.ts";
import { HttpError } from "../../src/proxy/error_body.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";

const windowBytes = 5 * 8 * 1024;

/** A body whose bytes the test sends. */
function slowBody(clock: FakeClock, limitMs = 600_000, headers: Record<string, string> = {}) {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  const request = {
    headers: new Headers(headers),
    body,
    signal: new AbortController().signal,
  } as unknown as PlainRequest;
  const memory = new BodyMemory();
  const bounds = {
    maxBytes: 1 << 20,
    limitKey: "body_limit" as const,
    memoryKey: "body_memory" as const,
    memory,
    memoryBytes: 1 << 22,
    client: "c",
    clock,
    startedAt: clock.monotonic(),
    limitMs,
  };
  const reading = readRequestBody(request, bounds);
  let outcome: unknown;
  reading.then(({ length }) => outcome = length, (error) => outcome = error);
  return {
    reading,
    outcome: () => outcome,
    send: (bytes: number) => controller.enqueue(new Uint8Array(bytes)),
    end: () => controller.close(),
    /** Whether all memory is free again. */
    isFree: () => memory.reserve(1 << 20, { memoryBytes: 1 << 22, client: "c" }),
  };
}

Deno.test("A body has longer than 30 s only while it keeps 8 KiB/s", async () => {
  const clock = fakeClock();
  const body = slowBody(clock);
  body.send(6 * windowBytes);
  await clock.advance(30_000);
  for (let window = 0; window < 10; window++) {
    body.send(windowBytes);
    await clock.advance(5_000);
    assertEquals(body.outcome(), undefined, `window ${window}`);
  }
  body.send(windowBytes - 1);
  await clock.advance(4_999);
  assertEquals(body.outcome(), undefined);
  await clock.advance(1);
  const { message, status, code } = await assertRejects(() => body.reading, HttpError);
  assertEquals(message, "The request's body came too slowly: it has 30 s, longer only at 8 KiB/s or more");
  assertEquals([status, code, clock.pending, body.isFree()], [504, "timeout", 0, true]);
});

Deno.test("A body that has not kept 8 KiB/s for its first 30 s is given up, one that is there by then is not", async () => {
  const clock = fakeClock();
  const [slow, quick] = [slowBody(clock), slowBody(clock)];
  for (const body of [slow, quick]) body.send(6 * windowBytes - 1);
  await clock.advance(29_999);
  quick.end();
  await clock.advance(1);
  await assertRejects(() => slow.reading, HttpError);
  assertEquals([(await quick.reading).length, quick.isFree()], [6 * windowBytes - 1, true]);
});

Deno.test("A body that keeps its rate still has to be there by the request's deadline", async () => {
  const clock = fakeClock();
  const body = slowBody(clock, 40_000);
  body.send(1_000_000);
  await clock.advance(39_999);
  assertEquals(body.outcome() instanceof HttpError, true, "nothing came in the second window");
  const steady = slowBody(clock, 32_000);
  steady.send(1_000_000);
  await clock.advance(31_999);
  assertEquals(steady.outcome(), undefined);
  await clock.advance(1);
  const { message } = await assertRejects(() => steady.reading, HttpError);
  assertEquals(message, "The request's body did not arrive within 32000 ms");
});

Deno.test("A body is read whole that is longer than its head declares, as one that was unpacked on its way", async () => {
  for (const declared of ["100000", "70000", "many"]) {
    const body = slowBody(fakeClock(), 600_000, { "content-length": declared });
    for (let chunk = 0; chunk < 4; chunk++) body.send(40_000);
    body.end();
    assertEquals((await body.reading).length, 160_000, declared);
  }
});
