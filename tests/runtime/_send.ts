/**
 * What every upstream client has to do, whatever it is made of.
 * @module
 */
import { assert, assertEquals, assertLess, assertMatch, assertRejects, assertStrictEquals } from "@std/assert";
import { afterAll, describe, it } from "@std/testing/bdd";
import { type AddressInfo, createServer, type Server } from "node:net";
import { inspect } from "node:util";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { NetworkError } from "../../src/errors.ts";
import { version } from "../../src/version.ts";
import { happens, standsStill, until } from "../support/patience.ts";
import {
  type Behaviour,
  completeResponse,
  cutAt,
  formatHead,
  Gate,
  hang,
  hangAfterHeaders,
  ok,
  raw,
  refusingUrl,
  reset,
  startUpstream,
  status,
  stream,
} from "../support/upstream.ts";

const secret = "sk-canary-1234567890";
const headers = { "content-type": "application/json", "x-api-key": secret };

async function networkError(task: () => Promise<unknown>): Promise<NetworkError> {
  const error = await assertRejects(task, NetworkError);
  const shown = `${error.stack} ${error.cause} ${inspect(error)} ${JSON.stringify(error)}`;
  assert(!shown.includes(secret) && !shown.includes("127.0.0.1"), shown);
  return error;
}

/** Speaks no TLS: what comes in is answered with plain text. */
function plainListener(): Promise<Server> {
  const server = createServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const beforeAnswer: [name: string, behaviour: Behaviour][] = [
  ["reset", reset()],
  ["closed", reset("close")],
  ["half a head", cutAt(ok(), 30, "close")],
  ["half a head, reset", cutAt(ok(), 30)],
  ["no HTTP", raw("SSH-2.0-OpenSSH\r\n\r\n")],
  ["a status of no kind", raw("HTTP/1.1 99 What\r\n\r\n")],
  ["two lengths", raw(formatHead(200, [["content-length", "2"], ["content-length", "3"]]) + "okk")],
  ["a huge head", raw(formatHead(200, { "x-long": "a".repeat(1 << 20) }))],
];

const insideBody: [name: string, behaviour: Behaviour][] = [
  ["reset after the head", cutAt(ok(), "headers")],
  ["short body", cutAt(ok(), 200, "close")],
  ["short body, reset", cutAt(ok(), 200)],
  ["stream closed", stream({ cut: { after: 1, how: "close" } })],
  ["stream reset", stream({ cut: { after: 1, how: "reset" } })],
  ["bad chunk", raw(formatHead(200, { "transfer-encoding": "chunked" }) + "3\r\nabc\r\nXYZ\r\n")],
  ["bad gzip", completeResponse(200, "plain text", "text/plain", { "content-encoding": "gzip" })],
];

/**
 * Describes an upstream client.
 *
 * @param name Whose it is.
 * @param facts What is called at the end, and whether it reads of a body before there is a connection.
 */
export function describeSend(
  name: string,
  send: Runtime["send"],
  { close = () => {}, readsEarly = false }: { close?: () => void; readsEarly?: boolean } = {},
): void {
  const call = (url: string, signal?: AbortSignal, onBytes?: () => void) =>
    send({ url: `${url}/chat/completions?key=${secret}`, headers, body: '{"model":"m"}', signal, onBytes });

  describe(name, () => {
    afterAll(close);

    it("posts a body and hands back status, headers and bytes", async () => {
      await using upstream = await startUpstream(ok({ text: "Hi", headers: { "x-request-id": "r1" } }));
      let reported = 0;
      const answer = await call(upstream.url, undefined, () => reported++);
      assertEquals([answer.status, answer.headers.get("X-Request-Id")], [200, "r1"]);
      assertMatch(await new Response(answer.body).text(), /"content":"Hi"/);
      assert(reported >= 1, `told ${reported} times`);
      const request = upstream.requests[0]!;
      assertEquals([request.method, request.headers["x-api-key"], request.body], ["POST", secret, '{"model":"m"}']);
    });

    it("names this software, unless the request names another", async () => {
      await using upstream = await startUpstream(ok());
      await call(upstream.url).then(({ body }) => body?.cancel());
      const named = { "user-agent": "coding-agent/7" };
      await send({ url: upstream.url, headers: named, body: "{}" }).then(({ body }) => body?.cancel());
      const agents = upstream.requests.map(({ headers }) => headers["user-agent"]);
      assertEquals(agents, [`modelmesh/${version}`, "coding-agent/7"]);
    });

    it("sends a body as it comes, no faster than it is taken", async () => {
      await using upstream = await startUpstream(status(200, { text: "Hi" }));
      let read = 0;
      async function* pieces() {
        for (const text of ["one ", "", "two ", "three"]) {
          read++;
          await Promise.resolve();
          yield new TextEncoder().encode(text);
        }
      }
      const answer = await send({ url: `${upstream.url}/files`, headers, body: pieces() });
      assertEquals(await new Response(answer.body).text(), "Hi");
      assertEquals([upstream.requests[0]!.body, read], ["one two three", 4]);
    });

    it("sends no end of a body that breaks off", async () => {
      await using upstream = await startUpstream(ok());
      const stopper = new AbortController();
      const fault = new Error("the source is dry");
      async function* pieces() {
        yield new TextEncoder().encode("one");
        await Promise.resolve();
        stopper.abort(fault);
        throw fault;
      }
      const sent = send({ url: `${upstream.url}/files`, headers, body: pieces(), signal: stopper.signal });
      assertStrictEquals(await assertRejects(() => sent), fault);
      await until(() => upstream.open === 0, "the connection is closed");
      assertEquals(upstream.requests.map(({ body }) => body), []);
    });

    it("reads nothing of a body while there is no connection", async () => {
      let isRead = false;
      async function* pieces(): AsyncGenerator<Uint8Array> {
        isRead = true;
        yield await Promise.resolve(new Uint8Array(3));
      }
      const url = await refusingUrl();
      const { neverSent } = await assertRejects(() => send({ url, headers, body: pieces() }), NetworkError);
      assertEquals(neverSent, true);
      if (!readsEarly) assertEquals(isRead, false);
    });

    it("follows no redirect", async () => {
      await using elsewhere = await startUpstream(ok());
      for (const code of [301, 302, 303, 307, 308]) {
        await using upstream = await startUpstream(
          status(code, { headers: { location: elsewhere.url }, text: "moved" }),
        );
        const answer = await call(upstream.url);
        assertEquals([answer.status, answer.headers.get("location")], [code, elsewhere.url]);
        assertEquals(await new Response(answer.body).text(), "moved");
        assertEquals(upstream.calls, 1);
      }
      assertEquals(elsewhere.calls, 0);
    });

    it("hands back any status", async () => {
      for (const code of [204, 304, 400, 429, 500, 599, 600, 999]) {
        await using upstream = await startUpstream(status(code));
        const answer = await call(upstream.url);
        assertEquals(answer.status, code);
        await answer.body?.cancel();
      }
    });

    it("says when nothing can have been sent", async () => {
      const plain = await plainListener();
      const neverSent: [url: string, message: RegExp][] = [
        [await refusingUrl(), /refused/],
        ["http://no-such-host.invalid/v1", /does not resolve/],
        [`https://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`, /TLS/],
        ["http://127.0.0.1:1/v1", /Cannot (make|connect)/], // some runtimes have a list of bad ports
        ["http://[::1/v1", /Cannot make/],
      ];
      for (const [url, message] of neverSent) {
        const error = await networkError(() => call(url));
        assertMatch(error.message, message, url);
        assertEquals(error.neverSent, true, url);
      }
      plain.close();
      await using upstream = await startUpstream(ok());
      for (const key of [`${secret}\n${secret}`, `${secret}\0${secret}`, `${secret}\u20ac`]) {
        const error = await networkError(() => send({ url: upstream.url, headers: { authorization: key } }));
        assertEquals([error.neverSent, upstream.calls], [true, 0]);
      }
    });

    it("says that a request may have been read when no response came", async () => {
      for (const [name, behaviour] of beforeAnswer) {
        await using upstream = await startUpstream(behaviour);
        const error = await networkError(() => call(upstream.url));
        assertEquals(error.neverSent, false, name);
        assertEquals(upstream.calls, 1, name);
      }
    });

    it("sends a request once, also when a kept connection dies under it", async () => {
      await using upstream = await startUpstream(({ number }) => number % 2 === 0 ? reset("close") : ok());
      let failures = 0;
      for (let turn = 0; turn < 10; turn++) {
        try {
          await new Response((await call(upstream.url)).body).arrayBuffer();
        } catch (error) {
          assert(NetworkError.isInstance(error) && !error.neverSent);
          failures++;
        }
      }
      assertEquals([upstream.calls, failures], [10, 5]);
      assertEquals(upstream.requests[0]!.headers["content-length"], "13"); // some providers take no chunked body
    });

    it("reports a broken body in its own format", async () => {
      for (const [name, behaviour] of insideBody) {
        await using upstream = await startUpstream(behaviour);
        const error = await networkError(async () => {
          const answer = await call(upstream.url);
          assertEquals(answer.status, 200, name);
          await new Response(answer.body).arrayBuffer();
        });
        assertEquals(error.neverSent, false, name);
      }
    });

    it("takes a body apart that is compressed, and no longer calls it so", async () => {
      const gzip = new Blob(["hello ".repeat(100)]).stream().pipeThrough(new CompressionStream("gzip"));
      const bytes = new Uint8Array(await new Response(gzip).arrayBuffer());
      await using upstream = await startUpstream(
        completeResponse(200, bytes, "text/plain", { "content-encoding": "gzip" }),
      );
      const answer = await call(upstream.url);
      assertEquals([answer.headers.get("content-encoding"), answer.headers.get("content-length")], [null, null]);
      assertEquals(await new Response(answer.body).text(), "hello ".repeat(100));
    });

    it("hands bytes on as they come", async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
      gate.open(2);
      const reader = (await call(upstream.url)).body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes("one")) text += (await reader.read()).value;
      assert(!text.includes("two"));
      gate.openAll();
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value;
      assert(text.endsWith("data: [DONE]\n\n"));
    });

    it("rethrows the signal's reason, whatever it waits for, and closes the connection at once", async () => {
      const behaviours = [hang(), hangAfterHeaders(), stream({ cut: { after: 1, how: "hang" } })];
      for (const [place, behaviour] of behaviours.entries()) {
        await using upstream = await startUpstream(behaviour);
        const controller = new AbortController();
        const reason = new RangeError("enough");
        const answer = call(upstream.url, controller.signal);
        const failed = assertRejects(async () => void await new Response((await answer).body).arrayBuffer());
        const request = await upstream.received(1);
        if (place > 0) await answer; // it has a head
        controller.abort(reason);
        assertStrictEquals(await happens("the call ends", failed), reason);
        await happens("the connection closes", request.closed);
      }
    });

    it("does not begin with a signal that is aborted", async () => {
      await using upstream = await startUpstream(ok());
      const reason = new RangeError("enough");
      assertStrictEquals(await assertRejects(() => call(upstream.url, AbortSignal.abort(reason))), reason);
      assertEquals(upstream.calls, 0);
    });

    it("closes the connection when its body is cancelled", async () => {
      for (const readsFirst of [true, false]) {
        await using upstream = await startUpstream(stream({ cut: { after: 1, how: "hang" } }));
        const answer = await call(upstream.url);
        const reader = answer.body!.getReader();
        if (readsFirst) await reader.read();
        await reader.cancel();
        await happens("the connection closes", upstream.requests[0]!.closed);
      }
    });

    it("reads no faster than its reader", async () => {
      let written = 0;
      const piece = new Uint8Array(1 << 20);
      await using upstream = await startUpstream({
        async play(exchange) {
          await exchange.write(formatHead(200, { "content-length": String(piece.length * 100) }));
          for (; written < 100 && !exchange.request.isClosed; written++) await exchange.write(piece);
        },
      });
      const answer = await call(upstream.url);
      const reader = answer.body!.getReader();
      await reader.read();
      assertLess(await standsStill(() => written), 30); // what the system's buffers hold
      await reader.cancel();
    });
  });
}
