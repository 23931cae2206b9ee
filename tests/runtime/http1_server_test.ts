/** What the HTTP/1.1 server accepts and rejects, the bytes of its responses, and when it closes connections. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { PlainRequest, PlainResponse, RequestHandler } from "../../src/contracts/shell.ts";

import { Http1Server } from "../../src/runtime/http1/server.ts";

import { bytesOf, latin1, ScriptedSocket, settled } from "./_scripted_socket.ts";

type Plain = NonNullable<RequestHandler["plain"]>;

const sizes = [1, 3, 100_000];
const keptFields = "connection: keep-alive\r\nkeep-alive: timeout=75\r\n";
const lastFields = "connection: close\r\n";
const interim = "HTTP/1.1 100 Continue\r\n\r\n";

function handlerOf(plain: Plain): RequestHandler {
  return Object.assign(() => Promise.reject(new Error("the plain handler takes its place")), { plain });
}

/** A server with a connection. Disposal ends both. */
class Fixture implements AsyncDisposable {
  readonly server: Http1Server;
  readonly socket = new ScriptedSocket();

  constructor(handler: RequestHandler | Plain) {
    const isPlain = "plain" in handler;
    this.server = new Http1Server(isPlain ? handler as RequestHandler : handlerOf(handler as Plain), () => {});
    this.server.accept(this.socket, () => "192.0.2.1");
  }

  /** What has been sent, without the date of each response. */
  get sent(): string {
    return this.socket.sent.replaceAll(/date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/g, "");
  }

  async exchange(text: string, size?: number): Promise<string> {
    this.socket.feed(text, size);
    await settled();
    return this.sent;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.end();
    await this.server.stop(0);
    assert(this.socket.isClosed);
  }
}

interface Signalled<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

const signalled = <Value = void>(): Signalled<Value> => Promise.withResolvers<Value>();

const text = (body: PlainResponse["body"], headers: Record<string, string> = {}): PlainResponse => ({
  ...{ status: 200, headers, body },
});

/** A request as a handler sees it. `x`: the value of that header, if any. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly x?: string;
}

async function seenOf(request: PlainRequest): Promise<Seen> {
  const x = request.headers.get("x");
  const body = latin1(await request.bytes());
  return { method: request.method, url: request.url, body, ...(x === null ? {} : { x }) };
}

const host = "host: a.test\r\n";
const get = `GET /p HTTP/1.1\r\n${host}`;
const post = `POST /p HTTP/1.1\r\n${host}`;
const chunked = `${post}transfer-encoding: chunked\r\n\r\n`;
const [seenGet, seenPost] = ["GET", "POST"].map((method) => ({ method, url: "http://a.test/p", body: "" })) as [
  Seen,
  Seen,
];
const hi: Seen = { ...seenPost, body: "hi" };

const accepted: [name: string, bytes: string, seen: readonly Seen[], isKept: boolean][] = [
  ["no body", `${get}\r\n`, [seenGet], true],
  ["a length", `${post}content-length: 2\r\n\r\nhi`, [hi], true],
  ["a length with zeros before it", `${post}content-length: 002\r\n\r\nhi`, [hi], true],
  ["a length of 0", `${post}content-length: 0\r\n\r\n`, [seenPost], true],
  ["a GET with a length of 0", `${get}content-length: 0\r\n\r\n`, [seenGet], true],
  ["a GET with a body", `${get}content-length: 2\r\n\r\nhi`, [{ ...seenGet, body: "hi" }], true],
  ["a POST without a length", `${post}\r\n`, [seenPost], true],
  ["chunks", `${chunked}2\r\nhi\r\n6\r\n there\r\n0\r\n\r\n`, [{ ...hi, body: "hi there" }], true],
  ["no chunk except the last", `${chunked}0\r\n\r\n`, [seenPost], true],
  ["chunk sizes in any case, with zeros", `${chunked}00A\r\n0123456789\r\n0b\r\n01234567890\r\n000\r\n\r\n`, [
    { ...hi, body: "012345678901234567890" },
  ], true],
  ["chunk extensions", `${chunked}2;name=value\r\nhi\r\n0;last\r\n\r\n`, [hi], true],
  ["trailer fields", `${chunked}2\r\nhi\r\n0\r\nx: 1\r\ncontent-length: 9\r\n\r\n`, [hi], true],
  ["a coding in capitals", `${post}Transfer-Encoding: Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`, [hi], true],
  ["a body with line ends and zeros", `${post}content-length: 7\r\n\r\n\r\n\r\n\0\n\xff`, [
    { ...hi, body: "\r\n\r\n\0\n\xff" },
  ], true],
  ["a body of 20,000 bytes", `${post}content-length: 20000\r\n\r\n${"0123456789".repeat(2_000)}`, [
    { ...hi, body: "0123456789".repeat(2_000) },
  ], true],
  ["blank lines before the request", `\r\n\r\n${get}\r\n`, [seenGet], true],
  ["a blank line after a body", `${post}content-length: 2\r\n\r\nhi\r\n${get}\r\n`, [hi, seenGet], true],
  ["a target in absolute form", `GET http://b.test/q?a=1 HTTP/1.1\r\n${host}\r\n`, [
    { ...seenGet, url: "http://a.test/q?a=1" },
  ], true],
  ["a query", `GET /q?a=%20&b HTTP/1.1\r\n${host}\r\n`, [{ ...seenGet, url: "http://a.test/q?a=%20&b" }], true],
  ["a host with a port", "GET /p HTTP/1.1\r\nhost: a.test:81\r\n\r\n", [
    { ...seenGet, url: "http://a.test:81/p" },
  ], true],
  ["blanks around a value", `${get}x: \t a b\t \r\n\r\n`, [{ ...seenGet, x: "a b" }], true],
  ["no blank before a value", `${get}x:a\r\n\r\n`, [{ ...seenGet, x: "a" }], true],
  ["an empty value", `${get}x:\r\n\r\n`, [{ ...seenGet, x: "" }], true],
  ["a value of blanks", `${get}x: \t \r\n\r\n`, [{ ...seenGet, x: "" }], true],
  ["blanks around a length", `${post}content-length: \t2 \r\n\r\nhi`, [hi], true],
  ["a name in any case", `${get}X: a\r\n\r\n`, [{ ...seenGet, x: "a" }], true],
  ["a repeated field", `${get}x: a\r\ny: -\r\nX: b\r\n\r\n`, [{ ...seenGet, x: "a, b" }], true],
  ["colons in a value", `${get}x: a: b:\r\n\r\n`, [{ ...seenGet, x: "a: b:" }], true],
  ["obs-text in a value", `${get}x: d\xe9j\xe0 \x80\xff\r\n\r\n`, [{ ...seenGet, x: "d\xe9j\xe0 \x80\xff" }], true],
  ["UTF-8 in a value, byte by byte", `${get}x: \xc3\xa9\r\n\r\n`, [{ ...seenGet, x: "\xc3\xa9" }], true],
  ["all kinds of characters of a name", `${get}!#$%&'*+-.^_\`|~09az: -\r\n\r\n`, [seenGet], true],
  ["a head of 16 KiB", `${get}x: ${"a".repeat(16_384 - get.length - 7)}\r\n\r\n`, [
    { ...seenGet, x: "a".repeat(16_384 - get.length - 7) },
  ], true],
  ["another method", `PURGE /p HTTP/1.1\r\n${host}\r\n`, [{ ...seenGet, method: "PURGE" }], true],
  ["HTTP/1.0", "GET /p HTTP/1.0\r\n\r\n", [{ ...seenGet, url: "http://localhost/p" }], false],
  ["HTTP/1.0 with a length", `POST /p HTTP/1.0\r\n${host}content-length: 2\r\n\r\nhi`, [hi], false],
  ["HTTP/1.0 with keep-alive", `GET /p HTTP/1.0\r\n${host}connection: keep-alive\r\n\r\n`, [seenGet], false],
  ["HTTP/1.0 with an expectation", `GET /p HTTP/1.0\r\n${host}expect: magic\r\n\r\n`, [seenGet], false],
  ["connection: close", `${get}connection: close\r\n\r\n`, [seenGet], false],
  ["connection: close in capitals", `${get}Connection: CLOSE\r\n\r\n`, [seenGet], false],
  ["connection: close in a list", `${get}connection: te, Close\r\n\r\n`, [seenGet], false],
  ["connection: close in a list without blanks", `${get}connection: te,close,x\r\n\r\n`, [seenGet], false],
  ["connection: close in a second field", `${get}connection: te\r\nconnection: close\r\n\r\n`, [seenGet], false],
  ["another word that contains close", `${get}connection: closely\r\n\r\n`, [seenGet], true],
  ["connection: keep-alive", `${get}connection: keep-alive\r\n\r\n`, [seenGet], true],
  ["two requests at once", `${post}content-length: 2\r\n\r\nhi${get}\r\n`, [hi, seenGet], true],
  ["a request after chunks", `${chunked}2\r\nhi\r\n0\r\n\r\n${get}\r\n`, [hi, seenGet], true],
  ["a body that looks like a request", `${post}content-length: ${get.length + 2}\r\n\r\n${get}\r\n${get}x: 2\r\n\r\n`, [
    { ...hi, body: `${get}\r\n` },
    { ...seenGet, x: "2" },
  ], true],
  ["a request after the last one", `${get}connection: close\r\n\r\n${get}\r\n`, [seenGet], false],
  ["a request after one in HTTP/1.0", `GET /p HTTP/1.0\r\n${host}\r\n${get}\r\n`, [seenGet], false],
  ["100 requests at once", `${post}content-length: 2\r\n\r\nhi`.repeat(100), Array(100).fill(hi), true],
];

const chunkedField = "transfer-encoding: chunked\r\n";
const noChunk = "0\r\n\r\n";

/** Heads that are rejected. The handler never sees them. */
const refusedHeads: [name: string, bytes: string, status: number][] = [
  ["a method alone", "GET\r\n\r\n", 400],
  ["no target", "GET HTTP/1.1\r\n\r\n", 400],
  ["no version", `GET /p\r\n${host}\r\n`, 505],
  ["version 0.9", `GET /p HTTP/0.9\r\n${host}\r\n`, 505],
  ["version 2.0", `GET /p HTTP/2.0\r\n${host}\r\n`, 505],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
  ["version 1.2", `GET /p HTTP/1.2\r\n${host}\r\n`, 400],
  ["version 3.0", `GET /p HTTP/3.0\r\n${host}\r\n`, 400],
  ["version 1", `GET /p HTTP/1\r\n${host}\r\n`, 400],
  ["version 1.1.1", `GET /p HTTP/1.1.1\r\n${host}\r\n`, 400],
  ["a version in lower case", `GET /p http/1.1\r\n${host}\r\n`, 400],
  ["a word after the version", `GET /p HTTP/1.1 now\r\n${host}\r\n`, 400],
  ["a blank after the version", `GET /p HTTP/1.1 \r\n${host}\r\n`, 400],
  ["two blanks before the target", `GET  /p HTTP/1.1\r\n${host}\r\n`, 400],
  ["two blanks before the version", `GET /p  HTTP/1.1\r\n${host}\r\n`, 400],
  ["a tab in place of a blank", `GET\t/p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a blank before the method", ` ${get}\r\n`, 400],
  ["a tab before the method", `\t${get}\r\n`, 400],
  ["a colon in the method", `G:T /p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target without a slash", `GET p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target of another scheme", `GET ftp://a.test/p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a zero in the target", `GET /p\0 HTTP/1.1\r\n${host}\r\n`, 400],
  ["obs-text in the target", `GET /\xe9 HTTP/1.1\r\n${host}\r\n`, 400],
  ["a carriage return in the target", `GET /p\rx HTTP/1.1\r\n${host}\r\n`, 400],
  ["the start of TLS", "\x16\x03\x01\x02\x00", 400],
  ["a response", "HTTP/1.1 200 OK\r\n\r\n", 400],
  ["no host", "GET /p HTTP/1.1\r\n\r\n", 400],
  ["line feeds alone", "GET /p HTTP/1.1\nhost: a.test\n\n", 400],
  ["a line feed alone after the request line", `GET /p HTTP/1.1\n${host}\r\n`, 400],
  ["a line feed alone after a field", `${get}x: 1\ncontent-length: 2\r\n\r\nhi`, 400],
  ["a line feed alone as the empty line", `${get}\n`, 400],
  ["a line feed before the request", `\n${get}\r\n`, 400],
  ["a carriage return before the request", `\r${get}\r\n`, 400],
  ["a carriage return after a blank line", `\r\n\r\r\n${get}\r\n`, 400],
  ["a carriage return within a value", `${get}x: 1\rcontent-length: 2\r\n\r\n`, 400],
  ["a carriage return before a line end", `${get}x: 1\r\r\n\r\n`, 400],
  ["a carriage return before a name", `${get}\rx: 1\r\n\r\n`, 400],
  ["a folded value", `${get}x: 1\r\n two\r\n\r\n`, 400],
  ["a value folded with a tab", `${get}x: 1\r\n\ttwo\r\n\r\n`, 400],
  ["a folded first field", `GET /p HTTP/1.1\r\n host: a.test\r\n\r\n`, 400],
  ["a folded length", `${post}content-length:\r\n 2\r\n\r\nhi`, 400],
  ["a blank before the colon", `${post}content-length : 2\r\n\r\nhi`, 400],
  ["a tab before the colon", `${post}transfer-encoding\t: chunked\r\n\r\n${noChunk}`, 400],
  ["no colon", `${get}lost\r\n\r\n`, 400],
  ["no name", `${get}: 1\r\n\r\n`, 400],
  ["a blank in a name", `${get}x y: 1\r\n\r\n`, 400],
  ["a zero in a name", `${get}x\0: 1\r\n\r\n`, 400],
  ["obs-text in a name", `${get}\xe9: 1\r\n\r\n`, 400],
  ["a zero in a value", `${get}x: a\0b\r\n\r\n`, 400],
  ["a control character in a value", `${get}x: a\x01b\r\n\r\n`, 400],
  ["a DEL in a value", `${get}x: a\x7fb\r\n\r\n`, 400],
  ["a control character beside obs-text", `${get}x: \xe9\x0b\r\n\r\n`, 400],
  ["a length, then chunks", `${post}content-length: 5\r\n${chunkedField}\r\n${noChunk}`, 400],
  ["chunks, then a length", `${post}${chunkedField}content-length: 5\r\n\r\n${noChunk}`, 400],
  ["a length of 0 and chunks", `${post}content-length: 0\r\n${chunkedField}\r\n${noChunk}`, 400],
  ["a length and a coding that is empty", `${post}content-length: 2\r\ntransfer-encoding:\r\n\r\nhi`, 400],
  ["two lengths", `${post}content-length: 2\r\ncontent-length: 3\r\n\r\nhi!`, 400],
  ["the same length twice", `${post}content-length: 2\r\ncontent-length: 2\r\n\r\nhi`, 400],
  ["two lengths in one field", `${post}content-length: 2, 3\r\n\r\nhi!`, 400],
  ["the same length twice in one field", `${post}content-length: 2, 2\r\n\r\nhi`, 400],
  ["a length and a comma", `${post}content-length: 2,\r\n\r\nhi`, 400],
  ["an empty length", `${post}content-length:\r\n\r\nhi`, 400],
  ["a length with a plus", `${post}content-length: +2\r\n\r\nhi`, 400],
  ["a negative length", `${post}content-length: -2\r\n\r\nhi`, 400],
  ["a hexadecimal length", `${post}content-length: 0x2\r\n\r\nhi`, 400],
  ["a length with a point", `${post}content-length: 2.0\r\n\r\nhi`, 400],
  ["a length with an exponent", `${post}content-length: 2e0\r\n\r\nhi`, 400],
  ["a length with a blank within", `${post}content-length: 1 2\r\n\r\nhi`, 400],
  ["a length with an underscore", `${post}content-length: 1_2\r\n\r\nhi`, 400],
  ["a length with a form feed", `${post}content-length: \x0c2\r\n\r\nhi`, 400],
  ["a length with a no-break space", `${post}content-length: \xa02\r\n\r\nhi`, 400],
  ["a length beyond 2^53", `${post}content-length: 9007199254740993\r\n\r\nhi`, 400],
  ["a length beyond 2^64", `${post}content-length: 18446744073709551618\r\n\r\nhi`, 400],
  ["an empty coding", `${post}transfer-encoding:\r\n\r\n${noChunk}`, 400],
  ["an unknown coding", `${post}transfer-encoding: gzip\r\n\r\nhi`, 400],
  ["identity", `${post}transfer-encoding: identity\r\n\r\nhi`, 400],
  ["a coding before chunks", `${post}transfer-encoding: gzip, chunked\r\n\r\n${noChunk}`, 400],
  ["a coding after chunks", `${post}transfer-encoding: chunked, gzip\r\n\r\n${noChunk}`, 400],
  ["identity after chunks", `${post}transfer-encoding: chunked, identity\r\n\r\n${noChunk}`, 400],
  ["chunks twice in one field", `${post}transfer-encoding: chunked, chunked\r\n\r\n${noChunk}`, 400],
  ["chunks twice", `${post}${chunkedField}${chunkedField}\r\n${noChunk}`, 400],
  ["chunks and another coding in a second field", `${post}${chunkedField}transfer-encoding: x\r\n\r\n${noChunk}`, 400],
  ["a comma before chunks", `${post}transfer-encoding: , chunked\r\n\r\n${noChunk}`, 400],
  ["a comma after chunks", `${post}transfer-encoding: chunked,\r\n\r\n${noChunk}`, 400],
  ["chunks with a parameter", `${post}transfer-encoding: chunked;a=b\r\n\r\n${noChunk}`, 400],
  ["chunks in quotes", `${post}transfer-encoding: "chunked"\r\n\r\n${noChunk}`, 400],
  ["a longer word", `${post}transfer-encoding: xchunked\r\n\r\n${noChunk}`, 400],
  ["a vertical tab before chunks", `${post}transfer-encoding: \x0bchunked\r\n\r\n${noChunk}`, 400],
  ["a letter that folds to k", `${post}transfer-encoding: chun\xe2\x84\xaaed\r\n\r\n${noChunk}`, 400],
  ["chunks in HTTP/1.0", `POST /p HTTP/1.0\r\n${host}${chunkedField}\r\n${noChunk}`, 400],
  ["a length and chunks in HTTP/1.0", `POST /p HTTP/1.0\r\ncontent-length: 2\r\n${chunkedField}\r\nhi`, 400],
  ["an unknown expectation", `${post}expect: magic\r\ncontent-length: 2\r\n\r\nhi`, 417],
  ["two expectations", `${post}expect: 100-continue, magic\r\ncontent-length: 2\r\n\r\nhi`, 417],
  ["an empty expectation", `${post}expect:\r\ncontent-length: 2\r\n\r\nhi`, 417],
  ["a head above 16 KiB", `${get}x: ${"a".repeat(16_384 - get.length - 6)}\r\n\r\n`, 431],
  ["a head without end", `${get}${"x: y\r\n".repeat(3_000)}`, 431],
  ["a target without end", `GET /${"a".repeat(20_000)}`, 431],
];

/** Chunked bodies that are rejected. */
const refusedBodies: [name: string, bytes: string][] = [
  ["a chunk without a size", "\r\nhi\r\n0\r\n\r\n"],
  ["a size that is none", "2g\r\nhi\r\n0\r\n\r\n"],
  ["a size with a plus", "+2\r\nhi\r\n0\r\n\r\n"],
  ["a negative size", "-2\r\nhi\r\n0\r\n\r\n"],
  ["a size with a prefix", "0x2\r\nhi\r\n0\r\n\r\n"],
  ["a size with an underscore", "0_2\r\nhi\r\n0\r\n\r\n"],
  ["a size beyond 2^53", "fffffffffffffff\r\nhi\r\n0\r\n\r\n"],
  ["a size beyond 2^64", "10000000000000002\r\nhi\r\n0\r\n\r\n"],
  ["a blank before a size", " 2\r\nhi\r\n0\r\n\r\n"],
  ["a blank after a size", "2 \r\nhi\r\n0\r\n\r\n"],
  ["a size that ends with a line feed alone", "2\nhi\r\n0\r\n\r\n"],
  ["a size that ends with a carriage return alone", "2\rhi\r\n0\r\n\r\n"],
  ["data longer than the size", "2\r\nhi!\r\n0\r\n\r\n"],
  ["data without a line end", "2\r\nhi0\r\n\r\n"],
  ["data that ends with a line feed alone", "2\r\nhi\n0\r\n\r\n"],
  ["data that ends with a carriage return alone", "2\r\nhi\r0\r\n\r\n"],
  ["data shorter than the size", "3\r\nhi\r\n0\r\n\r\n"],
  ["a line feed in an extension", "2;a\nb\r\nhi\r\n0\r\n\r\n"],
  ["a carriage return in an extension", "2;a\rb\r\nhi\r\n0\r\n\r\n"],
  ["a zero in an extension", "2;a\0\r\nhi\r\n0\r\n\r\n"],
  ["an extension without end", `2;${"a".repeat(17 * 1024)}`],
  ["trailer fields without end", `0\r\n${"x: y\r\n".repeat(4_000)}`],
  ["a trailer field that ends with a line feed alone", "0\r\nx: y\n\r\n"],
  ["a folded trailer field", "0\r\nx: y\r\n z\r\n\r\n"],
  ["a trailer field without a colon", "0\r\nlost\r\n\r\n"],
  ["a blank before the colon of a trailer field", "0\r\nx : y\r\n\r\n"],
  ["a last line with a line feed alone", "0\r\n\n"],
  ["a last line without a line feed", "0\r\n\rx"],
];

/** Requests after the last one, above the size of the buffer. */
const late = bytesOf(`${get}\r\n`.repeat(3_000));

/** Ends of a connection: the server ends its output, reads on, and closes when the client does. */
async function assertCloses(socket: ScriptedSocket, what: string): Promise<void> {
  assertEquals([socket.isOutputEnded, socket.isClosed], [true, false], what);
  socket.feed(late);
  socket.end();
  await settled();
  assert(socket.isClosed, what);
}

describe("HTTP/1.1 server: requests", () => {
  for (const [name, bytes, seen, isKept] of accepted) {
    it(`with ${name}: accepted, in parts of any size`, async () => {
      for (const size of sizes) {
        const requests: Seen[] = [];
        await using fixture = new Fixture(async (request) => {
          requests.push(await seenOf(request));
          return text(`${requests.length}.`);
        });
        const sent = await fixture.exchange(bytes, size);
        const what = `by ${size}`;
        assertEquals(requests, seen, what);
        const response = (_: Seen, index: number) => {
          const body = `${index + 1}.`;
          const fields = !isKept && index === seen.length - 1 ? lastFields : keptFields;
          return `HTTP/1.1 200 OK\r\n${fields}content-length: ${body.length}\r\n\r\n${body}`;
        };
        assertEquals(sent, seen.map(response).join(""), what);
        if (!isKept) await assertCloses(fixture.socket, what);
        assertEquals(requests.length, seen.length, what);
        assertEquals(fixture.socket.isClosed, !isKept, what);
      }
    });
  }

  for (const [name, bytes, status] of refusedHeads) {
    it(`with ${name}: rejected with ${status} before the handler is called`, async () => {
      for (const size of sizes) {
        let calls = 0;
        await using fixture = new Fixture(() => {
          calls++;
          return Promise.resolve(text("called"));
        });
        const sent = await fixture.exchange(bytes, size);
        assertMatch(sent, new RegExp(`^HTTP/1.1 ${status} [\\w ]+\r\nconnection: close\r\ncontent-length: 0\r\n\r\n$`));
        await assertCloses(fixture.socket, `by ${size}`);
        assertEquals([calls, fixture.sent], [0, sent]);
      }
    });
  }

  for (const [name, bytes] of refusedBodies) {
    it(`with ${name}: rejected with 400, whatever the handler responds`, async () => {
      for (const size of sizes) {
        const failed: unknown[] = [];
        let isAborted = false;
        await using fixture = new Fixture(async (request) => {
          await request.bytes().catch((error: Error) => failed.push(error.name));
          isAborted = request.signal.aborted;
          return text("handled");
        });
        const sent = await fixture.exchange(chunked + bytes, size);
        assertEquals([failed, isAborted], [["MalformedMessage"], true], `by ${size}`);
        assertEquals(sent, `HTTP/1.1 400 Bad Request\r\n${lastFields}content-length: 0\r\n\r\n`);
        await assertCloses(fixture.socket, `by ${size}`);
        assertEquals([failed.length, fixture.sent], [1, sent]);
      }
    });

    it(`with ${name} that is not read: no request after it is served`, async () => {
      const urls: string[] = [];
      await using fixture = new Fixture(({ url }) => {
        urls.push(url);
        return Promise.resolve(text("handled"));
      });
      await fixture.exchange(`${chunked}${bytes}GET /smuggled HTTP/1.1\r\n${host}\r\n`);
      await assertCloses(fixture.socket, name);
      assertEquals(urls, ["http://a.test/p"]);
    });
  }

  it("with a rejected head after a good request: the first is answered", async () => {
    await using fixture = new Fixture(() => Promise.resolve(text("1")));
    const sent = await fixture.exchange(`${get}\r\nBAD\r\n\r\n${get}\r\n`);
    const first = `HTTP/1.1 200 OK\r\n${keptFields}content-length: 1\r\n\r\n1`;
    assertEquals(sent, `${first}HTTP/1.1 400 Bad Request\r\n${lastFields}content-length: 0\r\n\r\n`);
    await assertCloses(fixture.socket, "both");
  });

  it("that arrive at once are answered one after the other, in order", async () => {
    const calls: Signalled<PlainResponse>[] = [];
    await using fixture = new Fixture(() => {
      const call = signalled<PlainResponse>();
      calls.push(call);
      return call.promise;
    });
    await fixture.exchange(`${get}\r\n`.repeat(3));
    for (let number = 1; number <= 3; number++) {
      assertEquals(calls.length, number);
      calls[number - 1]!.resolve(text(String(number)));
      await settled();
      assertEquals(fixture.sent.match(/\r\n\r\n\d/g)?.join(""), "123".slice(0, number).replaceAll(/\d/g, "\r\n\r\n$&"));
    }
  });

  it("are seen as objects of the Fetch standard by handlers without a plain one", async () => {
    const requests: unknown[] = [];
    await using fixture = new Fixture(Object.assign(async (request: Request) => {
      requests.push([request.method, request.url, request.headers.get("x"), await request.text()]);
      return new Response("ok", { status: 201, headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] });
    }, { plain: undefined }));
    const sent = await fixture.exchange(`${post}x: a\r\nX: b\r\ncontent-length: 2\r\n\r\nhi`, 1);
    assertEquals(requests, [["POST", "http://a.test/p", "a, b", "hi"]]);
    assertEquals(sent.match(/^set-cookie: .*$/gm), ["set-cookie: a=1", "set-cookie: b=2"]);
    assertEquals(sent.endsWith(`${keptFields}content-length: 2\r\n\r\nok`), true, sent);
  });

  it("have the address of the peer", async () => {
    const peers: unknown[] = [];
    await using fixture = new Fixture((_, peer) => {
      peers.push(peer?.());
      return Promise.resolve(text(null));
    });
    await fixture.exchange(`${get}\r\n`);
    assertEquals(peers, ["192.0.2.1"]);
  });
});
