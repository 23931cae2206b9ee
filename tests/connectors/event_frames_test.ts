import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { crc32 } from "node:zlib";
import { type EventFrame, EventFrameParser, readEventFrames } from "../../connectors/providers/_event_frames.ts";
import { crc32 as ourCrc32 } from "../../connectors/providers/_event_frames.ts";
import { UpstreamError } from "../../src/errors.ts";
import { eventFrame } from "../support/event_frames.ts";

interface Vector {
  name: string;
  bytes: string;
  headers: Record<string, string>;
  body: string;
}

const vectors: { good: Vector[]; damaged: Vector[] } = JSON.parse(
  await Deno.readTextFile(new URL("../fixtures/aws/event_stream.json", import.meta.url)),
);

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function readable({ headers, body }: EventFrame): [Record<string, string>, string] {
  return [Object.fromEntries(headers), new TextDecoder().decode(body)];
}

Deno.test("AWS's messages are read, whole and byte by byte", () => {
  for (const { bytes, headers, body } of vectors.good) {
    assertEquals(new EventFrameParser().push(fromHex(bytes)).map(readable), [[headers, body]]);
    const parser = new EventFrameParser();
    const frames = [...fromHex(bytes)].flatMap((byte) => parser.push(Uint8Array.of(byte)));
    assertEquals(frames.map(readable), [[headers, body]]);
    assertEquals(parser.isBetweenFrames, true);
  }
});

Deno.test("messages that arrive together are read in order, with what begins the next", () => {
  const all = fromHex(vectors.good.map(({ bytes }) => bytes).join(""));
  const parser = new EventFrameParser();
  const frames = [...parser.push(all.subarray(0, 70)), ...parser.push(all.subarray(70))];
  assertEquals(frames.map(readable), vectors.good.map(({ headers, body }) => [headers, body]));
});

Deno.test("AWS's damaged messages are refused", () => {
  for (const { bytes, name } of vectors.damaged) {
    const error = assertThrows(() => new EventFrameParser().push(fromHex(bytes)), UpstreamError, "is damaged", name);
    assertEquals(error.kind, "invalid_response");
  }
});

Deno.test("a message over 16 MiB is refused by its prelude, and lengths and headers have to fit", () => {
  const prelude = (length: number, headers: number) => {
    const bytes = new Uint8Array(12);
    const view = new DataView(bytes.buffer);
    view.setUint32(0, length);
    view.setUint32(4, headers);
    view.setUint32(8, crc32(bytes.subarray(0, 8)));
    return bytes;
  };
  assertThrows(() => new EventFrameParser().push(prelude(16 * 1024 * 1024 + 1, 0)), UpstreamError, "over 16777216");
  assertThrows(() => new EventFrameParser().push(prelude(0, 0)), UpstreamError, "a length is wrong");
  assertThrows(() => new EventFrameParser().push(prelude(20, 5)), UpstreamError, "a length is wrong");
  const withHeaders = (...head: number[]) => {
    const bytes = new Uint8Array([...prelude(16 + head.length, head.length), ...head, 0, 0, 0, 0]);
    new DataView(bytes.buffer).setUint32(bytes.length - 4, crc32(bytes.subarray(0, -4)));
    return bytes;
  };
  for (const [head, reason] of [[[5, 97], "cut off"], [[1, 97, 7, 0, 9, 97], "cut off"], [[1, 97, 12], "type"]]) {
    assertThrows(() => new EventFrameParser().push(withHeaders(...head as number[])), UpstreamError, reason as string);
  }
  const kinds = [1, 97, 0, 1, 98, 2, 5, 1, 99, 3, 1, 1, 1, 100, 6, 0, 1, 7, 1, 101, 8, 0, 0, 0, 0, 0, 0, 0, 0];
  assertEquals(new EventFrameParser().push(withHeaders(...kinds, 1, 102, 7, 0, 1, 122)).map(readable), [[
    { f: "z" },
    "",
  ]]);
});

Deno.test("crc32() is gzip's", () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, index) => index * 7 & 255);
  assertEquals(ourCrc32(bytes), crc32(bytes));
});

Deno.test("a body that ends within a message is damaged, and one that is left is cancelled", async () => {
  const frame = eventFrame({ a: "b" }, "c");
  const body = () => ReadableStream.from([frame, frame.subarray(0, 5)]).getReader();
  await assertRejects(
    async () => {
      for await (const _ of readEventFrames(body()));
    },
    UpstreamError,
    "it ended within an event",
  );
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(frame),
    cancel: () => void (cancelled = true),
  });
  for await (const frames of readEventFrames(endless.getReader())) if (frames.length > 0) break;
  assertEquals(cancelled, true);
});
