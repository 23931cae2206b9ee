/**
 * The HTTP/1.1 client against a server that answers in every way, right and wrong: compared with `node:http`, and
 * watched for bytes of one response that reach another request.
 */
import { assert, assertEquals, assertGreater } from "@std/assert";
import { request as nodeRequest } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import process from "node:process";
import { describe, it } from "@std/testing/bdd";
import { NetworkError } from "../../src/errors.ts";
import { sendByConnection } from "../../src/runtime/_deno_send.ts";
import { send as sendByNodeSockets } from "../../src/runtime/_node_send.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { onDeno } from "../support/_programs.ts";

const answers = Number(process.env.MODELMESH_TEST_ANSWERS ?? 8_000);
const requests = Number(process.env.MODELMESH_TEST_REQUESTS ?? 60_000);
const send = onDeno ? sendByConnection : sendByNodeSockets;
const decoder = new TextDecoder("latin1");

/** What `node:http` refuses although it changes nothing about where a response ends. */
const stricterInNode = /;(?!a=b\r\n)|Content-Length: 3\r\n/;

/** A response of a seed, which half of the time has been damaged at a few places. */
function createAnswer(
  seed: number,
): { readonly said: string; readonly status: number; readonly text: string; readonly isWhole: boolean } {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!;
  const text = Array.from({ length: Math.floor(random() ** 3 * 9_000) }, () => pick([..."abc\r\n \xff0"])).join("");
  const status = pick([200, 200, 200, 201, 400, 429, 500, 503]);
  const fields = Array.from(
    { length: Math.floor(random() * 6) },
    (_, at) => `${pick(["x-a", "Date", "ETag"])}${at}: ${pick(["", "1", "a b", "\t x "])}`,
  );
  const isChunked = random() < 0.5;
  fields.push(
    isChunked ? `${pick(["Transfer-Encoding", "transfer-encoding"])}: chunked` : `Content-Length: ${text.length}`,
  );
  let body = text;
  if (isChunked) {
    body = "";
    for (let at = 0; at < text.length;) {
      const piece = text.slice(at, at + 1 + Math.floor(random() ** 2 * 3_000));
      body += `${piece.length.toString(16)}${pick(["", "", ";a=b"])}\r\n${piece}\r\n`;
      at += piece.length;
    }
    body += `0\r\n${pick(["", "", "x-sum: 1\r\n"])}\r\n`;
  }
  const interim = random() < 0.1 ? "HTTP/1.1 100 Continue\r\n\r\n" : "";
  let said = `${interim}HTTP/1.1 ${status} ${pick(["OK", "", "Not so"])}\r\n${fields.join("\r\n")}\r\n\r\n${body}`;
  const isWhole = random() < 0.5;
  for (let count = isWhole ? 0 : 1 + Math.floor(random() * 3); count > 0; count--) {
    const at = Math.floor(random() ** 2 * said.length);
    const change = pick([
      "",
      "\r",
      "\n",
      "\0",
      " ",
      ":",
      "0",
      "f",
      "\r\n",
      "Content-Length: 3\r\n",
      "Transfer-Encoding: chunked\r\n",
    ]);
    said = said.slice(0, at) + change + said.slice(at + Math.floor(random() * 2));
  }
  return { said, status, text, isWhole };
}

/** A server that says to each request what `sayTo` says to it. */
async function serve(sayTo: (path: string, socket: Socket) => void): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    let heard = "";
    socket.on("error", () => {}).on("data", (data: Uint8Array) => {
      heard += decoder.decode(data);
      for (;;) {
        const [, path, rest] = /^POST (\S+) .*?\r\n\r\n\{\}([^]*)$/s.exec(heard) ?? [];
        if (path === undefined) return;
        heard = rest!;
        sayTo(path, socket);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", () => resolve()));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
      await new Promise((resolve) => setTimeout(resolve, 100)); // for the clients' ends of the connections
    },
  };
}

type Outcome = { readonly status: number; readonly text: string } | undefined;

async function byConnection(url: string): Promise<Outcome> {
  try {
    const answer = await send({ url, headers: {}, body: "{}" });
    return { status: answer.status, text: decoder.decode(await answer.bytes!()) };
  } catch (error) {
    assert(NetworkError.isInstance(error), String(error));
    return undefined;
  }
}

function byNode(url: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const sent = nodeRequest(url, { method: "POST", agent: false }, (answer) => {
      const chunks: string[] = [];
      answer.on("data", (chunk: Uint8Array) => chunks.push(decoder.decode(chunk)));
      answer.on("end", () => resolve({ status: answer.statusCode!, text: chunks.join("") }));
      answer.on("error", () => resolve(undefined));
      answer.on("close", () => resolve(undefined));
    });
    sent.on("error", () => resolve(undefined));
    sent.end("{}");
  });
}

/** Runs a task for 0, 1, … below `count`, 32 at once. */
async function each(count: number, task: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (next < count) await task(next++);
  }));
}

/** Sockets and timers of Deno's `node:http` may outlast the suite by a moment. */
const sanitizers = { sanitizeOps: false, sanitizeResources: false };

describe("The HTTP/1.1 client", sanitizers, () => {
  it(`takes ${answers} answers, half of them damaged, for what they mean to node:http, or for nothing`, async () => {
    const { url, close } = await serve((path, socket) => {
      const [, seed, spare] = path.split("/").map(Number);
      const { said, isWhole } = createAnswer(seed!);
      const bytes = Uint8Array.from(said.slice(0, said.length - spare!), (char) => char.charCodeAt(0));
      const middle = Math.floor(bytes.length * seededRandom(bytes.length)());
      socket.write(bytes.subarray(0, middle));
      setImmediate(() => isWhole ? socket.write(bytes.subarray(middle)) : socket.end(bytes.subarray(middle)));
    });
    let taken = 0;
    let refused = 0;
    await each(answers, async (seed) => {
      const { said, status, text, isWhole } = createAnswer(seed);
      // each damaged response at an address of its own, so that it gets a new connection
      const host = isWhole ? "127.0.0.1" : `127.${1 + (seed >> 16)}.${seed >> 8 & 255}.${seed & 255}`;
      const ownUrl = `${url.replace("127.0.0.1", host)}/${seed}`;
      const ours = await byConnection(`${ownUrl}/0`);
      if (isWhole) assertEquals(ours, { status, text }, `seed ${seed}`);
      else if (ours === undefined) refused++;
      else {
        taken++;
        let theirs = await byNode(`${ownUrl}/0`);
        // bytes behind a response make node:http refuse it also when it is whole
        const start = said.indexOf("\r\n\r\n", said.startsWith("HTTP/1.1 100") ? 25 : 0) + 4;
        theirs ??= await byNode(`${ownUrl}/${said.length - start - ours.text.length}`);
        for (let spare = 1; theirs === undefined && spare < 100; spare++) theirs = await byNode(`${ownUrl}/${spare}`);
        if (theirs !== undefined || !stricterInNode.test(said)) assertEquals(ours, theirs, `seed ${seed}`);
      }
    });
    await close();
    assertGreater(Math.min(taken, refused), answers / 20);
  });
});

/** Ways to answer a request, each with its number in every byte range of the body. */
const ways: readonly ((id: string, socket: Socket) => void)[] = [
  (id, socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  (id, socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${id.length.toString(16)}\r\n${id}\r\n0\r\n\r\n`,
    ),
  (id, socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id.slice(0, 2)}`);
    setImmediate(() => socket.write(id.slice(2)));
  },
  // more than was said: the rest looks like a response to the next request
  (id, socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil`,
    ),
  (id, socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length}\r\n\r\n${id}`),
  (id, socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${id.length + 9}\r\n\r\n${id}`),
  (_, socket) => socket.destroy(),
  (_, socket) => socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nstall"),
  () => {},
];

describe("The HTTP/1.1 client, request after request", sanitizers, () => {
  it(`lets no byte of one response reach another of ${requests} requests, with aborts, stalls and unasked bytes`, async () => {
    const random = seededRandom(1);
    const { url, close } = await serve((path, socket) => ways[Number(path.split("/")[1])]!(path, socket));
    const counts = { answered: 0, failed: 0, aborted: 0 };
    await each(requests, async (number) => {
      const way = random() < 0.9 ? Math.floor(random() * 3) : Math.floor(random() * ways.length);
      const path = `/${way}/${number}`;
      const controller = new AbortController();
      const isStalled = way >= ways.length - 2;
      if (isStalled || random() < 0.05) setTimeout(() => controller.abort(), random() * 3);
      try {
        const answer = await send({ url: url + path, headers: {}, body: "{}", signal: controller.signal });
        assertEquals(decoder.decode(await answer.bytes!()), path);
        counts.answered++;
      } catch (error) {
        if (controller.signal.aborted) counts.aborted++;
        else if (NetworkError.isInstance(error)) counts.failed++;
        else throw error;
      }
    });
    await close();
    assertEquals(counts.answered + counts.failed + counts.aborted, requests);
    assertGreater(counts.answered, requests / 2);
    assertGreater(Math.min(counts.failed, counts.aborted), requests / 1_000);
  });
});
