/** Who may open a WebSocket on `/v1/responses`, what its requests may use, and how it ends. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import { ModelMesh, type RoutingRecord } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { arrival, assertCloses } from "../support/_leaving.ts";
import { onDeno } from "../support/_programs.ts";
import { frame, openSocket, type SocketOptions, WebSocketClient } from "../support/_web_socket.ts";
import { becomes, happens, patienceMs, until } from "../support/patience.ts";
import { startTestProxy, testConfig, type TestProxyOptions } from "../support/proxy.ts";
import { Gate, hang, ok, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

const listeners = onDeno ? ["deno", "node"] as const : ["node"] as const;
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

for (const listener of listeners) {
  const start = (upstream: Upstream, options: Partial<TestProxyOptions> = {}) =>
    startTestProxy({ upstreams: { one: upstream.url }, listener, clock: fakeClock(), ...options });

  describe(`A WebSocket on /v1/responses, listener ${listener},`, () => {
    it("is refused at once, by a plain response, wherever it is not served", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using closed = await start(upstream, { tokens: ["a-token"] });
      await using open = await start(upstream, { config: { proxy: { endpoints: ["chat/completions"] } } });
      const cases: readonly (readonly [url: string, options: SocketOptions, status: number, code: string])[] = [
        [closed.url, {}, 401, "invalid_api_key"],
        [closed.url, bearer("another"), 401, "invalid_api_key"],
        [closed.url, { ...bearer("a-token"), path: "/v1/chat/completions" }, 405, "method_not_allowed"],
        [closed.url, { ...bearer("a-token"), path: "/v1/other" }, 404, "unknown_url"],
        [open.url, {}, 404, "unknown_url"],
        [open.url, { headers: { host: "evil.example" } }, 403, "host_not_allowed"],
        [open.url, { headers: { origin: "https://evil.example" } }, 403, "origin_not_allowed"],
      ];
      for (const [url, options, code, word] of cases) {
        using client = new WebSocketClient(url, options);
        const { status, head, body } = await refusal(client);
        assertEquals([status, JSON.parse(body).error.code], [code, word]);
        assertMatch(head, /^x-request-id: \S+\r$/im);
      }
      using client = await openSocket(closed.url, {
        headers: { ...bearer("a-token").headers, "x-request-id": "mine" },
      });
      assertMatch((await client.response).head, /^x-request-id: mine\r$/im);
    });

    it("is refused if its handshake is incomplete, and a plain GET is not allowed", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using proxy = await start(upstream);
      using client = new WebSocketClient(proxy.url, { headers: { "sec-websocket-key": undefined } });
      assertEquals((await refusal(client)).status, 400);
      const response = await fetch(`${proxy.url}/v1/responses`);
      assertEquals([response.status, response.headers.get("allow")], [405, "POST"]);
      await response.body?.cancel();
    });

    it("applies the limits of its client to each request", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      const clock = fakeClock();
      const proxy = {
        auth: {
          tokens: [{ token: "t-rpm-0123", name: "quick", rpm: 2 }, {
            token: "t-pools-0123",
            name: "narrow",
            pools: ["narrow"],
          }],
        },
      };
      const pools = { chat: { models: ["one"] }, narrow: { models: ["one"] } };
      await using scene = await start(upstream, { clock, config: { proxy, pools } });
      using client = await openSocket(scene.url, bearer("t-rpm-0123"));
      for (const _ of [1, 2]) {
        client.ask();
        assertEquals((await client.last()).type, "response.completed");
      }
      client.ask();
      const refused = await client.last();
      assertEquals([refused.status, refused.error.code, refused.headers["retry-after"]], [
        429,
        "rate_limit_exceeded",
        "60",
      ]);
      await clock.advance(59_000);
      assertEquals(upstream.calls, 2);
      using narrow = await openSocket(scene.url, bearer("t-pools-0123"));
      narrow.ask();
      assertEquals((await narrow.last()).error.code, "model_not_found");
    });

    it("takes a slot of max_concurrent for each response, and none in between", async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
      await using proxy = await start(upstream, { config: { proxy: { max_concurrent: 1 } } });
      using one = await openSocket(proxy.url);
      using two = await openSocket(proxy.url);
      one.ask();
      await arrival(upstream);
      two.ask();
      const refused = await two.last();
      assertEquals([refused.status, refused.error.code], [503, "overloaded"]);
      gate.openAll();
      assertEquals((await one.last()).type, "response.completed");
      two.ask();
      assertEquals((await two.last()).type, "response.completed");
    });

    it("serves many connections at once", async () => {
      await using upstream = await startUpstream((request) =>
        stream({ id: `chatcmpl-${request.number}`, pieces: [request.json().messages.at(-1).content] })
      );
      await using proxy = await start(upstream);
      const clients = await Promise.all(Array.from({ length: 20 }, () => openSocket(proxy.url)));
      const turns = async (client: WebSocketClient, index: number) => {
        let previous_response_id: string | undefined;
        for (const turn of [1, 2, 3]) {
          client.ask({ input: `${index}.${turn}`, previous_response_id });
          const { response } = await client.last();
          assertEquals(response.output[0].content[0].text, `${index}.${turn}`);
          previous_response_id = response.id;
        }
      };
      await Promise.all(clients.map(turns));
      for (const client of clients) client.leave();
      assertEquals(upstream.calls, 60);
    });

    it("cancels the provider's call when the client leaves", async () => {
      const ways: readonly ((client: WebSocketClient) => void)[] = [
        (client) => client.leave(),
        (client) => client[Symbol.dispose](),
        (client) => client.write(frame(new Uint8Array([3, 232]), { opcode: 8 })),
      ];
      const midway = () => {
        const gate = new Gate();
        gate.open(2);
        return stream({ pieces: ["one", "two"], gate });
      };
      for (const script of [hang, midway]) {
        for (const leave of ways) {
          await using upstream = await startUpstream(script());
          await using proxy = await start(upstream);
          using client = await openSocket(proxy.url);
          client.ask();
          const request = await arrival(upstream);
          await assertCloses(request, () => leave(client));
          await until(async () => (await readStatus(proxy.url)).in_flight === 0);
          await becomes(() => proxy.records.length, 1);
          const [{ fallback_chain }] = proxy.records as [RoutingRecord];
          assertEquals(fallback_chain.map(({ outcome }) => outcome), ["aborted"]);
        }
      }
    });

    it("ends a stream that breaks off with its event, and stays open", async () => {
      await using upstream = await startUpstream([
        stream({ pieces: ["one", "two"], cut: { after: 1, how: "reset" } }),
        stream({ pieces: ["Hi"] }),
      ]);
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      client.ask();
      const { type, response } = await client.last();
      assertEquals([type, response.error.code], ["response.failed", "stream_interrupted"]);
      client.ask();
      assertEquals((await client.last()).type, "response.completed");
    });

    it("reports what all models answer, with the status", async () => {
      await using upstream = await startUpstream([status(400), stream({ pieces: ["Hi"] })]);
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      client.ask();
      const { type, status: code, headers } = await client.last();
      assertEquals([type, code], ["error", 400]);
      assertMatch(headers["x-request-id"], /^\S{36}$/);
      client.ask();
      assertEquals((await client.last()).type, "response.completed");
    });

    it("closes after 60 s without a request, and not during a response", async () => {
      const gate = new Gate();
      const clock = fakeClock();
      await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
      await using proxy = await start(upstream, { clock });
      using client = await openSocket(proxy.url);
      await clock.advance(59_000);
      client.ask();
      await arrival(upstream);
      gate.open(2);
      await client.next();
      await clock.advance(50_000);
      gate.openAll();
      assertEquals((await client.last()).type, "response.completed");
      await becomes(() => clock.pending > 0, true);
      await clock.advance(59_000);
      client.ask();
      assertEquals((await client.last()).type, "response.completed");
      await until(async () => (await readStatus(proxy.url)).in_flight === 0);
      await clock.advance(60_000);
      assertEquals((await client.closed()).code, 1000);
    });

    it("is closed when the proxy stops: at once if it is idle, else after its response", async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(stream({ pieces: ["one", "two"], gate }));
      const mesh = new ModelMesh({ clock: fakeClock() });
      await mesh.initialize(testConfig({ upstreams: { one: upstream.url } }));
      let isStopping = false;
      const handler = createHandler(mesh, { isStopping: () => isStopping });
      const server = await listen(handler, { port: 0, listener });
      const url = `http://127.0.0.1:${server.port}`;
      using idle = await openSocket(url);
      using busy = await openSocket(url);
      busy.ask();
      await arrival(upstream);
      isStopping = true;
      let isStopped = false;
      const stopped = server.stop(10 * patienceMs).then(() => isStopped = true);
      assertEquals((await idle.closed()).code, 1001);
      assertEquals(isStopped, false);
      await assertNoService(url);
      gate.openAll();
      assertEquals((await busy.last()).type, "response.completed");
      assertEquals((await busy.closed()).code, 1001);
      await happens("the server stops", stopped);
      await assertRejects(() => fetch(url));
      await mesh.close();
    });

    it("is cut off when the grace period of a stop ends", async () => {
      await using upstream = await startUpstream(hang());
      const mesh = new ModelMesh({ clock: fakeClock() });
      await mesh.initialize(testConfig({ upstreams: { one: upstream.url } }));
      const server = await listen(createHandler(mesh), { port: 0, listener });
      using client = await openSocket(`http://127.0.0.1:${server.port}`);
      client.ask();
      const request = await arrival(upstream);
      const stopped = server.stop(0);
      assertEquals((await client.closed()).code, 1001);
      await happens("the provider's call ends", request.closed);
      await happens("the server stops", stopped);
      await mesh.close();
    });
  });
}

describe("A server over node:http that takes WebSockets", () => { // Deno.serve rejects such requests itself
  it("does not hinder requests that offer another protocol, with their bodies", async () => {
    await using upstream = await startUpstream(ok({ text: "Hi" }));
    await using proxy = await startTestProxy({ upstreams: { one: upstream.url }, listener: "node" });
    const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "ü".repeat(50_000) }] });
    const { hostname, port, host } = new URL(proxy.url);
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
      `Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n`;
    const socket = connect(Number(port), hostname);
    let received = "";
    const responded = new Promise<void>((resolve) => {
      socket.on("data", (bytes: Uint8Array) => {
        received += new TextDecoder().decode(bytes);
        if (received.includes('"usage"')) resolve();
      });
    });
    socket.write(head + body.slice(0, 1_000));
    await new Promise((resolve) => setTimeout(resolve, 5)); // in a further read
    socket.write(body.slice(1_000));
    await happens("it is answered", responded);
    assertMatch(received, /^HTTP\/1\.1 200 OK\r\n/);
    socket.destroy();
  });
});

async function readStatus(url: string): Promise<{ readonly in_flight: number }> {
  return await (await fetch(`${url}/mesh/status`)).json();
}

async function refusal(client: WebSocketClient): Promise<Awaited<WebSocketClient["response"]>> {
  const response = await client.response;
  assert(response.status !== 101, response.head);
  return response;
}

/** A stopping server accepts no connection, or answers 503. */
async function assertNoService(url: string): Promise<void> {
  using client = new WebSocketClient(url);
  const { status, head } = await client.response;
  assert(head === "" || status === 503, head);
}
