/**
 * A stream that has its finish reason and no end: no `[DONE]`, no last event, and a connection that stays open. The
 * client does not wait for it.
 */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Dialect, speaking } from "../support/_dialects.ts";
import { readModelState, startDialectProxy } from "../support/_dialect_proxy.ts";
import { isOpen, readStream, soon } from "../support/_failover.ts";
import { create } from "../../mod.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "../support/proxy.ts";
import { type Behaviour, formatHead, raw, startUpstream, stream } from "../support/upstream.ts";

const include = { stream_options: { include_usage: true } };

/** Asks a provider for a stream, and waits until what it sends has been passed on. */
async function open(behaviour: Behaviour, dialect: Dialect = "openai") {
  const clock = fakeClock();
  const upstream = await startUpstream(behaviour);
  const proxy = await startDialectProxy({ a: { dialect, url: upstream.url } }, {
    clock,
    config: { proxy: { heartbeat: "0s" } },
  });
  const response = await proxy.chat({ stream: true, ...include });
  const text = response.text();
  await isOpen(text);
  return {
    clock,
    proxy,
    text,
    call: upstream.requests[0]!,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

const endless: readonly (readonly [name: string, dialect: Dialect, after: number, usage: number])[] = [
  ["no [DONE]", "openai", 7, 5],
  ["neither usage nor [DONE]", "openai", 6, 0],
  ["no message_stop", "anthropic", 8, 5],
  ["Gemini's body goes on", "gemini", 5, 5],
];

describe("A stream that was held to its end, which its provider did not send", () => {
  const leaves: readonly [name: string, leave: (reader: AbortController, clock: FakeClock) => unknown][] = [
    ["when its reader aborts it", (reader) => reader.abort()],
    ["when it is not read for ten minutes", (_, clock) => clock.advance(600_000)],
  ];
  for (const [name, leave] of leaves) {
    it(`gives its place at the model back ${name}`, async () => {
      const [clock, reader] = [fakeClock(), new AbortController()];
      await using upstream = await startUpstream(speaking.openai.respond({ cut: { after: 6, how: "hang" } }));
      const config = testConfig({ upstreams: { a: upstream.url }, pool: { commit: "complete" } });
      await using client = create({ config, clock });
      const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }], stream: true as const };
      const opening = client.chat.completions.create(request, { signal: reader.signal });
      await upstream.received(1);
      assertEquals(await isOpen(opening), true);
      await clock.advance(2_000);
      await soon(opening);
      assertEquals(readModelState(client.mesh, "a").inFlight, 1);
      await leave(reader, clock);
      assertEquals(readModelState(client.mesh, "a"), { inFlight: 0, failures: 0, status: "active" });
    });
  }
});

describe("A stream with a finish reason whose provider does not end it", () => {
  for (const [name, dialect, after, tokens] of endless) {
    it(`ends after two seconds of silence, complete: ${name}`, async () => {
      const hanging = speaking[dialect].respond({ cut: { after, how: "hang" } });
      await using scene = await open(hanging, dialect);
      await scene.clock.advance(1_999);
      assertEquals(await isOpen(scene.text), true);
      await scene.clock.advance(1);
      const seen = readStream(await soon(scene.text));
      assertEquals([seen.text, seen.done, seen.error], ["Hello wörld, how are you?", 1, undefined]);
      const usage = seen.chunks.at(-1)?.usage as { completion_tokens: number } | undefined;
      assertEquals(usage?.completion_tokens ?? 0, tokens);
      await soon(scene.call.closed);
      assertEquals(readModelState(scene.proxy.mesh, "a"), { inFlight: 0, failures: 0, status: "active" });
    });
  }

  it("waits for another choice, which has no finish reason yet", async () => {
    const event = (index: number, content: string, finish_reason: string | null = null) => {
      const choices = [{ index, delta: { content }, finish_reason }];
      return `data: ${
        JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "a", choices })
      }\n\n`;
    };
    const events = event(0, "One") + event(1, "Two") + event(0, "", "stop");
    await using scene = await open(raw(formatHead(200, { "content-type": "text/event-stream" }) + events, "hang"));
    await scene.clock.advance(59_999);
    assertEquals(await isOpen(scene.text), true);
    await scene.clock.advance(1);
    assertEquals(readStream(await soon(scene.text)).error?.code, "stream_interrupted");
  });

  it("waits for Gemini's text where every event has a finish reason", async () => {
    const event = (text: string) =>
      `data: ${
        JSON.stringify({ candidates: [{ content: { parts: [{ text }] }, finishReason: "STOP", index: 0 }] })
      }\n\n`;
    const head = formatHead(200, { "content-type": "text/event-stream" });
    await using scene = await open(raw(head + event("One") + event(" two"), "hang"), "gemini");
    await scene.clock.advance(59_999);
    assertEquals(await isOpen(scene.text), true);
    await scene.clock.advance(1);
    await soon(scene.text);
  });

  it("without a finish reason, it is interrupted after 60 s as ever", async () => {
    await using scene = await open(stream({ cut: { after: 2, how: "hang" } }));
    await scene.clock.advance(59_999);
    assertEquals(await isOpen(scene.text), true);
    await scene.clock.advance(1);
    assertEquals(readStream(await soon(scene.text)).error?.code, "stream_interrupted");
  });
});
