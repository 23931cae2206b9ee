/**
 * What reads bytes: HTTP/1.1, event streams, forms, files, archives, answers.
 * @module
 */
import { EventFrameParser, readEventFrames } from "../../connectors/providers/_event_frames.ts";
import { readJsonObject, readResponseText } from "../../connectors/providers/_base.ts";
import { parseObject, readBytes, readHttpFault, readToEnd } from "../../connectors/providers/_http.ts";
import { readOpenAiError } from "../../connectors/providers/_openai_error.ts";
import { JsonLinesCheck, PeekableContent } from "../../src/infrastructure/content.ts";
import { LineSplitter, readLines } from "../../src/infrastructure/json_lines.ts";
import { readId } from "../../src/infrastructure/object_id.ts";
import { readEntries } from "../../src/registry/_archive.ts";
import { ChunkedDecoder } from "../../src/runtime/http1/chunked.ts";
import { isPersistent, responseFraming } from "../../src/runtime/http1/body.ts";
import { HeadScanner, parseResponseHead } from "../../src/runtime/http1/response_head.ts";
import { createFakeResponse, fakeClock } from "../../src/runtime/test.ts";
import { fromJson, toJson } from "../../src/storage/_formats.ts";
import { readAll, readBody } from "../../src/util/bytes.ts";
import { readFormStream } from "../../src/util/form_stream.ts";
import { readForm } from "../../src/util/multipart.ts";
import { Queue } from "../../src/util/queue.ts";
import { editEvents, splitEvents } from "../../src/proxy/responses/event_text.ts";
import { readSse, SseParser, SseReader } from "../../src/util/sse_parse.ts";
import { event } from "../support/event_frames.ts";
import { drained, type GrowthCase, inChunks, prepared, refusable, times } from "./_case.ts";

const encoder = new TextEncoder();
const bytesOf = (text: string) => encoder.encode(text);

/** A reader of chunks. */
function createReader(chunks: readonly Uint8Array[]) {
  let at = 0;
  return {
    read: () => Promise.resolve(at < chunks.length ? { done: false as const, value: chunks[at++]! } : ended),
    cancel: () => Promise.resolve(),
  };
}

const ended = { done: true as const, value: undefined };
const bytewise = (bytes: Uint8Array) => times(bytes.length, (at) => bytes.subarray(at, at + 1));
const form = (body: string) =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n${body}\r\n--b--\r\n`;

/** Heads, with fields that other parsers took quadratic time for. */
const fieldTexts: readonly ((size: number) => string)[] = [
  (size) => `content-length: 1${" ".repeat(size)}1`,
  (size) => `connection: ${",".repeat(size)}`,
  (size) => `connection: ${"close".repeat(size / 5)}`,
  (size) => `x: ${"\t".repeat(size)}`,
];
const head = (start: string, field: string) => bytesOf(`${start}\r\nhost: a\r\n${field}\r\n\r\n`);
const malformed = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
};

/** Rows of what reads bytes. */
export const wireCases: readonly GrowthCase[] = [
  ...fieldTexts.map((fieldOf) =>
    prepared({
      covers: ["src/runtime/http1/response_head.ts#parseResponseHead"],
      what: "a field",
      size: 4_000,
      input: (size) => head("HTTP/1.1 200 OK", fieldOf(size)),
      work: (bytes) =>
        malformed(() => {
          const parsed = parseResponseHead(bytes, 0, bytes.length);
          return [isPersistent(parsed), responseFraming(parsed, "GET")];
        }),
    })
  ),
  prepared({
    covers: ["src/runtime/http1/response_head.ts#parseResponseHead"],
    what: "fields of one name",
    size: 100,
    input: (size) => head("HTTP/1.1 200 OK", times(size, () => "x: y").join("\r\n")),
    work: (bytes) => times(20, () => parseResponseHead(bytes, 0, bytes.length).fields.get("x")),
  }),
  prepared({
    covers: ["src/runtime/http1/response_head.ts#HeadScanner"],
    what: "a head that arrives in bytes",
    size: 2_000,
    input: (size) => head("HTTP/1.1 200 OK", `x: ${"y".repeat(size)}`),
    work(bytes) {
      const scanner = new HeadScanner();
      const buffer = new Uint8Array(bytes.length * 4); // with space for more, as a connection has
      buffer.set(bytes);
      return bytes.map((_, at) => scanner.find(buffer, 0, at + 1) ?? 0);
    },
  }),
  ...["1\r\nx\r\n", "1;a=b\r\nx\r\n"].map((chunk) =>
    prepared({
      covers: ["src/runtime/http1/chunked.ts#ChunkedDecoder"],
      what: "chunks of a byte",
      size: 4_000,
      input: (size) => bytesOf(`${chunk.repeat(size)}0\r\n\r\n`),
      work(input) {
        const bytes = input.slice();
        return new ChunkedDecoder().decode(bytes, 0, bytes.length);
      },
    })
  ),
  ...Object.entries<(size: number) => string[]>({
    "events in one text": (size) => [`data: {}\n\n`.repeat(size)],
    "a line in many texts": (size) => [...times(size, () => "data: x"), "\n\n"],
    "lines of an event": (size) => times(size, () => "data: x\n"),
    "comments": (size) => times(size, () => ": ping\n\n"),
    "line ends": (size) => times(size, () => "\r"),
  }).flatMap(([what, input]) => [
    prepared({
      covers: ["src/util/sse_parse.ts#SseParser"],
      what,
      size: 8_000,
      input,
      work(texts) {
        const parser = new SseParser();
        for (const text of texts) parser.push(text);
        return parser.unfinished;
      },
    }),
    prepared({
      covers: [
        "src/proxy/responses/event_text.ts#splitEvents",
        "src/proxy/responses/event_text.ts#editEvents",
      ],
      what,
      size: 2_000,
      input: (size) => input(size).join(""),
      work: async (text) => {
        splitEvents(text);
        return await editEvents(text, (event) => Promise.resolve(event));
      },
    }),
    prepared({
      covers: ["src/util/sse_parse.ts#readSse", "src/util/sse_parse.ts#SseReader"],
      what,
      size: 2_000,
      input: (size) => input(size).map(bytesOf),
      work: async (chunks) => {
        await drained(readSse(createReader(chunks)));
        return await new SseReader(createReader(chunks)).read();
      },
    }),
  ]),
  ...[(bytes: Uint8Array) => [bytes], bytewise].map((cut) =>
    prepared({
      covers: [
        "connectors/providers/_event_frames.ts#EventFrameParser",
        "connectors/providers/_event_frames.ts#readEventFrames",
      ],
      what: "frames",
      size: 100,
      input: (size) => cut(new Uint8Array(times(size, () => [...event("ping", {})]).flat())),
      work: async (chunks) => {
        const parser = new EventFrameParser();
        for (const chunk of chunks) parser.push(chunk);
        await drained(readEventFrames(createReader(chunks)));
      },
    })
  ),
  prepared({
    covers: ["connectors/providers/_event_frames.ts#EventFrameParser"],
    what: "a frame that arrives in bytes",
    size: 4_000,
    input: (size) => bytewise(event("ping", { p: "x".repeat(size) })),
    work(chunks) {
      const parser = new EventFrameParser();
      return chunks.map((chunk) => parser.push(chunk).length);
    },
  }),
  ...[
    (size: number) => "\r\n--a".repeat(size / 5),
    (size: number) => "\r".repeat(size),
    (size: number) => "-".repeat(size),
  ].flatMap((body) => [
    prepared({
      covers: ["src/util/multipart.ts#readForm"],
      what: "near boundaries",
      size: 20_000,
      input: (size) => bytesOf(form(body(size))),
      work: (bytes) => readForm(bytes, "b"),
    }),
    prepared({
      covers: ["src/util/form_stream.ts#readFormStream"],
      what: "near boundaries in bytes",
      size: 2_000,
      input: (size) => bytesOf(form(body(size))),
      work: async (bytes) => {
        for await (const part of readFormStream(inChunks(bytes, 1), "b")) await drained(part.bytes);
      },
    }),
  ]),
  prepared({
    covers: ["src/infrastructure/json_lines.ts#LineSplitter", "src/infrastructure/json_lines.ts#readLines"],
    what: "lines in bytes",
    size: 2_000,
    input: (size) => bytesOf(`${"{}\n".repeat(size)}${" ".repeat(size)}`),
    work: async (bytes) => {
      await drained(readLines(inChunks(bytes, 1), 1e9));
      await drained(new JsonLinesCheck(inChunks(bytes, 1), false));
      return [...new LineSplitter(1e9).push(bytes)];
    },
  }),
  prepared({
    covers: ["src/infrastructure/content.ts#PeekableContent"],
    what: "a beginning in bytes",
    size: 16_000,
    input: (size) => new Uint8Array(size),
    work: async (bytes) => {
      const content = new PeekableContent(inChunks(bytes, 1));
      await content.peek(bytes.length);
      await drained(content);
    },
  }),
  prepared({
    covers: ["src/infrastructure/object_id.ts#readId"],
    what: "an id",
    size: 3_000,
    input: (size) => `file-${"A".repeat(size)}`,
    work: (id) => times(20, () => readId(id, "file")),
  }),
  prepared({
    covers: ["src/util/bytes.ts#readAll", "src/util/bytes.ts#readBody"],
    what: "bytes",
    size: 4_000,
    input: (size) => bytewise(new Uint8Array(size)),
    work: async (chunks) => {
      const limit = { maxBytes: 1e9, tooLarge: () => new Error() };
      await readAll(createReader(chunks), limit);
      await readBody(createFakeResponse({ body: chunks.map(() => "x") }), limit);
    },
  }),
  prepared({
    covers: ["src/util/queue.ts#Queue"],
    what: "items",
    size: 20_000,
    input: (size) => size,
    work(size) {
      const queue = new Queue<number>();
      for (let item = 0; item < size; item++) queue.push(item);
      while (queue.length > 0) queue.shift();
    },
  }),
  prepared({
    covers: ["src/registry/_archive.ts#readEntries"],
    what: "an archive that is none",
    size: 30_000,
    input: (size) => bytesOf("PK\x05\x06".repeat(size / 4)),
    work(bytes) {
      try {
        return readEntries(bytes);
      } catch {
        // it is none
      }
    },
  }),
  prepared({
    covers: ["src/storage/_formats.ts#fromJson", "src/storage/_formats.ts#toJson"],
    what: "members",
    size: 2_000,
    input: (size) => bytesOf(JSON.stringify(Object.fromEntries(times(size, (at) => [`m${at}`, at])))),
    work: async (json) => await toJson(await fromJson(json, "json", {} as never), {} as never),
  }),
  ...[
    ["an object", (size: number) => `{"data":[${'{"id":"m"},'.repeat(size)}{}]}`],
    ["a page", (size: number) => `<${" ".repeat(size)}`],
    ["blanks", (size: number) => " ".repeat(size)],
  ].map(([what, bodyOf]) =>
    prepared({
      covers: [
        "connectors/providers/_http.ts#parseObject",
        "connectors/providers/_http.ts#readBytes",
        "connectors/providers/_http.ts#readHttpFault",
        "connectors/providers/_http.ts#readToEnd",
        "connectors/providers/_base.ts#readJsonObject",
        "connectors/providers/_base.ts#readResponseText",
        "connectors/providers/_openai_error.ts#readOpenAiError",
      ],
      what: what as string,
      size: 5_000,
      input: (size) => (bodyOf as (size: number) => string)(size),
      work: async (body) => {
        refusable(() => parseObject(body));
        await readBytes(createFakeResponse({ body }));
        await readToEnd(createFakeResponse({ body }).reader()!);
        await readResponseText(createFakeResponse({ body }));
        await readJsonObject(createFakeResponse({ body })).catch(() => {});
        await readHttpFault(createFakeResponse({ status: 500, body }), { readError: readOpenAiError }, fakeClock());
      },
    })
  ),
];
