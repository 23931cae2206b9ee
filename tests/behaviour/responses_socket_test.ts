/** `/v1/responses` as a WebSocket, on each server there is. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { onDeno } from "../support/_programs.ts";
import { frame, openSocket } from "../support/_web_socket.ts";
import { becomes } from "../support/patience.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { Gate, startUpstream, stream, type Upstream } from "../support/upstream.ts";

const listeners = onDeno ? ["deno", "node"] as const : ["node"] as const;

/** Messages of a request at the provider, without their roles. */
const textsIn = (upstream: Upstream, index: number): string[] =>
  upstream.requests[index]!.json().messages.map(({ content }: { content: string }) => content);

for (const listener of listeners) {
  const start = (upstream: Upstream, options: Partial<TestProxyOptions> = {}) =>
    startTestProxy({ upstreams: { one: upstream.url }, listener, clock: fakeClock(), ...options });

  describe(`A WebSocket on /v1/responses, listener ${listener},`, () => {
    it("has the events of a stream, and a record and usage as by POST", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Good", " day"] }));
      await using proxy = await start(upstream);
      const posted = await fetch(`${proxy.url}/v1/responses`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "chat", input: "Hello", stream: true }),
      });
      const expected = (await posted.text()).split("\n").filter((line) => line.startsWith("data: "))
        .map((line) => JSON.parse(line.slice(6)));
      using client = await openSocket(proxy.url);
      client.ask();
      const events = await client.rest();
      assertEquals(withoutIds(events), withoutIds(expected));
      assertEquals(events.at(-1)!.response.output[0].content[0].text, "Good day");
      const body = upstream.requests[1]!.json();
      assertEquals([body.stream, "type" in body], [true, false]);
      const routing = () => proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
      await becomes(() => routing().length, 2);
      const [one, two] = routing().map((
        { operation, dialect, pool, model, delivery, attempts, status, tokens_in, tokens_out, cost_usd },
      ) => ({ operation, dialect, pool, model, delivery, attempts, status, tokens_in, tokens_out, cost_usd }));
      assertEquals(two, one);
      assertEquals([two!.dialect, two!.tokens_in], ["responses", 10]);
      assert(routing()[0]!.request_id !== routing()[1]!.request_id);
    });

    it("continues responses of the connection by their ids, several times and after a warm-up", async () => {
      await using upstream = await startUpstream((request) =>
        stream({ id: `chatcmpl-${request.number}`, pieces: [`answer ${request.number}`] })
      );
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      client.ask({ generate: false, input: [{ type: "message", role: "developer", content: "Be kind" }] });
      const [created, done] = await client.rest();
      assertEquals([created!.type, done!.type, done!.response.output], ["response.created", "response.completed", []]);
      assertEquals(upstream.calls, 0);
      client.ask({ previous_response_id: done!.response.id, input: "One" });
      const first = (await client.last()).response.id;
      client.ask({ previous_response_id: first, input: [{ role: "user", content: "Two" }] });
      await client.last();
      client.ask({ previous_response_id: first, input: "Other" });
      await client.last();
      assertEquals([0, 1, 2].map((index) => textsIn(upstream, index)), [
        ["Be kind", "One"],
        ["Be kind", "One", "answer 1", "Two"],
        ["Be kind", "One", "answer 1", "Other"],
      ]);
      for (const { headers } of upstream.requests) assertEquals(headers["sec-websocket-key"], undefined);
    });

    it("does not know responses of other connections", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      client.ask();
      const { response: { id } } = await client.last();
      using other = await openSocket(proxy.url);
      other.ask({ previous_response_id: id });
      const { status, error } = await other.last();
      assertEquals([status, error.code, error.param], [400, "previous_response_not_found", "previous_response_id"]);
      client.ask({ previous_response_id: id });
      assertEquals((await client.last()).type, "response.completed");
    });

    it("keeps no more than the limit of a body", async () => {
      await using upstream = await startUpstream((request) =>
        stream({ id: `chatcmpl-${request.number}`, pieces: ["x".repeat(800)] })
      );
      await using proxy = await start(upstream, { config: { proxy: { body_limit: "2000B" } } });
      using client = await openSocket(proxy.url);
      client.ask();
      const first = (await client.last()).response.id;
      client.ask();
      const second = (await client.last()).response.id;
      client.ask({ previous_response_id: first });
      assertEquals((await client.last()).error?.code, "previous_response_not_found");
      client.ask({ previous_response_id: second });
      assertEquals((await client.last()).type, "response.completed");
    });

    it("answers one request at a time, and the next one as soon as a response is complete", async () => {
      const gate = new Gate();
      await using upstream = await startUpstream([
        stream({ pieces: ["one", "two"], gate }),
        stream({ pieces: ["Hi"] }),
      ]);
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      const create = { type: "response.create", model: "chat", input: "Hello" };
      client.send(create, create);
      const refusal = await client.next();
      assertEquals([refusal.type, refusal.status, refusal.error.code], ["error", 409, "response_in_progress"]);
      gate.openAll();
      assertEquals((await client.last()).type, "response.completed");
      for (let count = 0; count < 10; count++) {
        client.ask();
        assertEquals((await client.last()).type, "response.completed");
      }
      assertEquals(upstream.calls, 11);
    });

    it("reads messages in many frames, and byte by byte", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      const text = JSON.stringify({ type: "response.create", model: "chat", input: "Grüezi 🙂" });
      const data = new TextEncoder().encode(text);
      const parts = [data.subarray(0, 20), data.subarray(20, 41), data.subarray(41)];
      parts.forEach((part, index) =>
        client.write(frame(part, { opcode: index === 0 ? 1 : 0, isLast: index === parts.length - 1 }))
      );
      assertEquals((await client.last()).type, "response.completed");
      for (const byte of frame(text)) client.write(new Uint8Array([byte]));
      assertEquals((await client.last()).type, "response.completed");
      assertEquals(upstream.requests.map((_, index) => textsIn(upstream, index)), [["Grüezi 🙂"], ["Grüezi 🙂"]]);
    });

    it("takes messages up to the limit of a body, and closes for a longer one", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using proxy = await start(upstream, { config: { proxy: { body_limit: "1MiB" } } });
      using client = await openSocket(proxy.url);
      client.ask({ input: "x".repeat(1_000_000) });
      assertEquals((await client.last()).type, "response.completed");
      client.ask({ input: "x".repeat(2_000_000) });
      assertEquals((await client.closed()).code, 1009);
      using other = await openSocket(proxy.url);
      other.ask({ input: "ü".repeat(700_000) });
      assertEquals((await other.closed()).code, 1009, "it is the bytes that count");
    });

    it("answers other messages by an error event, and stays open", async () => {
      await using upstream = await startUpstream(stream({ pieces: ["Hi"] }));
      await using proxy = await start(upstream);
      using client = await openSocket(proxy.url);
      const wrong: readonly [message: unknown, code: string, param: string | null][] = [
        ["{", "invalid_json", null],
        ["", "invalid_json", null],
        ["7", "invalid_value", null],
        ["[]", "invalid_value", null],
        [{}, "missing_required_parameter", "type"],
        [{ type: "response.steer" }, "invalid_value", "type"],
        [{ type: "response.create" }, "missing_required_parameter", "input"],
        [{ type: "response.create", input: "Hello" }, "missing_required_parameter", "model"],
        [{ type: "response.create", model: "chat", input: 7 }, "invalid_value", "input"],
        ['{"type":"response.create","model":"chat","input":"a","input":"b"}', "invalid_value", "input"],
        [{ type: "response.create", model: "chat", input: [{ type: "odd" }] }, "unsupported_by_pool", "input[0].type"],
        [{ type: "response.create", model: "none", input: "Hello" }, "model_not_found", "model"],
      ];
      for (const [message, code, param] of wrong) {
        client.send(message);
        const { type, error } = await client.next();
        assertEquals([type, error.code, error.param], ["error", code, param], JSON.stringify(message));
      }
      client.write(frame(new Uint8Array([1, 2, 3]), { opcode: 2 }));
      assertEquals((await client.next()).error.code, "invalid_json");
      client.send({ type: "response.processed", response_id: "resp_1" });
      client.send({ type: "response.create", response: { model: "chat", input: "Hello" } });
      assertEquals((await client.last()).type, "response.completed");
      assertEquals(upstream.calls, 1);
    });
  });
}

/** Events without what differs between responses. */
function withoutIds(events: readonly object[]): unknown {
  return JSON.parse(JSON.stringify(events).replaceAll(/"(created_at)":\d+/g, '"$1":0'));
}
