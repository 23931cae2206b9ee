import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import type { UpstreamResponse } from "../../src/contracts/runtime.ts";
import { concat, encodePooled, readAll, readBody } from "../../src/util/bytes.ts";

const limit = { maxBytes: 4, tooLarge: () => new RangeError("over 4 bytes") };

/** A reader of chunks that counts what is done with it. */
function createReader(...chunks: readonly number[][]) {
  const left = [...chunks];
  const reader = {
    reads: 0,
    cancels: 0,
    read() {
      reader.reads++;
      const value = left.shift();
      return Promise.resolve(value === undefined ? { done: true } : { done: false, value: Uint8Array.from(value) });
    },
    cancel() {
      reader.cancels++;
      return Promise.reject(new Error("it is over already"));
    },
  };
  return reader;
}

function createResponse(length: string | null, reader: ReturnType<typeof createReader>): UpstreamResponse {
  return {
    status: 200,
    headers: { get: (name) => name === "content-length" ? length : null },
    body: null,
    reader: () => reader as unknown as ReturnType<UpstreamResponse["reader"]>,
    bytes: () => Promise.resolve(Uint8Array.of(9)),
  };
}

Deno.test("concat() puts chunks in a row, and copies none that is alone", () => {
  const alone = Uint8Array.of(1, 2);
  assertStrictEquals(concat([alone]), alone);
  assertEquals(concat([alone, new Uint8Array(), Uint8Array.of(3)]), Uint8Array.of(1, 2, 3));
  assertEquals(concat([]), new Uint8Array());
});

Deno.test("readAll() reads to the end what is as large as may be", async () => {
  assertEquals(await readAll(createReader([1, 2], [], [3, 4]), limit), Uint8Array.of(1, 2, 3, 4));
  assertEquals(await readAll(null, limit), new Uint8Array());
});

Deno.test("readAll() ends a source that is larger, and reads no chunk more", async () => {
  const reader = createReader([1, 2, 3], [4, 5], [6]);
  await assertRejects(() => readAll(reader, limit), RangeError, "over 4 bytes");
  assertEquals([reader.reads, reader.cancels], [2, 1]);
});

Deno.test("readBody() counts only what is not declared to be small enough", async () => {
  assertEquals(await readBody(createResponse("4", createReader()), limit), Uint8Array.of(9));
  assertEquals(await readBody(createResponse(null, createReader([1])), limit), Uint8Array.of(1));
  await assertRejects(
    async () => await readBody(createResponse("5", createReader([1, 2, 3, 4, 5])), limit),
    RangeError,
  );
});

Deno.test("encodePooled() leaves the bytes of earlier texts as they are", () => {
  const texts = Array.from({ length: 60 }, (_, index) => `${index} é😀 ${"x".repeat(index * 30)}`);
  const encoded = texts.map((text) => encodePooled(text));
  assertEquals(encoded.map((bytes) => new TextDecoder().decode(bytes)), texts);
});
