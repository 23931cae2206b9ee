/**
 * The HTTP/1.1 server against clients that send all kinds of requests, valid and damaged: compared with `node:http`,
 * and checked for bytes of one request that reach another one.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { Buffer } from "node:buffer";
import { createServer, METHODS } from "node:http";
import { connect } from "node:net";
import process from "node:process";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import { describe, it } from "@std/testing/bdd";
import { listen } from "../../proxy.ts";
import type { PlainRequest, PlainResponse, RequestHandler } from "../../src/contracts/shell.ts";
import type { Exchange } from "../../src/runtime/http1/exchange.ts";
import { Http1Server } from "../../src/runtime/http1/server.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { happens } from "../support/patience.ts";
import { latin1, ScriptedSocket, settled, toLatin1 } from "../runtime/_scripted_socket.ts";

/** Number of cases, the seed of the first one, and number of requests that are checked for bytes of others. */
const cases = Number(process.env.MODELMESH_TEST_CASES ?? 20_000);
const firstSeed = Number(process.env.MODELMESH_TEST_SEED ?? 1);
const requests = Number(process.env.MODELMESH_TEST_REQUESTS ?? 20_000);

/** Connections that are open at once. */
const atOnce = 32;

/**
 * What `node:http` rejects although it changes nothing about where a request ends: other chunk extensions, and trailer
 * fields about a length, which the server drops.
 */
const stricterInNode = /;(?!a=b\r\n)|\r\n0+(;a=b)?\r\n([^\r\n]+\r\n)*(content-length|transfer-encoding)/i;

/** Random choices of a seed. */
class Choices {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  one<Value>(from: readonly Value[]): Value {
    return from[this.below(from.length)]!;
  }

  list<Value>(most: number, make: () => Value): Value[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}

/** What damage inserts. */
const insertions = [
  ...["\r", "\n", "\0", " ", "\t", ":", ",", ";", "0", "1", "f", "-", "+", "x", "\x0b", "\x7f", "\x85", "\xa0", "\xff"],
  ...["\r\n", "\n\n", "\r\n\r\n", "\r\r\n", "0\r\n\r\n", "\r\n ", " HTTP/1.1", "HTTP/1.0", "/", "*", "#", "http://"],
  ...[
    "Content-Length: 3\r\n",
    "content-length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding: gzip\r\n",
  ],
  ...["Transfer-Encoding: chunked, identity\r\n", "Connection: close\r\n", "connection: keep-alive\r\n", "Host: b\r\n"],
  ...[
    "Expect: 100-continue\r\n",
    "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n",
    " chunked",
    "\x0bchunked",
    "Content-Length",
    "0x",
  ],
];

function chooseBody(choices: Choices): string {
  const most = choices.one([0, 10, 10, 60, 400]);
  return choices.list(most, () => choices.one([..."abc\r\n :0\xff", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"])).join("");
}

function chooseRequest(choices: Choices): string {
  const isOld = choices.random() < 0.05;
  const method = choices.one(["GET", "POST", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"]);
  const target = choices.one(["/", "/p", "/p?a=%20&b", "/a/b;c=d", "http://b.test/p", "*", "/p#f", "/{}|"]);
  const fields = choices.list(4, () => {
    const name = choices.one(["x-a", "Accept", "X-A", "date", "cookie", "TE"]);
    return `${name}:${choices.one([" ", "", "\t "])}${choices.one(["", "1", "a b", "\t x ", "d\xe9", "a: b, c"])}`;
  });
  const put = (field: string) => fields.splice(choices.below(fields.length + 1), 0, field);
  if (!isOld || choices.random() < 0.5) put(`${choices.one(["Host", "host"])}: ${choices.one(["a", "a.test:80", ""])}`);
  if (choices.random() < 0.1) put(`Connection: ${choices.one(["close", "keep-alive", "TE, Close", "closely"])}`);
  const text = chooseBody(choices);
  const kind = choices.one(["length", "length", "chunked", "chunked", "none"]);
  let body = "";
  if (kind === "length") {
    put(`${choices.one(["Content-Length", "content-length"])}: ${choices.one(["", "", "0"])}${text.length}`);
    body = text;
  } else if (kind === "chunked" && !isOld) {
    put(`${choices.one(["Transfer-Encoding", "transfer-encoding"])}: ${choices.one(["chunked", "Chunked"])}`);
    for (let at = 0; at < text.length;) {
      const part = text.slice(at, at + 1 + choices.below(40));
      body += `${choices.one(["", "0"])}${part.length.toString(16)}${choices.one(["", "", ";a=b"])}\r\n${part}\r\n`;
      at += part.length;
    }
    body += `${choices.one(["0", "000"])}\r\n${choices.one(["", "", "x-sum: 1\r\n"])}\r\n`;
  }
  const blank = choices.random() < 0.05 ? "\r\n" : "";
  const line = `${method} ${target} HTTP/1.${isOld ? 0 : 1}`;
  return `${blank}${[line, ...fields].join("\r\n")}\r\n\r\n${body}`;
}

function damaged(text: string, choices: Choices): string {
  const at = choices.below(text.length);
  const end = text.indexOf("\r\n", at) + 2;
  const start = text.lastIndexOf("\r\n", at) + 2;
  switch (choices.below(7)) {
    case 0: // a byte
      return text.slice(0, at) + String.fromCharCode(choices.below(256)) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + choices.one(insertions) + text.slice(at);
    case 2: // at the start of a line
      return text.slice(0, end) + choices.one(insertions) + text.slice(end);
    case 3:
      return text.slice(0, at) + text.slice(at + 1 + choices.below(3));
    case 4: // a line twice
      return text.slice(0, end) + text.slice(start, end) + text.slice(end);
    case 5: // a line end
      return text.slice(0, end - 2) + choices.one(["\n", "\r", "", "\r\r\n", "\n\r"]) + text.slice(end);
    default: // a bit
      return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1 << choices.below(8)) + text.slice(at + 1);
  }
}

interface Case {
  readonly seed: number;
  readonly bytes: string;
  /** The same in parts, as they are received. */
  readonly parts: readonly string[];
  /** Number of requests; undefined if they are damaged. */
  readonly valid: number | undefined;
}

/** The requests of a seed, two thirds of which have been damaged at a few places. */
function createCase(seed: number): Case {
  const choices = new Choices(seed);
  const all = Array.from({ length: 1 + choices.below(3) }, () => chooseRequest(choices));
  let bytes = all.join("");
  const isValid = choices.random() < 0.33;
  for (let count = isValid ? 0 : 1 + choices.below(3); count > 0; count--) bytes = damaged(bytes, choices);
  const cuts = choices.list(choices.one([0, 1, 5, bytes.length]), () => choices.below(bytes.length)).sort((a, b) =>
    a - b
  );
  const parts = [0, ...cuts].map((cut, index) => bytes.slice(cut, cuts[index])).filter((part) => part !== "");
  return { seed, bytes, parts, valid: isValid ? all.length : undefined };
}

/** A request as a server understands it. */
interface Understood {
  readonly method: string;
  readonly target: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Outcome {
  readonly requests: readonly Understood[];
  /** Whether the connection is open for more. */
  readonly isOpen: boolean;
}

/** The server under test, on connections in memory. */
class Ours {
  readonly #requests = new Map<string, Understood[]>();
  readonly #server: Http1Server;

  constructor() {
    const plain = async (request: PlainRequest, peer?: () => string | undefined): Promise<PlainResponse> => {
      const { head } = request as Exchange;
      const body = latin1(await request.bytes());
      const { method, target, fields } = head;
      this.#requests.get(peer!()!)!.push({ method, target, fields: Object.fromEntries(fields), body });
      return { status: 200, headers: {}, body: null };
    };
    const handler: RequestHandler = Object.assign(() => Promise.reject(new Error("unused")), { plain });
    this.#server = new Http1Server(handler, () => {});
  }

  async outcomes(all: readonly Case[]): Promise<readonly Outcome[]> {
    const sockets = all.map(({ seed, parts }) => {
      const socket = new ScriptedSocket();
      this.#requests.set(String(seed), []);
      this.#server.accept(socket, () => String(seed));
      for (const part of parts) socket.feed(part);
      return socket;
    });
    await settled();
    return all.map(({ seed }, index) => {
      const socket = sockets[index]!;
      const isOpen = !socket.isClosed && !socket.isOutputEnded;
      const understood = [...this.#requests.get(String(seed))!];
      socket.end();
      return { requests: understood, isOpen };
    });
  }

  stop(): Promise<void> {
    return this.#server.stop(0);
  }
}

/** `node:http` on connections in memory. Requests are recorded while it parses them: an error may follow at once. */
class Theirs {
  readonly #requests = new WeakMap<object, Understood[]>();
  readonly #server = createServer((message, response) => {
    const { method = "", url: target = "", headersDistinct, socket } = message;
    const fields = Object.entries(headersDistinct).map(([name, values]) => [name, values!.join(", ")]);
    let body = "";
    const push = message.push.bind(message);
    message.push = (chunk: Uint8Array | null) => {
      if (chunk !== null) body += latin1(chunk);
      else if (message.complete) {
        this.#requests.get(socket)!.push({ method, target, fields: Object.fromEntries(fields), body });
      }
      return push(chunk);
    };
    message.on("error", () => {}).on("end", () => response.end()).resume();
  }).on("clientError", (_, socket) => void socket.destroy());

  outcomes(all: readonly Case[]): Promise<readonly (readonly Understood[])[]> {
    return Promise.all(all.map(async ({ bytes }) => {
      const requests: Understood[] = [];
      const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done(), highWaterMark: 1 << 20 });
      socket.setMaxListeners(0).on("error", () => {});
      this.#requests.set(socket, requests);
      this.#server.emit("connection", socket);
      socket.push(Buffer.from(bytes, "latin1"));
      do await settled(); while (socket.readableLength > 0 && !socket.destroyed);
      socket.destroy();
      return requests;
    }));
  }

  stop(): void {
    this.#server.close();
  }
}

const known = new Set(METHODS);

/** Compares what the servers understand of a case. */
function check({ seed, bytes, valid }: Case, ours: Outcome, theirs: readonly Understood[]): void {
  const what = `MODELMESH_TEST_SEED=${seed}: ${JSON.stringify(bytes)}`;
  if (valid !== undefined) assert(ours.requests.length === valid || !ours.isOpen, `all are accepted: ${what}`);
  const unknown = ours.requests.findIndex(({ method }) => !known.has(method));
  if (unknown >= 0) return assertEquals(ours.requests.slice(0, unknown), theirs.slice(0, unknown), what);
  if (theirs.length < ours.requests.length && stricterInNode.test(bytes)) return;
  assertEquals(ours.requests, theirs.slice(0, ours.requests.length), what);
  if (ours.isOpen) assert(theirs.length === ours.requests.length, `the same number of requests: ${what}`);
}

/** Sockets and timers of Deno's `node:http` may outlast the suite by a moment. */
const sanitizers = { sanitizeOps: false, sanitizeResources: false };

describe("The HTTP/1.1 server", sanitizers, () => {
  it(`understands the requests of ${cases} connections, most of them damaged, as node:http does, or rejects them`, async () => {
    const [server, node] = [new Ours(), new Theirs()];
    const counts = { accepted: 0, rejected: 0 };
    for (let seed = firstSeed; seed < firstSeed + cases; seed += atOnce) {
      const length = Math.min(atOnce, firstSeed + cases - seed);
      const all = Array.from({ length }, (_, index) => createCase(seed + index));
      const ours = await server.outcomes(all);
      const theirs = await node.outcomes(all);
      all.forEach((one, index) => {
        const outcome = ours[index]!;
        check(one, outcome, theirs[index]!);
        if (one.valid === undefined) counts[outcome.requests.length > 0 ? "accepted" : "rejected"]++;
      });
    }
    await server.stop();
    node.stop();
    if (cases >= 1_000) assertGreater(Math.min(counts.accepted, counts.rejected), cases / 20);
  });
});

/** A request with a number of its own, and a body that looks like requests with others. */
function numbered(id: string, choices: Choices, isLast: boolean): string {
  const way = choices.random() < 0.003 ? "ignore" : choices.one(["read", "read", "stream"]);
  const other = `GET /read/evil HTTP/1.1\r\nhost: a\r\n\r\n`;
  const parts = () => choices.one([other, "0\r\n\r\n", "abc\r\n", "\0\xff"]);
  // more than a server receives ahead, so that its connection has to be closed
  const text = way === "ignore" ? other.repeat(4_000) : choices.list(choices.one([0, 3, 3, 40, 400]), parts).join("");
  const line = `POST /${way}/${id} HTTP/1.1\r\nhost: a\r\n`;
  const end = isLast ? "connection: close\r\n\r\n" : "\r\n";
  if (choices.random() < 0.5) return `${line}content-length: ${text.length}\r\n${end}${text}`;
  const middle = text.length >> 1;
  const halves = [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
  const chunks = halves.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join("");
  return `${line}transfer-encoding: chunked\r\n${end}${chunks}0\r\n\r\n`;
}

/** The bodies of responses, in order. The last one may be incomplete. */
function bodiesIn(received: string): string[] {
  const bodies: string[] = [];
  for (let at = 0; at < received.length;) {
    const start = received.indexOf("\r\n\r\n", at) + 4;
    const head = received.slice(at, start);
    assert(start > 3 && head.startsWith("HTTP/1.1 200 OK\r\n"), JSON.stringify(received.slice(at, at + 100)));
    const length = /\r\ncontent-length: (\d+)\r\n/.exec(head)?.[1];
    let body = "";
    at = start;
    if (length !== undefined) body = received.slice(start, at += Number(length));
    for (let size = length === undefined ? 1 : 0; size > 0;) {
      const [whole = "", digits = ""] = /^([\da-f]+)\r\n/.exec(received.slice(at, at + 20)) ?? [];
      assert(whole !== "", "a chunk has a size");
      size = parseInt(digits, 16);
      body += received.slice(at + whole.length, at + whole.length + size);
      at += whole.length + size + 2;
    }
    bodies.push(body);
  }
  return bodies;
}

const perConnection = 100;

describe("The HTTP/1.1 server, request after request", sanitizers, () => {
  it(`answers ${requests} requests by their own numbers, in order, however they arrive`, async () => {
    const echo = async ({ url, body }: PlainRequest): Promise<PlainResponse> => {
      const [way, id] = new URL(url).pathname.slice(1).split("/");
      if (way === "ignore") return { status: 200, headers: {}, body: id! };
      let length = 0;
      for await (const bytes of body ?? []) length += bytes.length;
      if (length % 3 === 0) await new Promise<void>((resolve) => void setImmediate(resolve));
      const text = `${id}:${length}`;
      if (way === "read") return { status: 200, headers: {}, body: text };
      const chunks = [text.slice(0, 2), text.slice(2)];
      return { status: 200, headers: {}, body: { read: () => Promise.resolve(chunks.shift()), cancel() {} } };
    };
    const handler: RequestHandler = Object.assign(() => Promise.reject(new Error("unused")), { plain: echo });
    const server = await listen(handler, { port: 0, listener: "http1" });
    const counts = { answered: 0, closed: 0 };
    const talk = async (seed: number) => {
      const choices = new Choices(seed);
      const sent = Array.from(
        { length: perConnection },
        (_, index) => numbered(`${seed}-${index}`, choices, index === perConnection - 1),
      );
      const socket = connect({ host: "127.0.0.1", port: server.port, noDelay: true });
      let received = "";
      socket.on("error", () => {}); // the server closes after a body that was not read
      const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
      socket.on("data", (data: Uint8Array) => received += latin1(data));
      socket.on("end", () => socket.end());
      for (let bytes = sent.join(""); bytes !== "" && !socket.writableEnded && !socket.destroyed;) {
        const size = choices.one([1, 10, 100, 1_000, 10_000, 100_000]);
        socket.write(toLatin1(bytes.slice(0, size)));
        bytes = bytes.slice(size);
        await new Promise<void>((resolve) => void setImmediate(resolve));
      }
      await happens(`seed ${seed}: the server closes`, closed);
      const bodies = bodiesIn(received);
      bodies.forEach((body, index) => {
        const [line, ...lines] = sent[index]!.split("\r\n");
        const [, way, id] = /\/(\w+)\/(\S+)/.exec(line!)!;
        const content = sent[index]!.slice(sent[index]!.indexOf("\r\n\r\n") + 4);
        const length = lines[1] === "transfer-encoding: chunked" ? decodedLength(content) : content.length;
        assertEquals(body, way === "ignore" ? id : `${id}:${length}`, `seed ${seed}, request ${index}`);
      });
      assert(bodies.length === perConnection || /connection: close/.test(received), `seed ${seed}: all are answered`);
      counts.answered += bodies.length;
      if (bodies.length < perConnection) counts.closed++;
    };
    let next = firstSeed;
    const last = firstSeed + requests / perConnection;
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (next < last) await talk(next++);
    }));
    await server.stop(0);
    assertGreater(counts.answered, requests / 20);
    assertGreater(counts.closed, 0);
  });
});

/** Length of the data in chunks. */
function decodedLength(chunks: string): number {
  let length = 0;
  for (let at = 0;;) {
    const end = chunks.indexOf("\r\n", at);
    const size = parseInt(chunks.slice(at, end), 16);
    if (size === 0) return length;
    length += size;
    at = end + 2 + size + 2;
  }
}
