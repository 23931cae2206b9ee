/** Bodies of Deno's `fetch`: what is handed out stays as it is, whatever is read after it. */
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { ByobReader, SentOnce } from "../../src/runtime/_deno_fetch_bodies.ts";

/** A stream of bytes in which byte n is n mod 251, in pieces of these lengths. */
function countingStream(lengths: readonly number[]): ReadableStream<Uint8Array> {
  const left = [...lengths];
  let count = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const length = left.shift();
      if (length === undefined) {
        controller.close();
        controller.byobRequest?.respond(0);
      } else controller.enqueue(Uint8Array.from({ length }, () => count++ % 251));
    },
  });
}

Deno.test("a body is read completely, and its pieces are independent of the buffer", async () => {
  const lengths = [1, 200, 4096, 16_384, 70_000, 3, 65_536, 1];
  const reader = new ByobReader(countingStream(lengths));
  const pieces: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
  }
  const bytes = Buffer.concat(pieces);
  const total = lengths.reduce((sum, length) => sum + length);
  assertEquals(bytes.length, total);
  assert(bytes.every((byte, index) => byte === index % 251));
});

Deno.test("short pieces are read into one buffer", async () => {
  const reader = new ByobReader(countingStream(new Array(20).fill(100)));
  const { value: first } = await reader.read();
  const { value: second } = await reader.read();
  assertEquals([first?.buffer.byteLength, second?.buffer.byteLength], [100, 100]);
  await reader.cancel();
});

Deno.test("a body that is sent once has its length, and no parts to read back", async () => {
  for (const parts of ["grüße", new TextEncoder().encode("grüße"), [new Uint8Array([1]), new Uint8Array([2, 3])]]) {
    const body = new SentOnce(parts);
    const bytes = await new Response(body.stream()).bytes();
    assertEquals(body.size, bytes.length);
    assertEquals(bytes.length, Array.isArray(parts) ? 3 : 7);
  }
});
