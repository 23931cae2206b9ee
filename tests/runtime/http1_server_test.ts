/** What the HTTP/1.1 server accepts and rejects, the bytes of its responses, and when it closes connections. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { PlainRequest, PlainResponse, PlainStream, RequestHandler } from "../../src/contracts/shell.ts";

import { OpenResponses } from "../../src/runtime/_open_responses.ts";
import { Http1Server } from "../../src/runtime/http1/server.ts";

import { ServerConnection } from "../../src/runtime/http1/server_connection.ts";
import { happens } from "../support/patience.ts";
import { latin1, ScriptedSocket, settled, toLatin1 } from "./_scripted_socket.ts";

type Plain = NonNullable<RequestHandler["plain"]>;

const sizes = [1, 3, 100_000];
const keptFields = "connection: keep-alive\r\nkeep-alive: timeout=75\r\n";
const lastFields = "connection: close\r\n";
const interim = "HTTP/1.1 100 Continue\r\n\r\n";

function createHandler(plain: Plain): RequestHandler {
  return Object.assign(() => Promise.reject(new Error("the plain handler takes its place")), { plain });
}

/** A server with a connection. Disposal ends both. */
class Fixture implements AsyncDisposable {
  readonly server: Http1Server;
  readonly socket = new ScriptedSocket();

  constructor(plain: Plain | undefined, handler: RequestHandler = createHandler(plain!)) {
    this.server = new Http1Server(handler, () => {});
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
    await happens("the server stops", this.server.stop(0));
    assert(this.socket.isClosed);
  }
}

interface Signalled<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function signalled<Value = void>(): Signalled<Value> {
  let settlers!: Omit<Signalled<Value>, "promise">;
  const promise = new Promise<Value>((resolve, reject) => settlers = { resolve, reject });
  return { promise, ...settlers };
}

const text = (body: PlainResponse["body"], headers: Record<string, string> = {}): PlainResponse => ({
  ...{ status: 200, headers, body },
});

/** A stream whose chunks the test provides. */
class ManualStream implements PlainStream {
  isCancelled = false;
  reads = 0;
  readonly #chunks: Promise<Uint8Array | string | undefined>[] = [];
  #next: Signalled<Uint8Array | string | undefined> | undefined;

  /** @param chunks The first chunks; the stream ends after them if there are any. */
  constructor(...chunks: (Uint8Array | string)[]) {
    for (const chunk of chunks) this.push(chunk);
    if (chunks.length > 0) this.push(undefined);
  }

  /** Provides a chunk; undefined ends the stream. */
  push(chunk: Uint8Array | string | undefined): void {
    if (this.#next === undefined) this.#chunks.push(Promise.resolve(chunk));
    else this.#next.resolve(chunk);
    this.#next = undefined;
  }

  fail(): void {
    this.#next?.reject(new Error("broken off"));
  }

  read(): Promise<Uint8Array | string | undefined> {
    this.reads++;
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return chunk;
    this.#next = signalled();
    return this.#next.promise;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#next?.resolve(undefined);
  }
}

/** A request as a handler sees it. `x`: the value of that header, if any. */
interface Seen {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly x?: string;
}

async function readSeen(request: PlainRequest): Promise<Seen> {
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
  ["a target in absolute form without a path", `GET HTTP://[::1]:80 HTTP/1.1\r\n${host}\r\n`, [
    { ...seenGet, url: "http://a.test/" },
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
  ["a target in absolute form without a host", `GET http:///p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target in absolute form with an invalid host", `GET http://b>test/p HTTP/1.1\r\n${host}\r\n`, 400],
  ["a target in absolute form with credentials", `GET http://a:b@a.test/p HTTP/1.1\r\n${host}\r\n`, 400],
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
  ["data that ends with a carriage return and another byte", "2\r\nhi\rx0\r\n\r\n"],
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
const late = toLatin1(`${get}\r\n`.repeat(3_000));

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
          requests.push(await readSeen(request));
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

  it("with a rejected body: the handler's stream is cancelled", async () => {
    const stream = new ManualStream();
    await using fixture = new Fixture(async (request) => {
      await request.bytes().catch(() => {});
      return text(stream);
    });
    const sent = await fixture.exchange(`${chunked}x`);
    assertEquals(sent, `HTTP/1.1 400 Bad Request\r\n${lastFields}content-length: 0\r\n\r\n`);
    assertEquals([stream.isCancelled, stream.reads], [true, 0]);
  });

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
    await using fixture = new Fixture(undefined, async (request) => {
      requests.push([request.method, request.url, request.headers.get("x"), await request.text()]);
      return new Response("ok", { status: 201, headers: [["set-cookie", "a=1"], ["set-cookie", "b=2"]] });
    });
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

describe("HTTP/1.1 server: expect: 100-continue", () => {
  const head = `${post}Expect: 100-Continue\r\ncontent-length: 2\r\n\r\n`;
  const answer = async (request: PlainRequest) => text((await readSeen(request)).body);
  const response = `HTTP/1.1 200 OK\r\n${keptFields}content-length: 2\r\n\r\nhi`;

  it("an interim response is sent when the handler reads the body", async () => {
    const start = signalled();
    await using fixture = new Fixture(async (request) => {
      await start.promise;
      return await answer(request);
    });
    assertEquals(await fixture.exchange(head, 1), "");
    start.resolve();
    await settled();
    assertEquals(fixture.sent, interim);
    assertEquals(await fixture.exchange("h"), interim);
    assertEquals(await fixture.exchange("i"), interim + response);
    assertEquals(
      await fixture.exchange(`${get}\r\n`),
      `${interim}${response}${response.replace("2\r\n\r\nhi", "0\r\n\r\n")}`,
    );
  });

  it("an interim response is sent once to a handler that reads the body as a stream", async () => {
    await using fixture = new Fixture(async ({ body }) => {
      let whole = "";
      for await (const bytes of body!) whole += latin1(bytes);
      return text(whole);
    });
    assertEquals(await fixture.exchange(head), interim);
    assertEquals(await fixture.exchange("hi", 1), interim + response);
  });

  it("no interim response is sent when a part of the body has been received", async () => {
    await using fixture = new Fixture(answer);
    assertEquals(await fixture.exchange(`${head}h`), "");
    assertEquals(await fixture.exchange("i"), response);
  });

  it("no interim response is sent without a body", async () => {
    await using fixture = new Fixture(answer);
    const sent = await fixture.exchange(`${post}expect: 100-continue\r\ncontent-length: 0\r\n\r\n`);
    assertEquals(sent, response.replace("2\r\n\r\nhi", "0\r\n\r\n"));
  });

  it("no interim response is sent in HTTP/1.0", async () => {
    await using fixture = new Fixture(answer);
    assertEquals(await fixture.exchange(head.replace("HTTP/1.1", "HTTP/1.0")), "");
    assertEquals(await fixture.exchange("hi"), response.replace(keptFields, lastFields));
  });

  it("no interim response is sent when the handler rejects without reading; the connection closes", async () => {
    await using fixture = new Fixture(() => Promise.resolve({ ...text(null), status: 413 }));
    const sent = await fixture.exchange(head);
    assertEquals(sent, `HTTP/1.1 413 Content Too Large\r\n${lastFields}content-length: 0\r\n\r\n`);
    await assertCloses(fixture.socket, "rejected");
  });
});

const long = "0123456789abcdef".repeat(4_096); // 64 KiB
const lengthOf = (value: string) => new TextEncoder().encode(value).length;
const utf8 = (value: string) => latin1(new TextEncoder().encode(value));
const start = `HTTP/1.1 200 OK\r\n`;
const whole = (body: string, fields = "") =>
  `${start}${fields}${keptFields}content-length: ${body.length}\r\n\r\n${body}`;
const head = `HEAD /p HTTP/1.1\r\n${host}\r\n`;
const oldGet = "GET /p HTTP/1.0\r\n\r\n";
const framed = `${start}${keptFields}transfer-encoding: chunked\r\n\r\n`;

const responses: [name: string, request: string, response: () => PlainResponse, bytes: string][] = [
  ["no body", get, () => text(null), whole("")],
  ["an empty string", get, () => text(""), whole("")],
  ["no bytes", get, () => text(new Uint8Array(0)), whole("")],
  ["a string", get, () => text("hi"), whole("hi")],
  ["bytes", get, () => text(toLatin1("\0\xff\r\n")), whole("\0\xff\r\n")],
  ["a string that is not ASCII", get, () => text("dé中🌍"), whole(utf8("dé中🌍"))],
  ["a lone surrogate", get, () => text("\ud800"), whole("\xef\xbf\xbd")],
  ["a string of 64 KiB", get, () => text(long), whole(long)],
  ["a string above 64 KiB", get, () => text(`${long}!`), whole(`${long}!`)],
  ["a string above 64 KiB that is not ASCII", get, () => text(`${long}é`), whole(utf8(`${long}é`))],
  ["bytes of 64 KiB", get, () => text(toLatin1(long)), whole(long)],
  ["bytes above 64 KiB", get, () => text(toLatin1(`${long}\xff`)), whole(`${long}\xff`)],
  ["a header", get, () => text("hi", { "x-a": "1, 2" }), whole("hi", "x-a: 1, 2\r\n")],
  [
    "a header of Latin letters",
    get,
    () => text("é", { "x-a": "d\xe9j\xe0" }),
    whole("\xc3\xa9", "x-a: d\xe9j\xe0\r\n"),
  ],
  [
    "several cookies",
    get,
    () => text(null, { "set-cookie": ["a=1", "b=2"] as unknown as string }),
    whole("", "set-cookie: a=1\r\nset-cookie: b=2\r\n"),
  ],
  [
    "fields that only the server sets",
    get,
    () => text("hi", { connection: "x", "content-length": "9", "transfer-encoding": "chunked", "keep-alive": "x" }),
    whole("hi"),
  ],
  ["connection: close", get, () => text("hi", { connection: "close" }), whole("hi").replace(keptFields, lastFields)],
  [
    "a status without a reason phrase",
    get,
    () => ({ ...text(null), status: 299 }),
    whole("").replace("200 OK", "299 "),
  ],
  ["a string to HEAD", head, () => text("é"), `${start}${keptFields}content-length: 2\r\n\r\n`],
  ["bytes to HEAD", head, () => text(toLatin1(long)), `${start}${keptFields}content-length: 65536\r\n\r\n`],
  ["no body to HEAD", head, () => text(null), `${start}${keptFields}\r\n`],
  [
    "no body, but its length, to HEAD",
    head,
    () => text(null, { "content-length": "12" }),
    `${start}${keptFields}content-length: 12\r\n\r\n`,
  ],
  [
    "no body, but an invalid length, to HEAD",
    head,
    () => text(null, { "content-length": "1\r\nx: y" }),
    `${start}${keptFields}\r\n`,
  ],
  ["204", get, () => ({ ...text(null), status: 204 }), `HTTP/1.1 204 No Content\r\n${keptFields}\r\n`],
  ["204 with a body", get, () => ({ ...text("hi"), status: 204 }), `HTTP/1.1 204 No Content\r\n${keptFields}\r\n`],
  [
    "304",
    get,
    () => ({ ...text(null, { etag: '"a"' }), status: 304 }),
    `HTTP/1.1 304 Not Modified\r\netag: "a"\r\n${keptFields}\r\n`,
  ],
  ["304 to HEAD", head, () => ({ ...text("hi"), status: 304 }), `HTTP/1.1 304 Not Modified\r\n${keptFields}\r\n`],
  ["a string in HTTP/1.0", oldGet, () => text("hi"), whole("hi").replace(keptFields, lastFields)],
  ["a stream", get, () => text(new ManualStream("a", toLatin1("bc"))), `${framed}1\r\na\r\n2\r\nbc\r\n0\r\n\r\n`],
  [
    "a stream with chunks without data",
    get,
    () => text(new ManualStream("", "a", new Uint8Array(0), "b")),
    `${framed}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`,
  ],
  ["a stream that ends at once", get, () => text(new ManualStream("")), `${framed}0\r\n\r\n`],
  [
    "a stream of text that is not ASCII",
    get,
    () => text(new ManualStream("dé中🌍")),
    `${framed}a\r\n${utf8("dé中🌍")}\r\n0\r\n\r\n`,
  ],
  [
    "a stream with chunks of any size",
    get,
    () => text(new ManualStream(long, toLatin1(long + long), "é".repeat(20_000), "x")),
    `${framed}10000\r\n${long}\r\n20000\r\n${long}${long}\r\n${lengthOf("é".repeat(20_000)).toString(16)}\r\n${
      utf8("é".repeat(20_000))
    }\r\n1\r\nx\r\n0\r\n\r\n`,
  ],
  ["a stream in HTTP/1.0", oldGet, () => text(new ManualStream("a", toLatin1("é"))), `${start}${lastFields}\r\na\xe9`],
  ["a stream to HEAD", head, () => text(new ManualStream("a")), framed],
  [
    "a stream to HEAD in HTTP/1.0",
    head.replace("1.1", "1.0"),
    () => text(new ManualStream("a")),
    `${start}${lastFields}\r\n`,
  ],
  [
    "204 with a stream",
    get,
    () => ({ ...text(new ManualStream("a")), status: 204 }),
    `HTTP/1.1 204 No Content\r\n${keptFields}\r\n`,
  ],
];

describe("HTTP/1.1 server: responses", () => {
  for (const [name, request, response, bytes] of responses) {
    it(`with ${name}: exact bytes, however few the socket takes at once`, async () => {
      for (const maxWritten of bytes.length > 10_000 ? [7_001, Infinity] : [1, 7, Infinity]) {
        await using fixture = new Fixture(() => Promise.resolve(response()));
        fixture.socket.maxWritten = maxWritten;
        const sent = await fixture.exchange(request === get ? `${get}\r\n` : request);
        if (bytes.length > 10_000) assert(sent === bytes, `${sent.length} of ${bytes.length} bytes`); // no long diff
        else assertEquals(sent, bytes);
        if (bytes.includes(lastFields)) await assertCloses(fixture.socket, name);
        else assert(await fixture.exchange(request === get ? `${get}\r\n` : request) === bytes + bytes, "again");
      }
    });
  }

  it("have a date, unless the handler sets one", async () => {
    const date = "Sun, 06 Nov 1994 08:49:37 GMT";
    await using fixture = new Fixture(({ method }) => Promise.resolve(text(null, method === "GET" ? {} : { date })));
    await fixture.exchange(`${get}\r\n`);
    const [, now] = /^date: (.*)\r$/m.exec(fixture.socket.sent)!;
    assert(Math.abs(Date.parse(now!) - Date.now()) < 60_000, now);
    await fixture.exchange(`${post}\r\n`);
    assertEquals(fixture.socket.sent.match(/^date: .*(?=\r$)/gm), [`date: ${now}`, `date: ${date}`]);
  });

  for (const value of ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b", "a\x7f", "中"]) {
    it(`with the header value ${JSON.stringify(value)} become a bare 500`, async () => {
      const stream = new ManualStream("a");
      await using fixture = new Fixture(({ method }) =>
        Promise.resolve(text(method === "GET" ? "secret" : stream, { "x-good": "1", "x-bad": value }))
      );
      const failure = `HTTP/1.1 500 Internal Server Error\r\n${keptFields}content-length: 0\r\n\r\n`;
      assertEquals(await fixture.exchange(`${get}\r\n`), failure);
      assertEquals(await fixture.exchange(`${post}\r\n`), failure + failure);
      assert(stream.isCancelled);
    });
  }

  it("of a handler that fails are a bare 500", async () => {
    await using fixture = new Fixture(({ method }) => {
      if (method === "GET") throw new Error("sk-canary");
      return Promise.reject(new Error("sk-canary"));
    });
    const failure = `HTTP/1.1 500 Internal Server Error\r\n${keptFields}content-length: 0\r\n\r\n`;
    assertEquals(await fixture.exchange(`${get}\r\n${post}\r\n`), failure + failure);
  });

  it("whose stream fails end without the last chunk, and the connection closes", async () => {
    const stream = new ManualStream();
    await using fixture = new Fixture(() => Promise.resolve(text(stream)));
    await fixture.exchange(`${get}\r\n${get}\r\n`);
    stream.push("a");
    await settled();
    assertEquals(fixture.sent, `${framed}1\r\na\r\n`);
    stream.fail();
    await settled();
    assertEquals([fixture.sent, fixture.socket.isClosed], [`${framed}1\r\na\r\n`, true]);
  });

  it("are streamed no faster than the client reads", async () => {
    const stream = new ManualStream();
    await using fixture = new Fixture(() => Promise.resolve(text(stream)));
    await fixture.exchange(`${get}\r\n`);
    assertEquals(stream.reads, 1);
    fixture.socket.isFull = true;
    for (const chunk of ["a", "b", undefined]) stream.push(chunk);
    await settled();
    assertEquals([stream.reads, fixture.sent], [1, framed]);
    fixture.socket.drain();
    await settled();
    assertEquals([stream.reads, fixture.sent], [3, `${framed}1\r\na\r\n1\r\nb\r\n0\r\n\r\n`]);
  });

  it("to HEAD, and with 204, cancel their streams", async () => {
    for (const status of [200, 204, 304]) {
      const stream = new ManualStream();
      await using fixture = new Fixture(() => Promise.resolve({ ...text(stream), status }));
      await fixture.exchange(status === 200 ? head : `${get}\r\n`);
      assertEquals([stream.isCancelled, stream.reads], [true, 0], String(status));
    }
  });
});

describe("HTTP/1.1 server: a body that the handler does not read", () => {
  const respond = () => Promise.resolve(text("hi"));

  for (
    const [name, received, missing] of [
      ["with a length", `${post}content-length: 10\r\n\r\n01`, "23456789"],
      ["in chunks", `${chunked}a\r\n01`, "23456789\r\n0\r\n\r\n"],
    ] as const
  ) {
    it(`${name}, received in part: the connection closes after the response, and the rest of the body is dropped`, async () => {
      let calls = 0;
      await using fixture = new Fixture(() => {
        calls++;
        return respond();
      });
      const sent = await fixture.exchange(received);
      assertEquals(sent, whole("hi").replace(keptFields, lastFields));
      const { socket } = fixture;
      assertEquals([socket.isOutputEnded, socket.isClosed], [true, false]);
      await fixture.exchange(`${missing}${get}\r\n`);
      assertEquals(socket.received, received.length + missing.length + get.length + 2, "it is read");
      socket.end();
      await settled();
      assertEquals([calls, fixture.sent, socket.isClosed], [1, sent, true]);
    });

    it(`${name}, received whole: the connection stays open`, async () => {
      for (const size of sizes) {
        const turns = signalled();
        await using fixture = new Fixture(async () => {
          await turns.promise; // until all of it is in the buffer
          return text("hi");
        });
        await fixture.exchange(received + missing);
        turns.resolve();
        await settled();
        assertEquals(fixture.sent, whole("hi"));
        assertEquals(await fixture.exchange(`${get}\r\n`, size), whole("hi") + whole("hi"));
      }
    });

    it(`${name}, read in part: the connection stays open only if the rest has been received`, async () => {
      for (const isWhole of [true, false]) {
        await using fixture = new Fixture(async ({ body }) => {
          for await (const bytes of body!) return text(latin1(bytes).slice(0, 2));
          return text(null);
        });
        const sent = await fixture.exchange(isWhole ? received + missing : received);
        assertEquals(sent, isWhole ? whole("01") : whole("01").replace(keptFields, lastFields));
        if (!isWhole) await assertCloses(fixture.socket, name);
      }
    });
  }

  it("closes the connection after a streamed response", async () => {
    const stream = new ManualStream("a");
    await using fixture = new Fixture(() => Promise.resolve(text(stream)));
    const sent = await fixture.exchange(`${post}content-length: 10\r\n\r\n01`);
    assertEquals(sent, `${framed}1\r\na\r\n0\r\n\r\n`.replace(keptFields, lastFields));
    await assertCloses(fixture.socket, "stream");
  });
});

describe("HTTP/1.1 server: a client that disconnects", () => {
  const ways: [name: string, disconnect: (socket: ScriptedSocket) => void][] = [
    ["closes", (socket) => socket.end()],
    ["resets", (socket) => socket.reset()],
  ];
  for (const [name, disconnect] of ways) {
    it(`(${name}) while the handler works aborts its signal, and gets no response`, async () => {
      const response = signalled<PlainResponse>();
      let signal: PlainRequest["signal"] | undefined;
      await using fixture = new Fixture(async (request) => {
        await request.bytes();
        signal = request.signal;
        return await response.promise;
      });
      await fixture.exchange(`${post}content-length: 2\r\n\r\nhi`);
      assertEquals(signal!.aborted, false);
      disconnect(fixture.socket);
      await settled();
      assertEquals([signal!.aborted, (signal!.reason as Error).name, fixture.socket.isClosed], [
        true,
        "AbortError",
        true,
      ]);
      const stream = new ManualStream();
      response.resolve(text(stream));
      await settled();
      assertEquals([stream.isCancelled, stream.reads, fixture.sent], [true, 0, ""]);
    });

    it(`(${name}) within a body rejects its read and aborts the signal`, async () => {
      const failed: unknown[] = [];
      await using fixture = new Fixture(async (request) => {
        await request.bytes().catch((error: Error) => failed.push(error.name, request.signal.aborted));
        return text("late");
      });
      await fixture.exchange(`${post}content-length: 3\r\n\r\nhi`);
      disconnect(fixture.socket);
      await settled();
      assertEquals([failed, fixture.sent, fixture.socket.isClosed], [["AbortError", true], "", true]);
    });

    it(`(${name}) while a stream is sent cancels it and aborts the signal`, async () => {
      const stream = new ManualStream();
      let signal: PlainRequest["signal"] | undefined;
      await using fixture = new Fixture((request) => {
        signal = request.signal;
        return Promise.resolve(text(stream));
      });
      await fixture.exchange(`${get}\r\n`);
      stream.push("a");
      await settled();
      assertEquals([stream.isCancelled, signal!.aborted], [false, false]);
      disconnect(fixture.socket);
      await settled();
      assertEquals([stream.isCancelled, signal!.aborted, fixture.socket.isClosed], [true, true, true]);
      assertEquals(fixture.sent, `${framed}1\r\na\r\n`);
    });

    it(`(${name}) while idle, or within a head, closes the connection`, async () => {
      for (const bytes of ["", "\r\n", "GET /p", `${get}`, `${get}\r\n`]) {
        let aborted = 0;
        await using fixture = new Fixture(({ signal }) => {
          signal.addEventListener("abort", () => aborted++);
          return Promise.resolve(text("hi"));
        });
        const sent = await fixture.exchange(bytes);
        assertEquals(sent, bytes === `${get}\r\n` ? whole("hi") : "");
        disconnect(fixture.socket);
        await settled();
        assertEquals([fixture.socket.isClosed, fixture.sent, aborted], [true, sent, 0]);
      }
    });
  }

  it("is detected by a write that fails, when its requests fill the buffer", async () => {
    const stream = new ManualStream();
    let signal: PlainRequest["signal"] | undefined;
    await using fixture = new Fixture((request) => {
      signal ??= request.signal;
      return Promise.resolve(text(stream));
    });
    await fixture.exchange(`${get}\r\n${post}content-length: 99\r\n\r\n${"x".repeat(100_000)}`);
    fixture.socket.reset();
    await settled();
    assertEquals(stream.isCancelled, false);
    stream.push("a");
    await settled();
    assertEquals([stream.isCancelled, signal!.aborted, fixture.socket.isClosed], [true, true, true]);
  });

  it("before a body is complete that the handler does not read: its stream is cancelled by a write that fails", async () => {
    const stream = new ManualStream();
    await using fixture = new Fixture(() => Promise.resolve(text(stream)));
    await fixture.exchange(`${post}content-length: 99\r\n\r\n`);
    fixture.socket.reset();
    stream.push("a");
    await settled();
    assertEquals([stream.isCancelled, fixture.socket.isClosed], [true, true]);
  });
});

describe("HTTP/1.1 server: stop()", () => {
  for (const bytes of ["", "\r\n", "GET /p HT", `${get}\r\n`, "BAD\r\n\r\n"]) {
    it(`closes a connection after ${JSON.stringify(bytes)} at once`, async () => {
      await using fixture = new Fixture(() => Promise.resolve(text("hi")));
      await fixture.exchange(bytes);
      await fixture.server.stop(60_000);
      assert(fixture.socket.isClosed);
    });
  }

  it("lets a response in progress end, and closes its connection", async () => {
    const responses = [signalled<PlainResponse>(), signalled<PlainResponse>()];
    let calls = 0;
    await using fixture = new Fixture(() => responses[calls++]!.promise);
    await fixture.exchange(`${get}\r\n${get}\r\n`);
    let isStopped = false;
    const stopped = fixture.server.stop(60_000).then(() => isStopped = true);
    await settled();
    assertEquals([fixture.sent, fixture.socket.isClosed], ["", false]);
    responses[0]!.resolve(text("hi"));
    await settled();
    assertEquals([calls, fixture.sent, isStopped], [1, whole("hi").replace(keptFields, lastFields), false]);
    await assertCloses(fixture.socket, "in progress");
    await stopped;
  });

  it("lets a stream that has begun end, and then closes its connection", async () => {
    const stream = new ManualStream();
    let calls = 0;
    await using fixture = new Fixture(() => {
      calls++;
      return Promise.resolve(text(stream));
    });
    await fixture.exchange(`${get}\r\n${get}\r\n`);
    const stopped = fixture.server.stop(60_000);
    for (const chunk of ["a", undefined]) stream.push(chunk);
    await settled();
    assertEquals([calls, fixture.sent], [1, `${framed}1\r\na\r\n0\r\n\r\n`]);
    await assertCloses(fixture.socket, "stream");
    await stopped;
  });

  it("aborts requests after the grace period", async () => {
    await using fixture = new Fixture(({ signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(text("aborted"))))
    );
    await fixture.exchange(`${get}\r\n`);
    const stopped = fixture.server.stop(0);
    while (fixture.sent === "") await settled();
    assertEquals(fixture.sent, whole("aborted").replace(keptFields, lastFields));
    await assertCloses(fixture.socket, "aborted");
    await stopped;
  });

  it("closes connections that are accepted afterwards", async () => {
    await using fixture = new Fixture(() => Promise.resolve(text("hi")));
    await fixture.server.stop(60_000);
    const late = new ScriptedSocket();
    late.feed(`${get}\r\n`);
    fixture.server.accept(late, () => undefined);
    await settled();
    assertEquals([late.isClosed, late.sent], [true, ""]);
  });

  it("resolves for every caller", async () => {
    await using fixture = new Fixture(() => Promise.resolve(text("hi")));
    await Promise.all([fixture.server.stop(60_000), fixture.server.stop(60_000)]);
    assert(fixture.socket.isClosed);
  });
});

describe("HTTP/1.1 server: time limits", () => {
  /** A connection whose time the test determines. */
  function timed(plain: Plain) {
    const socket = new ScriptedSocket();
    let seconds = 0;
    const connection = new ServerConnection(socket, {
      ...{ open: new OpenResponses(createHandler(plain)), plain, peer: () => undefined },
      ...{ tick: () => seconds, isStopping: () => false },
    });
    const ended = connection.serve();
    /** Lets time pass, second by second. */
    const pass = async (count: number) => {
      for (let second = 0; second < count; second++) {
        seconds++;
        connection.checkTime();
        await settled();
      }
    };
    return { socket, pass, ended };
  }
  const respond = () => Promise.resolve(text("hi"));
  const timeout = `HTTP/1.1 408 Request Timeout\r\n${lastFields}content-length: 0\r\n\r\n`;

  it("a connection without a request closes after 15 s", async () => {
    const { socket, pass, ended } = timed(respond);
    socket.feed("\r\n");
    await pass(15);
    assertEquals(socket.isClosed, false);
    await pass(1);
    assertEquals([socket.isClosed, socket.sent], [true, ""]);
    await ended;
  });

  it("a head that is incomplete after 15 s gets a 408, however often bytes arrive", async () => {
    const { socket, pass, ended } = timed(respond);
    await pass(10);
    for (let second = 0; second < 15; second++) {
      socket.feed(second === 0 ? get : "x");
      await settled();
      await pass(1);
    }
    assertEquals([socket.isClosed, socket.sent], [false, ""]);
    await pass(1);
    assertEquals([socket.isClosed, socket.sent], [true, timeout]);
    await ended;
  });

  it("an idle connection closes after 75 s", async () => {
    const { socket, pass, ended } = timed(respond);
    socket.feed(`${get}\r\n`);
    await settled();
    await pass(75);
    assertEquals(socket.isClosed, false);
    await pass(1);
    assertEquals([socket.isClosed, socket.sent.includes("408")], [true, false]);
    await ended;
  });

  it("a second head has 15 s from its first byte", async () => {
    const { socket, pass, ended } = timed(respond);
    socket.feed(`${get}\r\n`);
    await settled();
    await pass(70);
    socket.feed("G");
    await settled();
    await pass(15);
    assertEquals([socket.isClosed, socket.sent.includes("408")], [false, false]);
    await pass(1);
    assertEquals([socket.isClosed, socket.sent.endsWith(timeout)], [true, true]);
    await ended;
  });

  it("a handler, a stream and the read of a body have none", async () => {
    const stream = new ManualStream();
    const { socket, pass, ended } = timed(async (request) => {
      await request.bytes();
      return text(stream);
    });
    socket.feed(`${post}content-length: 2\r\n\r\nh`);
    await pass(200);
    socket.feed("i");
    await pass(200);
    stream.push("a");
    await pass(200);
    stream.push(undefined);
    await settled();
    assertEquals([socket.isClosed, socket.sent.endsWith("1\r\na\r\n0\r\n\r\n")], [false, true]);
    socket.end();
    await ended;
  });

  it("a client that does not close after the last response is disconnected after 2 s", async () => {
    for (const request of [`${get}connection: close\r\n\r\n`, "BAD\r\n\r\n"]) {
      const { socket, pass, ended } = timed(respond);
      socket.feed(request);
      await settled();
      await pass(2);
      socket.feed("x");
      assertEquals([socket.isOutputEnded, socket.isClosed], [true, false]);
      await pass(1);
      assert(socket.isClosed);
      await ended;
    }
  });

  it("a client that reads no part of its response for 10 minutes is disconnected, and the stream cancelled", async () => {
    const stream = new ManualStream();
    const { socket, pass, ended } = timed(() => Promise.resolve(text(stream)));
    socket.maxWritten = 10;
    socket.feed(`${get}\r\n`);
    await settled();
    socket.isFull = true;
    stream.push("a".repeat(30));
    await pass(600);
    socket.drain();
    socket.isFull = true; // after it has read one part
    await settled();
    await pass(600);
    assert(!socket.isClosed);
    await pass(2);
    assert(socket.isClosed && stream.isCancelled);
    await ended;
  });

  it("a client that reads no refusal is disconnected after 2 s", async () => {
    for (const request of ["GET", "G\n"]) {
      const { socket, pass, ended } = timed(respond);
      socket.isFull = true;
      socket.feed(request);
      await settled();
      await pass(request === "GET" ? 16 + 2 : 2);
      assert(!socket.isClosed);
      await pass(1);
      assert(socket.isClosed);
      await ended;
    }
  });
});
