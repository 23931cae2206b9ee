import { assert, assertEquals, assertNotMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import { serverConnectors } from "../../../connectors/server.ts";
import { type RunningProxy, startProxy } from "../../../src/proxy/serve.ts";
import { serverRuntime } from "../../../src/runtime/server.ts";
import { serverShell } from "../../../src/runtime/server_shell.ts";
import { type FakeClock, fakeClock, testRuntime } from "../../../src/runtime/test.ts";
import { fakeShell, spawnCommand, withProxyCommand } from "../../support/_cli.ts";
import { happens, patienceMs } from "../../support/patience.ts";
import { assertRefused, getRaw, goodBody, listeners, untilRefused } from "../../support/_surface.ts";
import { testConfig } from "../../support/proxy.ts";
import { Gate, hang, ok, respond, startUpstream, stream, type Upstream } from "../../support/upstream.ts";

const done = "data: [DONE]\n\n";

interface Started extends AsyncDisposable {
  readonly proxy: RunningProxy;
  readonly clock: FakeClock;
  /** The time its server was given to stop, for each time. */
  readonly graces: readonly number[];
  /** How often its sinks were flushed. */
  readonly flushes: () => number;
}

/** A proxy as the command line starts it; `graceMs` is what its server really gets to stop: longer than anybody waits. */
async function start(
  upstream: Upstream,
  { listener, section, graceMs = 10 * patienceMs }: {
    listener?: string;
    section?: Readonly<Record<string, unknown>>;
    graceMs?: number;
  },
): Promise<Started> {
  const clock = fakeClock();
  const graces: number[] = [];
  let hurry = () => Promise.resolve();
  const shell = {
    async serve(...args: Parameters<ReturnType<typeof serverShell>["serve"]>) {
      const { port, stop } = await serverShell().serve(...args);
      hurry = () => stop(0);
      return {
        port,
        stop(ms: number) {
          graces.push(ms);
          return stop(graceMs);
        },
      };
    },
  };
  const config = testConfig({ upstreams: { a: upstream.url }, config: { proxy: { ...section, listener } } });
  let flushes = 0;
  const sink = { emit: () => {}, trace: () => {}, flush: () => Promise.resolve(void flushes++) };
  const parts = {
    connectors: serverConnectors,
    runtime: testRuntime({ send: serverRuntime().send, clock }),
    shell: { ...fakeShell(), ...shell },
    sinks: [sink],
  };
  const proxy = await startProxy(parts, { config, port: 0 });
  return {
    proxy,
    clock,
    graces,
    flushes: () => flushes,
    async [Symbol.asyncDispose]() {
      const stopped = proxy.stop();
      await clock.advance(60_000);
      await hurry();
      await happens("it stops", stopped);
    },
  };
}

function chat(url: string, body: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...goodBody, ...body }),
  });
}

/** Streams that have begun, and the gate that holds each of them back. */
async function openStreams(url: string, upstream: Upstream, count: number, model = "chat") {
  const gates = Array.from({ length: count }, () => new Gate());
  const first = upstream.calls;
  upstream.follow(({ number }) => stream({ gate: gates[number - first - 1]! }));
  for (const gate of gates) gate.open(2); // the role, and the first word
  const responses = await Promise.all(gates.map(() => chat(url, { model, stream: true })));
  return { responses, finish: () => gates.forEach((gate) => gate.openAll()) };
}

/** A connection that stays open after a response; `closed` resolves when the server closes it. */
async function idleConnection(url: string): Promise<{ closed: Promise<void> }> {
  const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  await new Promise<void>((resolve) => {
    socket.once("data", () => resolve());
    socket.write(`GET /live HTTP/1.1\r\nHost: ${new URL(url).host}\r\n\r\n`);
  });
  return { closed };
}

for (const listener of listeners) {
  describe(`Stopping a proxy, proxy.listener: ${listener},`, () => {
    it("refuses new connections, and lets 20 open streams and a pending response finish", async () => {
      await using upstream = await startUpstream(respond());
      await using started = await start(upstream, { listener });
      const { proxy, clock, graces, flushes } = started;
      const { responses, finish } = await openStreams(proxy.url, upstream, 20);
      const held = new Gate();
      upstream.follow({
        async play(exchange) {
          await held.pass();
          await ok({ text: "in time" }).play(exchange);
        },
      });
      const pending = chat(proxy.url);
      await held.reached(1);
      let isStopped = false;
      const stopped = proxy.stop().then(() => isStopped = true);
      await untilRefused(proxy.url);
      assertEquals([isStopped, flushes()], [false, 0]);
      finish();
      held.open();
      for (const response of responses) {
        const text = await response.text();
        assert(text.endsWith(done), text);
        assertStringIncludes(text, "world");
      }
      assertEquals((await (await pending).json()).choices[0].message.content, "in time");
      await happens("it stops", stopped);
      assertEquals([graces, clock.pending, upstream.calls, flushes()], [[30_000], 0, 21, 1]);
    });

    it("closes idle connections at once, and is over when nothing is open", async () => {
      await using upstream = await startUpstream(respond());
      await using started = await start(upstream, { listener });
      const { proxy } = started;
      const idle = await Promise.all([1, 2, 3].map(() => idleConnection(proxy.url)));
      const stopped = Promise.all([proxy.stop(), proxy.stop(), ...idle.map(({ closed }) => closed)]);
      await happens("idle connections close, and it stops", stopped);
      assertEquals(started.graces, [30_000], "stopping twice is stopping once");
    });

    it("waits for proxy.drain_delay first: only /ready says 503, everything is served", async () => {
      await using upstream = await startUpstream(respond());
      await using started = await start(upstream, { listener, section: { drain_delay: "10s" } });
      const { proxy, clock, graces } = started;
      const { responses, finish } = await openStreams(proxy.url, upstream, 1);
      upstream.follow(respond());
      assertEquals((await getRaw(proxy.url, "/ready")).status, 200);
      const stopped = proxy.stop();
      assertEquals((await getRaw(proxy.url, "/ready")).status, 503);
      assertEquals((await getRaw(proxy.url, "/live")).status, 200);
      assertEquals((await getRaw(proxy.url, "/health")).status, 200);
      assertEquals((await (await chat(proxy.url)).json()).object, "chat.completion");
      await clock.advance(9_999);
      assertEquals([(await getRaw(proxy.url, "/ready")).status, graces], [503, []]);
      upstream.follow(stream());
      assert((await (await chat(proxy.url, { stream: true })).text()).endsWith(done));
      await clock.advance(1);
      await untilRefused(proxy.url);
      finish();
      assert((await responses[0]!.text()).endsWith(done));
      await happens("it stops", stopped);
    });

    it("ends what is still open after the grace time: 503 for who waits, no [DONE] for who reads", async () => {
      await using upstream = await startUpstream(respond());
      await using started = await start(upstream, { listener, graceMs: 0 });
      const { proxy } = started;
      const { responses } = await openStreams(proxy.url, upstream, 1);
      upstream.follow(hang());
      const pending = chat(proxy.url);
      const { closed } = await upstream.received(2);
      const stopped = proxy.stop();
      await assertRefused(await pending, { status: 503, type: "server_error", code: "shutting_down" });
      const read = await responses[0]!.text().catch(() => "broken off");
      assertNotMatch(read, /\[DONE\]/);
      const providers = Promise.all([closed, upstream.requests[0]!.closed]);
      await happens("no provider goes on for a client that left", providers);
      await happens("it stops", stopped);
    });
  });
}

describe("modelmesh proxy, stopped by a signal", () => {
  const demo = { files: { "mesh.json": JSON.stringify(testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" } })) } };

  it("exits 0 after one signal, says so, and listens to signals no more", async () => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const ended = await withProxyCommand(["--config", "mesh.json"], demo, (_, shell) => {
        assertEquals(shell.listeners, 2, "to end, and to read the configuration again");
        shell.signal(signal);
        assertEquals([shell.exits, shell.listeners], [[], 2]);
        return shell.says("finishing responses in flight");
      });
      assertEquals(ended.code, 0);
      assertStringIncludes(ended.err, `${signal}: finishing responses in flight`);
    }
  });

  it("finishes open streams as a process of its own, and exits 0", async () => {
    await using upstream = await startUpstream(respond());
    await using child = spawnCommand(["proxy", "--port", "0", "--json"], {
      env: { OPENAI_API_KEY: "sk-child-0123456789", OPENAI_BASE_URL: upstream.url },
    });
    const url = await child.url();
    const { responses, finish } = await openStreams(url, upstream, 2, "chat-completion");
    const idle = await idleConnection(url);
    child.kill("SIGTERM");
    await child.says("SIGTERM: finishing");
    await untilRefused(url);
    await idle.closed;
    finish();
    for (const response of responses) assert((await response.text()).endsWith(done));
    assertEquals(await child.code, 0, child.err);
    assertEquals(JSON.parse(child.out).url, url);
    assertNotMatch(child.err, /error|\n\s+at |sk-child/i);
  });

  it("ends at once at the second signal", async () => {
    await using upstream = await startUpstream(respond());
    await using child = spawnCommand(["proxy", "--port", "0"], {
      env: { OPENAI_API_KEY: "sk-child-0123456789", OPENAI_BASE_URL: upstream.url },
    });
    const { responses } = await openStreams(await child.url(), upstream, 2, "chat-completion");
    child.kill("SIGINT");
    await child.says("send it again to stop immediately");
    child.kill("SIGTERM");
    const code = await happens("it ends, its streams unfinished", child.code);
    assertEquals([code, child.out], [1, ""]);
    for (const response of responses) await assertRejects(() => response.text());
  });
});
