import { assert, assertEquals, assertLessOrEqual, assertMatch, assertNotMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type CompletionChunk, DeadlineError, type Middleware } from "../../mod.ts";
import { createChunk } from "../support/_custom_provider.ts";
import { readModelState } from "../support/_dialect_proxy.ts";
import { breathe, soon } from "../support/_failover.ts";
import { assertClosesAtOnce, clientOver, fakeClock, messages } from "../support/_library.ts";
import { becomes, standsStill, until } from "../support/patience.ts";
import { clientOfOwn, rawClient, rawHead, timeUntil } from "../support/_regressions.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { listeners } from "../support/_surface.ts";
import { type Behaviour, formatHead, Gate, ok, raw, respond, startUpstream, stream } from "../support/upstream.ts";

type Listener = NonNullable<TestProxyOptions["listener"]>;

/** Options of a proxy that takes one request at a time. */
function single(
  listener: Listener,
  proxy: Readonly<Record<string, unknown>> = {},
): Omit<TestProxyOptions, "upstreams"> {
  return {
    clock: fakeClock(),
    config: { proxy: { max_concurrent: 1, ...proxy } },
    listener,
  };
}

describe("A body that never ends", () => {
  const bodies: readonly (readonly [how: string, bytes: string])[] = [
    ["of a told length", 'content-length: 1000\r\n\r\n{"model": "chat", '],
    ["in chunks", 'transfer-encoding: chunked\r\n\r\n5\r\n{"mod\r\n'],
  ];
  for (const listener of listeners) {
    for (const [how, bytes] of bodies) {
      it(`${how} is answered 504 in time, and takes no slot (${listener})`, async () => {
        await using upstream = await startUpstream(respond());
        const upstreams = { a: upstream.url };
        await using proxy = await startTestProxy({ upstreams, ...single(listener, { request_timeout: "2s" }) });
        using client = rawClient(proxy.url);
        client.write(rawHead + bytes);
        await until(() => proxy.clock.pending > 0);
        const other = await soon(proxy.chat());
        assertEquals([other.status, (await other.json()).choices?.length], [200, 1]);
        await proxy.clock.advance(2000);
        const text = await soon(client.answered('"timeout"'));
        assertMatch(text, /^HTTP\/1\.1 504 /);
        assertEquals(upstream.calls, 1);
      });
    }
  }

  it("is reported without fractions, whatever time the client names", async () => {
    await using proxy = await startTestProxy({ upstreams: { a: "http://127.0.0.1:2/v1" }, clock: fakeClock() });
    using client = rawClient(proxy.url);
    client.write(`${rawHead}x-stainless-timeout: 1.0011\r\ncontent-length: 1000\r\n\r\n{`);
    await until(() => proxy.clock.pending > 0);
    await proxy.clock.advance(1002);
    const text = await soon(client.answered('"timeout"'));
    assertMatch(text, /^HTTP\/1\.1 504 /);
    assertNotMatch(text.split("\r\n\r\n")[1]!, /\d\.\d/);
  });
});

describe("A chunked body over the limit", () => {
  for (const listener of listeners) {
    it(`gets its 413 (${listener})`, async () => {
      await using upstream = await startUpstream(respond());
      const upstreams = { a: upstream.url };
      await using proxy = await startTestProxy({ upstreams, ...single(listener, { body_limit: "1000B" }) });
      using client = rawClient(proxy.url);
      const chunk = `${(4096).toString(16)}\r\n${" ".repeat(4096)}\r\n`;
      client.write(`${rawHead}transfer-encoding: chunked\r\n\r\n${chunk.repeat(4)}`);
      const text = await soon(client.answered("request_too_large"));
      assertMatch(text, /^HTTP\/1\.1 413 [^]*"code":"request_too_large"/);
      const next = await soon(proxy.chat());
      assertEquals(next.status, 200);
      await next.body?.cancel();
    });
  }
});

describe("A stream that middleware keeps from its caller", () => {
  const ways: readonly (readonly [how: string, middleware: Middleware])[] = [
    ["throws", {
      afterResponse: () => {
        throw new Error("the program's own");
      },
    }],
    ["rejects", { afterResponse: () => Promise.reject(new Error("the program's own")) }],
    ["is answered for by onError", {
      afterResponse: () => Promise.reject(new Error("the program's own")),
      onError: () => ({ replaced: true }) as never,
    }],
    ["returns something else", { afterResponse: () => ({ replaced: true }) as never }],
  ];
  for (const [how, middleware] of ways) {
    it(`that ${how} is ended, its provider's call and its ticket too`, async () => {
      const gate = new Gate();
      gate.open(2);
      await using upstream = await startUpstream(stream({ gate }));
      await using one = clientOver({ upstreams: { a: upstream.url }, options: { middleware } });
      const call = one.client.chat.completions.create({ messages, stream: true });
      const end = await call.then((answer) => "replaced" in answer, (error: Error) => error.message);
      assert(end === true || end === "the program's own", String(end));
      await assertClosesAtOnce(upstream.requests[0]);
      assertEquals(readModelState(one.client.mesh, "a"), { inFlight: 0, failures: 0, status: "active" });
    });
  }
});

describe("A stream whose signal aborts between two reads", () => {
  it("is over at once, without another read", async () => {
    const gate = new Gate();
    gate.open(2);
    await using upstream = await startUpstream(stream({ gate }));
    await using one = clientOver({ upstreams: { a: upstream.url } });
    const controller = new AbortController();
    const { signal } = controller;
    const answer = await one.client.chat.completions.create({ messages, stream: true }, { signal });
    const chunks = answer[Symbol.asyncIterator]();
    await chunks.next();
    assertEquals(readModelState(one.client.mesh, "a").inFlight, 1);
    controller.abort();
    assertEquals(readModelState(one.client.mesh, "a"), { inFlight: 0, failures: 0, status: "active" });
    await assertClosesAtOnce(upstream.requests[0]);
    await assertRejects(() => chunks.next(), DOMException);
  });
});

/** A stream that goes on as long as it is read, and how often it wrote. */
function endless(): { behaviour: Behaviour; written: () => number } {
  let count = 0;
  const data = `data: ${JSON.stringify(createChunk("x".repeat(64 * 1024)).value)}\n\n`;
  const behaviour: Behaviour = {
    async play(exchange) {
      await exchange.write(formatHead(200, { "content-type": "text/event-stream" }));
      for (; !exchange.request.isClosed; count++) await exchange.write(data);
    },
  };
  return { behaviour, written: () => count };
}

describe("A client that stops reading its stream", () => {
  for (const listener of listeners) {
    it(`frees its slot after ten minutes, without a failure (${listener})`, async () => {
      const { behaviour, written } = endless();
      await using upstream = await startUpstream(behaviour);
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, ...single(listener) });
      using client = rawClient(proxy.url, false);
      const body = JSON.stringify({ model: "chat", messages, stream: true });
      client.write(`${rawHead}content-length: ${body.length}\r\n\r\n${body}`);
      await soon(upstream.received(1));
      await standsStill(written);
      await proxy.clock.advance(590_000);
      const busy = await soon(proxy.chat());
      assertEquals([busy.status, (await busy.json()).error.code], [503, "overloaded"]);
      await proxy.clock.advance(10_000);
      await assertClosesAtOnce(upstream.requests[0]);
      assertEquals(readModelState(proxy.mesh, "a"), { inFlight: 0, failures: 0, status: "active" });
      upstream.follow(ok());
      const next = await soon(proxy.chat());
      assertEquals([next.status, (await next.json()).choices?.length], [200, 1]);
      await becomes(() => readModelState(proxy.mesh, "a").inFlight, 0);
    });
  }
});

/** A stream of events without content that ignores its signal. */
function deafStream(next: () => Promise<IteratorResult<CompletionChunk>>) {
  const seen = { reads: 0, returns: 0 };
  const events: AsyncIterableIterator<CompletionChunk> = {
    [Symbol.asyncIterator]: () => events,
    next: () => {
      seen.reads++;
      return next();
    },
    return: () => {
      seen.returns++;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { seen, events };
}

describe("A connector that ignores its signal while a stream warms up", () => {
  it("is left at the deadline, read no further, and its iterator is returned", async () => {
    const time = fakeClock();
    const { seen, events } = deafStream(async () => {
      await time.sleep(1000);
      return { done: false, value: createChunk("") };
    });
    await using client = clientOfOwn({ stream: () => events }, time);
    const call = client.chat.completions.create({ messages, stream: true }, { timeout: 3500 });
    const failed = assertRejects(() => call, DeadlineError);
    await until(() => seen.reads > 0, "the stream is read");
    await time.advance(3500);
    await failed;
    await time.advance(10_000);
    assertEquals(seen, { reads: 4, returns: 1 });
    assertEquals(readModelState(client.mesh, "own").inFlight, 0);
  });

  it("is left and its iterator returned though its next event never comes", async () => {
    const time = fakeClock();
    const { seen, events } = deafStream(() => new Promise(() => {}));
    await using client = clientOfOwn({ stream: () => events }, time);
    const call = client.chat.completions.create({ messages, stream: true }, { timeout: 3500 });
    const failed = assertRejects(() => call, DeadlineError);
    await until(() => seen.reads > 0, "the stream is read");
    await time.advance(3500);
    await failed;
    await breathe();
    assertEquals(seen, { reads: 1, returns: 1 });
  });
});

describe("A 429 whose body never ends", () => {
  it("is left for the next model within two seconds, as rate-limited", async () => {
    const headers = { "content-type": "application/json", "content-length": "1000", "retry-after": "30" };
    await using bad = await startUpstream(raw(`${formatHead(429, headers)}{"error": `, "hang"));
    await using good = await startUpstream(ok());
    const clock = fakeClock();
    const pool = { retry: { max_attempts: 0 } };
    await using proxy = await startTestProxy({ upstreams: { a: bad.url, b: good.url }, pool, clock });
    const call = proxy.chat();
    await soon(bad.received(1));
    assertLessOrEqual(await timeUntil(clock, call, 2000), 2000);
    const response = await soon(call);
    assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "b"]);
    await response.body?.cancel();
    const steps = proxy.records.flatMap((record) => record.type === "routing" ? record.fallback_chain : []);
    assertEquals(steps.map(({ model, outcome }) => [model, outcome]), [["a", "rate_limited"], ["b", "ok"]]);
    assertEquals(proxy.mesh.poolStatus().chat?.models[0]?.reason, "rate_limited");
    await assertClosesAtOnce(bad.requests[0]);
  });
});
