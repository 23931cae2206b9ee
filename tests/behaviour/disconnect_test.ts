/**
 * Clients that leave before they have their response: the provider's call ends with them, and no failure is counted. The
 * clock stands still, so that no time limit ends a call in their place.
 */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import { create, type MeshClient, type RoutingRecord } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { readModelState } from "../support/_dialect_proxy.ts";
import { behind } from "../support/_failover.ts";
import { dechunk, halfClose } from "../support/_half_closing.ts";
import { arrival, assertCloses, visit, type Way } from "../support/_leaving.ts";
import { keyPair, tlsClient } from "../support/_tls.ts";
import { becomes } from "../support/patience.ts";
import { startTestProxy, testConfig, type TestProxy, type TestProxyOptions } from "../support/proxy.ts";
import {
  type Behaviour,
  Gate,
  hang,
  hangAfterHeaders,
  respond,
  startUpstream,
  status,
  stream,
  type Upstream,
} from "../support/upstream.ts";

const ways: readonly Way[] = ["fetch", "FIN", "RST"];

const unharmed = { inFlight: 0, failures: 0, status: "active" };

/** A moment to leave at: how the provider gets there, and what the record says then. */
interface Moment {
  readonly name: string;
  readonly isStream: boolean;
  /** What the client has read when it leaves. */
  readonly sees?: string;
  readonly script: () => Behaviour;
  /** How the routing decision ended. */
  readonly outcome: string;
}

const moments: readonly Moment[] = [
  { name: "in the middle of a stream", isStream: true, sees: "one", script: () => midway(), outcome: "aborted" },
  {
    name: "before a stream's first content",
    isStream: true,
    script: () => hangAfterHeaders("text/event-stream"),
    outcome: "aborted",
  },
  { name: "before a stream's head", isStream: true, script: hang, outcome: "aborted" },
  { name: "while a whole answer is made", isStream: false, script: hang, outcome: "aborted" },
  { name: "while a whole answer is on its way", isStream: false, script: hangAfterHeaders, outcome: "aborted" },
];

/** A stream that waits after its first piece. */
function midway(): Behaviour {
  const gate = new Gate();
  gate.open(2);
  return stream({ pieces: ["one", "two"], gate });
}

/** Nothing is counted, nothing is held, and the next request is served. */
async function assertUnharmed({ mesh, records, url }: TestProxy, upstream: Upstream, outcome: string): Promise<void> {
  await becomes(() => readModelState(mesh, "one").inFlight, 0);
  assertEquals(readModelState(mesh, "one"), unharmed);
  const routing = records.filter((record): record is RoutingRecord => record.type === "routing");
  assertEquals(routing.map(({ fallback_chain }) => fallback_chain.map((step) => step.outcome)), [[outcome]]);
  assertEquals(records.length, 1);
  upstream.follow(respond());
  const next = visit(url, "fetch", { stream: true });
  await next.reads("[DONE]");
  assertEquals(readModelState(mesh, "one").inFlight, 0);
}

/** A proxy that takes one request at a time: a client that leaves without freeing its slot is noticed. */
function proxyOver(upstream: Upstream, { listener = "node", clock = fakeClock() }: Partial<TestProxyOptions> = {}) {
  const config = { proxy: { max_concurrent: 1 } };
  return startTestProxy({ upstreams: { one: upstream.url }, config, clock, listener });
}

describe("A client that leaves the proxy", () => {
  for (const { name, isStream, sees, script, outcome } of moments) {
    it(name, async () => {
      for (const way of ways) {
        await using upstream = await startUpstream(script());
        await using proxy = await proxyOver(upstream);
        const visitor = visit(proxy.url, way, { stream: isStream });
        const request = await arrival(upstream);
        if (sees !== undefined) await visitor.reads(sees);
        await assertCloses(request, () => visitor.leave());
        await assertUnharmed(proxy, upstream, outcome);
      }
    });
  }

  it("in the middle of a stream, with Deno.serve too", async () => {
    for (const way of ways) {
      await using upstream = await startUpstream(midway());
      await using proxy = await proxyOver(upstream, { listener: "deno" });
      const visitor = visit(proxy.url, way, { stream: true });
      await visitor.reads("one");
      await assertCloses(upstream.requests[0]!, () => visitor.leave());
      await assertUnharmed(proxy, upstream, "aborted");
    }
  });

  it("before its response begins, with Deno.serve, if its whole request came in one read", async () => {
    const early = moments.filter(({ sees }) => sees === undefined);
    // at once, since the server looks for clients that have left once a second
    await Promise.all(early.flatMap(({ isStream, script }) =>
      ways.map(async (way) => {
        await using upstream = await startUpstream(script());
        await using proxy = await proxyOver(upstream, { listener: "deno" });
        const visitor = visit(proxy.url, way, { stream: isStream, ...ask });
        await assertCloses(await arrival(upstream), () => visitor.leave());
        await assertUnharmed(proxy, upstream, "aborted");
      })
    ));
  });

  it("while the next try is waited for", async () => {
    for (const way of ways) {
      const clock = fakeClock();
      await using upstream = await startUpstream(status(500));
      await using proxy = await proxyOver(upstream, { clock });
      const visitor = visit(proxy.url, way, {});
      await arrival(upstream);
      await becomes(() => clock.sleeps.length, 1);
      visitor.leave();
      await assertUnharmed(proxy, upstream, "aborted");
      assertEquals(upstream.calls, 2); // the failed try and the next request's
    }
  });

  it("thirty times in a row leaves no connection open", async () => {
    await using upstream = await startUpstream(hang());
    await using proxy = await proxyOver(upstream);
    for (let round = 0; round < 30; round++) {
      const { isStream, sees, script } = moments[round % moments.length]!;
      upstream.follow(script());
      const visitor = visit(proxy.url, ways[round % ways.length]!, { stream: isStream });
      const request = await arrival(upstream, round + 1);
      if (sees !== undefined) await visitor.reads(sees);
      await assertCloses(request, () => visitor.leave());
      await becomes(() => readModelState(proxy.mesh, "one").inFlight, 0);
      assertEquals(readModelState(proxy.mesh, "one"), unharmed);
    }
    await becomes(() => upstream.open, 0);
    assertEquals(upstream.calls, 30);
    upstream.follow(respond());
    await visit(proxy.url, "fetch", { stream: true }).reads("[DONE]");
  });
});

describe("A client that closes its sending side", () => {
  const request = (isStream: boolean, minor = 1) => {
    const body = JSON.stringify({ model: "chat", ...ask, stream: isStream });
    const head = [`POST /v1/chat/completions HTTP/1.${minor}`, "host: 127.0.0.1", "content-type: application/json"];
    return `${head.join("\r\n")}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  };
  const connectTo = (proxy: TestProxy) => connect({ host: "127.0.0.1", port: Number(new URL(proxy.url).port) });

  for (const minor of [0, 1]) {
    it(`gets its non-streaming response, and is not a client that has left (HTTP/1.${minor})`, async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(behind(gate, respond()));
      await using proxy = await proxyOver(upstream);
      const client = await halfClose(connectTo(proxy), request(false, minor));
      await gate.reached(1);
      if (minor === 1) await client.reads("HTTP/1.1 102"); // the server has seen the end of the data
      gate.openAll();
      const text = await client.rest();
      assertEquals(text.includes("HTTP/1.1 102"), minor === 1);
      const [head = "", body = ""] = text.slice(text.indexOf("HTTP/1.1 200")).split("\r\n\r\n");
      assertEquals([head.slice(0, 15), JSON.parse(body).choices[0].message.content], [
        "HTTP/1.1 200 OK",
        "Hello world",
      ]);
    });
  }

  it("gets the rest of its stream", async () => {
    const gate = new Gate();
    gate.open(2);
    await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
    await using proxy = await proxyOver(upstream);
    const client = await halfClose(connectTo(proxy), request(true), "one");
    await client.reads("\n\n\r\n0"); // a leading zero of the next chunk's length
    gate.openAll();
    const text = await client.rest();
    const body = dechunk(text.slice(text.indexOf("\r\n\r\n") + 4));
    assertMatch(body, /"one"[^]*"two"[^]*data: \[DONE\]/);
  });

  it("gets its response over TLS", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(behind(gate, respond()));
    await using proxy = await proxyOver(upstream);
    const server = await listen(createHandler(proxy.mesh), { port: 0, tls: keyPair("server.pem", "server.key") });
    const { socket } = await tlsClient(server.port);
    const client = await halfClose(socket, request(false));
    await gate.reached(1);
    await client.reads("HTTP/1.1 102");
    gate.openAll();
    assertMatch(await client.rest(), /HTTP\/1.1 200 OK[^]*Hello world/);
    await server.stop(0);
  });
});

/** A client of the library over one provider. */
function createClient(
  upstream: Upstream,
  { pool, clock = fakeClock() }: Pick<TestProxyOptions, "pool"> & { clock?: FakeClock } = {},
): MeshClient {
  return create({ config: testConfig({ upstreams: { one: upstream.url }, ...(pool && { pool }) }), clock });
}

const ask = { messages: [{ role: "user" as const, content: "Hi" }] };
const reason = new Error("The user has closed the window");

async function assertServes(client: MeshClient, upstream: Upstream): Promise<void> {
  assertEquals(readModelState(client.mesh, "one"), unharmed);
  upstream.follow(respond());
  assertEquals((await client.chat.completions.create(ask)).choices[0]!.message.content, "Hello world");
}

describe("A program that gives up a call of the library", () => {
  for (const { name, isStream, script } of moments.filter(({ sees }) => sees === undefined)) {
    it(`by its AbortSignal ${name}`, async () => {
      await using upstream = await startUpstream(script());
      await using client = createClient(upstream);
      const controller = new AbortController();
      const call = client.chat.completions.create({ ...ask, stream: isStream }, { signal: controller.signal });
      const failed = assertRejects(() => call, Error, reason.message);
      await assertCloses(await arrival(upstream), () => controller.abort(reason));
      assertEquals(await failed, reason);
      await assertServes(client, upstream);
    });
  }

  it("by its AbortSignal while the next try is waited for", async () => {
    const clock = fakeClock();
    await using upstream = await startUpstream(status(500));
    await using client = createClient(upstream, { clock });
    const controller = new AbortController();
    const call = client.chat.completions.create(ask, { signal: controller.signal });
    await arrival(upstream);
    await becomes(() => clock.sleeps.length, 1);
    controller.abort(reason);
    assertEquals(await assertRejects(() => call), reason);
    await assertServes(client, upstream);
    assertEquals(upstream.calls, 2);
  });

  it("before it began sends nothing", async () => {
    await using upstream = await startUpstream(respond());
    await using client = createClient(upstream);
    const call = () => client.chat.completions.create(ask, { signal: AbortSignal.abort(reason) });
    assertEquals(await assertRejects(call), reason);
    assertEquals(upstream.calls, 0);
    await assertServes(client, upstream);
  });

  it("by leaving the loop over a stream", async () => {
    await using upstream = await startUpstream(midway());
    await using client = createClient(upstream);
    const chunks = await client.chat.completions.create({ ...ask, stream: true });
    const request = await arrival(upstream);
    const loop = async () => {
      for await (const { choices } of chunks) if (choices[0]?.delta.content === "one") break;
    };
    await assertCloses(request, loop);
    await assertServes(client, upstream);
  });

  it("has it count as no success either: failures before it still do", async () => {
    await using upstream = await startUpstream([status(500), midway(), hang(), respond()]);
    await using client = createClient(upstream, { pool: { retry: { max_attempts: 0 } } });
    const failures = () => readModelState(client.mesh, "one").failures;
    await assertRejects(() => client.chat.completions.create(ask));
    assertEquals(failures(), 1);
    const chunks = await client.chat.completions.create({ ...ask, stream: true });
    for await (const _ of chunks) break;
    assertEquals(failures(), 1);
    const controller = new AbortController();
    const given = client.chat.completions.create(ask, { signal: controller.signal });
    await arrival(upstream, 3);
    controller.abort(reason);
    assertEquals([await assertRejects(() => given), failures()], [reason, 1]);
    await client.chat.completions.create(ask);
    assertEquals(failures(), 0);
  });

  it("by cancelling a stream that is not read", async () => {
    await using upstream = await startUpstream(midway());
    await using client = createClient(upstream);
    const chunks = await client.chat.completions.create({ ...ask, stream: true });
    await assertCloses(upstream.requests[0]!, () => chunks.cancel());
    await assertServes(client, upstream);
  });

  for (const isRead of [true, false]) {
    it(`by its AbortSignal in the middle of a stream that is ${isRead ? "being read" : "not being read"}`, async () => {
      await using upstream = await startUpstream(midway());
      await using client = createClient(upstream);
      const controller = new AbortController();
      const { signal } = controller;
      const chunks = await client.chat.completions.create({ ...ask, stream: true }, { signal });
      const readAll = async () => {
        for await (const _ of chunks);
      };
      const failed = isRead ? assertRejects(readAll) : undefined;
      await assertCloses(upstream.requests[0]!, () => controller.abort(reason));
      assertEquals(await (failed ?? assertRejects(readAll)), reason);
      await assertServes(client, upstream);
    });
  }
});
