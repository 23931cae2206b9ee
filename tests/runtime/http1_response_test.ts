/** What the HTTP/1.1 client takes for a response, and what it refuses: each split byte by byte. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { NetworkError } from "../../src/errors.ts";
import { userAgent } from "../../src/runtime/_user_agent.ts";
import { http1Client } from "../../src/runtime/http1/client.ts";
import type { Socket } from "../../src/runtime/http1/connection.ts";

const decoder = new TextDecoder();

/** What came of a request: status and body, or the first words of the error. */
interface Outcome {
  readonly status?: number;
  readonly text?: string;
  readonly failed?: "invalid" | "cut";
  /** Whether the connection was kept for another request. */
  readonly isKept: boolean;
}

/** A connection on which a server says this, in pieces of so many bytes, and then nothing or the end. */
function scripted(bytes: Uint8Array, { size, ends }: { size: number; ends: boolean }): Socket & { isClosed: boolean } {
  let at = 0;
  return {
    isClosed: false,
    write: (chunk) => Promise.resolve(chunk.length),
    read(into) {
      if (at >= bytes.length) return ends ? Promise.resolve(null) : new Promise(() => {});
      const piece = bytes.subarray(at, at + Math.min(size, into.length));
      into.set(piece);
      at += piece.length;
      return Promise.resolve(piece.length);
    },
    close() {
      this.isClosed = true;
    },
  };
}

async function readOutcome(said: string, { size = 1, ends = true, method = "POST" } = {}): Promise<Outcome> {
  const bytes = Uint8Array.from(said, (char) => char.charCodeAt(0));
  const socket = scripted(bytes, { size, ends });
  const send = http1Client({ connect: () => Promise.resolve(socket) });
  try {
    const answer = await send({ url: "http://provider.test/v1", method, headers: {}, body: "{}" });
    const text = decoder.decode(await answer.bytes!());
    return { status: answer.status, text, isKept: !socket.isClosed };
  } catch (error) {
    assert(NetworkError.isInstance(error) && !error.neverSent, String(error));
    return { failed: /not valid HTTP/.test(error.message) ? "invalid" : "cut", isKept: !socket.isClosed };
  }
}

const ok = "HTTP/1.1 200 OK\r\n";
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

const taken: [name: string, said: string, status: number, text: string, isKept: boolean][] = [
  ["a length", `${ok}content-length: 2\r\n\r\nhi`, 200, "hi", true],
  ["a length of none", `${ok}content-length: 0\r\n\r\n`, 200, "", true],
  ["the same length twice", `${ok}content-length: 2\r\ncontent-length: 2\r\n\r\nhi`, 200, "hi", true],
  ["the same length in one field", `${ok}content-length: 2, 2\r\n\r\nhi`, 200, "hi", true],
  ["blanks around a length", `${ok}content-length: \t2 \r\n\r\nhi`, 200, "hi", true],
  ["no reason phrase", "HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nhi", 200, "hi", true],
  ["an empty reason phrase", "HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nhi", 200, "hi", true],
  ["a reason phrase of Latin letters", "HTTP/1.1 200 d\xe9j\xe0\r\ncontent-length: 2\r\n\r\nhi", 200, "hi", true],
  ["a field without a value", `${ok}x-empty:\r\ncontent-length: 2\r\n\r\nhi`, 200, "hi", true],
  ["no length: all until the end", `${ok}\r\nhi there`, 200, "hi there", false],
  ["chunks", `${chunked}2\r\nhi\r\n6\r\n there\r\n0\r\n\r\n`, 200, "hi there", true],
  [
    "sizes in any case, with zeros",
    `${chunked}00A\r\n0123456789\r\n0b\r\n01234567890\r\n000\r\n\r\n`,
    200,
    "012345678901234567890",
    true,
  ],
  ["chunk extensions", `${chunked}2;name=value\r\nhi\r\n0;last\r\n\r\n`, 200, "hi", true],
  ["trailer fields", `${chunked}2\r\nhi\r\n0\r\nx-sum: 1\r\nx-more: 2\r\n\r\n`, 200, "hi", true],
  ["no chunk at all", `${chunked}0\r\n\r\n`, 200, "", true],
  ["a coding in capitals", `${ok}Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n`, 200, "", true],
  [
    "interim answers",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok}content-length: 2\r\n\r\nhi`,
    200,
    "hi",
    true,
  ],
  ["204", "HTTP/1.1 204 No Content\r\n\r\n", 204, "", true],
  ["204 with a length of none", "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n", 204, "", true],
  ["304 with the length it would have", "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n", 304, "", true],
  ["the server closes", `${ok}connection: close\r\ncontent-length: 2\r\n\r\nhi`, 200, "hi", false],
  ["the server closes, among others", `${ok}connection: x, Close\r\ncontent-length: 2\r\n\r\nhi`, 200, "hi", false],
  ["another word with that in it", `${ok}connection: closely\r\ncontent-length: 2\r\n\r\nhi`, 200, "hi", true],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi", 200, "hi", false],
  [
    "HTTP/1.0 that would be kept",
    "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi",
    200,
    "hi",
    false,
  ],
  [
    "bytes behind the answer",
    `${ok}content-length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
    200,
    "hi",
    false,
  ],
  ["bytes behind the last chunk", `${chunked}2\r\nhi\r\n0\r\n\r\nmore`, 200, "hi", false],
];

const refused: [name: string, said: string][] = [
  ["another protocol", "SSH-2.0-OpenSSH\r\n"],
  ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
  ["a version without a minor", "HTTP/1 200 OK\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 99 What\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 What\r\n\r\n"],
  ["a status from zero", "HTTP/1.1 020 What\r\n\r\n"],
  ["a status of letters", "HTTP/1.1 2OO OK\r\n\r\n"],
  ["two blanks before the status", "HTTP/1.1  200 OK\r\n\r\n"],
  ["a control character in the reason", "HTTP/1.1 200 O\0K\r\n\r\n"],
  ["line feeds alone", "HTTP/1.1 200 OK\ncontent-length: 2\n\nhi"],
  ["one line feed alone", `${ok}x: 1\ncontent-length: 2\r\n\r\nhi`],
  ["a carriage return within a field", `${ok}x: 1\rcontent-length: 2\r\n\r\n`],
  ["a folded field", `${ok}x: 1\r\n two\r\ncontent-length: 2\r\n\r\nhi`],
  ["a field folded at the start", `${ok} x: 1\r\n\r\n`],
  ["a blank before the colon", `${ok}content-length : 2\r\n\r\nhi`],
  ["a name of none", `${ok}: 2\r\n\r\nhi`],
  ["no colon", `${ok}content-length\r\n\r\nhi`],
  ["a control character in a value", `${ok}x: a\x01b\r\n\r\n`],
  ["a zero in a value", `${ok}x: a\0b\r\n\r\n`],
  ["a length and chunks", `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["chunks and a length", `${ok}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n0\r\n\r\n`],
  ["two lengths", `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\nhi!`],
  ["two lengths in one field", `${ok}content-length: 2, 3\r\n\r\nhi!`],
  ["an empty length", `${ok}content-length:\r\n\r\nhi`],
  ["a length with a sign", `${ok}content-length: +2\r\n\r\nhi`],
  ["a negative length", `${ok}content-length: -2\r\n\r\nhi`],
  ["a hexadecimal length", `${ok}content-length: 0x2\r\n\r\nhi`],
  ["a broken length", `${ok}content-length: 2.0\r\n\r\nhi`],
  ["a length beyond 2^53", `${ok}content-length: 9007199254740993\r\n\r\nhi`],
  ["an unknown coding", `${ok}transfer-encoding: gzip\r\n\r\nhi`],
  ["a coding before chunks", `${ok}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ["chunks twice", `${ok}transfer-encoding: chunked, chunked\r\n\r\n0\r\n\r\n`],
  ["a coding with something behind it", `${ok}transfer-encoding: chunked\x0b\r\n\r\n0\r\n\r\n`],
  ["chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a body of 204", "HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nhi"],
  ["chunks of 204", "HTTP/1.1 204 No Content\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a body of an interim answer", `HTTP/1.1 100 Continue\r\ncontent-length: 2\r\n\r\nhi${ok}\r\n`],
  ["an interim answer in HTTP/1.0", `HTTP/1.0 100 Continue\r\n\r\n${ok}content-length: 2\r\n\r\nhi`],
  ["another protocol to switch to", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n"],
  ["nine interim answers", "HTTP/1.1 100 Continue\r\n\r\n".repeat(9) + `${ok}content-length: 2\r\n\r\nhi`],
  ["a head that is too long", `${ok}x: ${"a".repeat(65 * 1024)}\r\n\r\n`],
  ["a chunk without a size", `${chunked}\r\nhi\r\n0\r\n\r\n`],
  ["a size that is none", `${chunked}2g\r\nhi\r\n0\r\n\r\n`],
  ["a negative size", `${chunked}-2\r\nhi\r\n0\r\n\r\n`],
  ["a size with a prefix", `${chunked}0x2\r\nhi\r\n0\r\n\r\n`],
  ["a size beyond 2^53", `${chunked}fffffffffffffff\r\nhi\r\n0\r\n\r\n`],
  ["a size behind a line feed alone", `${chunked}2\nhi\r\n0\r\n\r\n`],
  ["more data than the size says", `${chunked}2\r\nhi!\r\n0\r\n\r\n`],
  ["data that ends with a line feed alone", `${chunked}2\r\nhi\n0\r\n\r\n`],
  ["a line feed in an extension", `${chunked}2;a\nb\r\nhi\r\n0\r\n\r\n`],
  ["a carriage return in an extension", `${chunked}2;a\rb\r\nhi\r\n0\r\n\r\n`],
  ["an extension without end", `${chunked}2;${"a".repeat(17 * 1024)}`],
  ["trailer fields without end", `${chunked}0\r\n${"x: y\r\n".repeat(4_000)}`],
  ["a trailer that ends with a line feed alone", `${chunked}0\r\nx: y\n\r\n`],
  ["a folded trailer field", `${chunked}0\r\n x: y\r\n\r\n`],
  ["a trailer field without a colon", `${chunked}0\r\nx-\r\num: 1\r\n\r\n`],
  ["a blank behind a size", `${chunked}2 \r\nhi\r\n0\r\n\r\n`],
  ["a last line that ends otherwise", `${chunked}0\r\n\rx`],
];

const cut: [name: string, said: string][] = [
  ["nothing", ""],
  ["half a status line", "HTTP/1.1 2"],
  ["no empty line", `${ok}content-length: 2\r\n`],
  ["a body that is too short", `${ok}content-length: 3\r\n\r\nhi`],
  ["no last chunk", `${chunked}2\r\nhi\r\n`],
  ["half a chunk", `${chunked}5\r\nhi`],
  ["no end of the last chunk", `${chunked}2\r\nhi\r\n0\r\n`],
  ["an interim answer alone", "HTTP/1.1 100 Continue\r\n\r\n"],
];

const sizes = [1, 2, 3, 7, 100_000];

Deno.test("HTTP/1.1 client: responses that are taken, in pieces of any size", async () => {
  for (const [name, said, status, text, isKept] of taken) {
    for (const size of sizes) {
      // a connection that stays open: only a body until the end needs its end
      const outcome = await readOutcome(said, { size, ends: text === "hi there" && !isKept });
      const isWhole = size >= said.length || name.startsWith("bytes behind") === false;
      assertEquals(outcome, { status, text, isKept: isWhole ? isKept : outcome.isKept }, `${name}, by ${size}`);
    }
  }
});

Deno.test("HTTP/1.1 client: responses that are refused, whose connections are closed", async () => {
  for (const [name, said] of refused) {
    for (const size of sizes) {
      assertEquals(
        await readOutcome(said, { size, ends: false }),
        { failed: "invalid", isKept: false },
        `${name}, by ${size}`,
      );
    }
  }
});

Deno.test("HTTP/1.1 client: a connection that ends before its response does is not an end of the response", async () => {
  for (const [name, said] of cut) {
    for (const size of sizes) {
      assertEquals(await readOutcome(said, { size }), { failed: "cut", isKept: false }, `${name}, by ${size}`);
    }
  }
});

Deno.test("HTTP/1.1 client: no cut of a response is taken for its end", async () => {
  for (const [name, said, status, text] of taken) {
    if (text === "hi there" && !said.includes("chunked") || name.startsWith("bytes behind")) continue;
    for (let length = 0; length < said.length; length++) {
      const { failed } = await readOutcome(said.slice(0, length), { size: 100_000 });
      assertEquals(failed, "cut", `${name} (${status}) after ${length} bytes`);
    }
  }
});

Deno.test("HTTP/1.1 client: content codings are known by their names in any case, and by nothing else", async () => {
  const outcome = await readOutcome(`${ok}content-encoding: constructor\r\ncontent-length: 2\r\n\r\nhi`, {
    ends: false,
  });
  assertEquals(outcome, { status: 200, text: "hi", isKept: true });
  const gzip = new Blob(["hello"]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(gzip).arrayBuffer());
  const said = `${ok}content-encoding: GZip\r\ncontent-length: ${bytes.length}\r\n\r\n${String.fromCharCode(...bytes)}`;
  assertEquals((await readOutcome(said, { size: 7, ends: false })).text, "hello");
});

Deno.test("HTTP/1.1 client: header fields are sent once, whatever the case of their names", async () => {
  const socket = scripted(Uint8Array.from(`${ok}content-length: 0\r\n\r\n`, (char) => char.charCodeAt(0)), {
    size: 100,
    ends: false,
  });
  let sent = "";
  const watched = Object.assign(Object.create(socket), {
    write(chunk: Uint8Array) {
      sent += decoder.decode(chunk);
      return Promise.resolve(chunk.length);
    },
  });
  const headers = { "Content-Length": "7", Connection: "close", Host: "other.test", "Accept-Encoding": "gzip" };
  await http1Client({ connect: () => Promise.resolve(watched) })({ url: "http://provider.test/", headers, body: "{}" });
  const fields = `Host: other.test\r\nAccept-Encoding: gzip\r\nuser-agent: ${userAgent}\r\ncontent-length: 2\r\n\r\n{}`;
  assertEquals(sent, `POST / HTTP/1.1\r\n${fields}`);
});

Deno.test("HTTP/1.1 client: a response to HEAD has no body, whatever its length says", async () => {
  const outcome = await readOutcome(`${ok}content-length: 100\r\n\r\n`, { method: "HEAD", ends: false });
  assertEquals(outcome, { status: 200, text: "", isKept: true });
});

Deno.test("HTTP/1.1 client: a body that has been received is text if its bytes are those of the text", async () => {
  const cases: readonly (readonly [bytes: readonly number[], length: number, text: string | undefined])[] = [
    [[0x68, 0xc3, 0xa9], 3, "hé"],
    [[], 0, undefined],
    [[0x68, 0x69], 3, undefined], // not complete
    [[0x68, 0xe9], 2, undefined], // no UTF-8
    [[0xef, 0xbf, 0xbd], 3, undefined], // what replaces such bytes
    [[0xef, 0xbb, 0xbf, 0x68], 4, undefined], // a byte order mark
  ];
  const coded = (body: readonly number[]) => [0x30 + body.length, 13, 10, ...body, 13, 10];
  const end = [0x30, 13, 10, 13, 10];
  for (const [body, length, text] of cases) {
    const chunks = body.length === 0 ? end : [...coded(body), ...(body.length === length ? end : [])];
    for (
      const [field, sent] of [[`content-length: ${length}`, body], ["transfer-encoding: chunked", chunks]] as const
    ) {
      const head = [...`${ok}${field}\r\n\r\n`].map((char) => char.charCodeAt(0));
      const socket = scripted(Uint8Array.from([...head, ...sent]), { size: 1000, ends: true });
      const send = http1Client({ connect: () => Promise.resolve(socket) });
      const response = await send({ url: "http://provider.test/v1", headers: {}, body: "{}" });
      assertEquals(response.receivedText!(), text);
      if (body.length < length) await assertRejects(async () => await response.bytes!(), NetworkError);
      else if (text === undefined) assertEquals([...await response.bytes!()], [...body]);
    }
  }
});
