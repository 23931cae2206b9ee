import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type ChatCompletionChunk, type ChatStream, MeshError, routingOf, StreamInterruptedError } from "../../mod.ts";
import { assertClosesAtOnce, clientOver, fakeClock, messages, type TestClientOptions } from "../support/_library.ts";
import { Gate, ok, respondEmpty, startUpstream, status, stream, type StreamOptions } from "../support/upstream.ts";

const strict = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } };

async function toChunks(answer: ChatStream): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return chunks;
}

function joinDeltas(chunks: readonly ChatCompletionChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
}

/** A client of a pool whose models rest after one failure. */
function strictClient(upstreams: TestClientOptions["upstreams"], options: Partial<TestClientOptions> = {}) {
  return clientOver({ upstreams, pool: strict, ...options });
}

describe("A streamed response", () => {
  it("is an async iterable of the provider's chunks, usage only when asked for", async () => {
    await using upstream = await startUpstream(stream({ pieces: ["Hello", " ", "world"] }));
    await using one = strictClient({ alpha: upstream.url });
    const plain = await toChunks(await one.client.chat.completions.create({ messages, stream: true }));
    assertEquals(joinDeltas(plain), "Hello world");
    assertEquals(plain.at(-1)?.choices[0]?.finish_reason, "stop");
    assertEquals(plain.filter(({ usage }) => usage), []);
    const asked = { messages, stream: true, stream_options: { include_usage: true } } as const;
    const counted = await toChunks(await one.client.chat.completions.create(asked));
    assertEquals(counted.at(-1)?.usage?.total_tokens, 15);
    assertEquals(counted.at(-1)?.choices, []);
  });

  it("comes of a non-streaming response as well", async () => {
    await using upstream = await startUpstream(ok({ text: "All at once" }));
    await using one = strictClient({ alpha: upstream.url });
    const chunks = await toChunks(await one.client.chat.completions.create({ messages, stream: true }));
    assertEquals([joinDeltas(chunks), chunks.at(-1)?.choices[0]?.finish_reason], ["All at once", "stop"]);
  });

  it("begins with its first content, so that failures before it are not seen", async () => {
    await using silent = await startUpstream(respondEmpty());
    await using broken = await startUpstream(stream({ cut: { after: 0, how: "reset" } }));
    await using good = await startUpstream(stream());
    await using one = strictClient({ alpha: silent.url, beta: broken.url, gamma: good.url });
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    assertEquals(joinDeltas(await toChunks(answer)), "Hello world");
    const steps = routingOf(answer)?.fallback_chain.map(({ model, outcome }) => [model, outcome]);
    assertEquals(steps, [["alpha", "empty"], ["beta", "network"], ["gamma", "ok"]]);
  });

  it("is read once; a second reader gets an error", async () => {
    await using upstream = await startUpstream(stream());
    await using one = strictClient({ alpha: upstream.url });
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    await toChunks(answer);
    const error = assertThrows(() => answer[Symbol.asyncIterator](), MeshError, "twice");
    assertEquals(error.code, "stream_consumed");
    await assertRejects(() => toChunks(answer), MeshError, "twice");
  });

  const leavings: readonly (readonly [how: string, leave: (answer: ChatStream) => Promise<unknown>])[] = [
    ["leaving the loop", async (answer) => {
      for await (const _ of answer) break;
    }],
    ["throwing in the loop", async (answer) => {
      const read = async () => {
        for await (const _ of answer) throw new Error("the program's own");
      };
      await assertRejects(read, Error, "own");
    }],
    ["cancel() before the first read", (answer) => Promise.resolve(answer.cancel())],
    ["cancel() while a read waits", async (answer) => {
      const chunks = answer[Symbol.asyncIterator]();
      await chunks.next();
      await chunks.next();
      const next = chunks.next();
      answer.cancel();
      assertEquals(await next, { done: true, value: undefined });
    }],
  ];
  for (const [how, leave] of leavings) {
    it(`is ended by ${how}, the provider's call too, and no failure is counted`, async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(stream({ gate }));
      await using one = strictClient({ alpha: upstream.url });
      gate.open(2);
      const answer = await one.client.chat.completions.create({ messages, stream: true });
      await leave(answer);
      await assertClosesAtOnce(upstream.requests[0]);
      answer.cancel();
      assertEquals(one.client.mesh.poolStatus().chat?.active, 1);
      assertEquals(one.records.filter(({ type }) => type === "event"), []);
    });
  }

  it("that is complete is over: more reads give nothing, cancel() does nothing", async () => {
    await using upstream = await startUpstream(stream());
    await using one = strictClient({ alpha: upstream.url });
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    const chunks = answer[Symbol.asyncIterator]();
    while (!(await chunks.next()).done);
    answer.cancel();
    assertEquals(await chunks.next(), { done: true, value: undefined });
    assertEquals(one.client.mesh.poolStatus().chat?.active, 1);
  });

  const breaks: readonly (readonly [what: string, options: StreamOptions])[] = [
    ["is reset", { cut: { after: 2, how: "reset" } }],
    ["is closed", { cut: { after: 2, how: "close" } }],
    ["ends without saying so", { cut: { after: 2, how: "end" } }],
    ["says an error", { error: { after: 2, error: { message: "Overloaded" } } }],
    ["turns to garbage", { garbage: { after: 2, text: 'data: {"bro\n\ndata: {"bro' } }],
  ];
  for (const [what, options] of breaks) {
    it(`that ${what} throws with the text so far, and counts against its model`, async () => {
      await using upstream = await startUpstream(stream({ pieces: ["One", " two", " three"], ...options }));
      await using spare = await startUpstream(stream());
      await using one = strictClient({ alpha: upstream.url, beta: spare.url });
      const headers = { "x-request-id": "stream-1" };
      const answer = await one.client.chat.completions.create({ messages, stream: true }, { headers });
      const chunks = answer[Symbol.asyncIterator]();
      for (let place = 0; place < 3; place++) assertEquals((await chunks.next()).done, false);
      const error = await assertRejects(() => chunks.next(), StreamInterruptedError);
      assertEquals([error.partialText, error.requestId, error.code], ["One two", "stream-1", "stream_interrupted"]);
      assertEquals((await chunks.next()).done, true);
      assertEquals(spare.calls, 0);
      assertEquals(one.client.mesh.poolStatus().chat?.models.map((model) => model.reason), ["retry_limit", undefined]);
    });
  }

  it("that falls silent throws after the silence limit, pings counting as life", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(stream({ gate, interlude: ": ping" }));
    const clock = fakeClock();
    await using one = strictClient({ alpha: upstream.url }, { clock });
    gate.open(2);
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    const chunks = answer[Symbol.asyncIterator]();
    assertEquals(joinDeltas([(await chunks.next()).value!, (await chunks.next()).value!]), "Hello");
    const last = assertRejects(() => chunks.next(), StreamInterruptedError, "60000 ms");
    await clock.advance(60_000);
    assertEquals((await last).partialText, "Hello");
    await assertClosesAtOnce(upstream.requests[0]);
  });

  it("waits for a slow reader, who is not a silence of the provider", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(stream({ gate }));
    const clock = fakeClock();
    await using one = strictClient({ alpha: upstream.url }, { clock });
    gate.open(2);
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    await clock.advance(599_999);
    gate.openAll();
    assertEquals(joinDeltas(await toChunks(answer)), "Hello world");
  });

  it("is given up when the client has not read on for ten minutes, without an outcome", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(stream({ gate }));
    const clock = fakeClock();
    gate.open(2);
    await using one = strictClient({ alpha: upstream.url }, { clock });
    const answer = await one.client.chat.completions.create({ messages, stream: true });
    await clock.advance(600_000);
    await assertClosesAtOnce(upstream.requests[0]);
    await assertRejects(() => toChunks(answer), DOMException, "was not read");
    assertEquals([one.client.describe().pools[0]?.models[0]?.status, clock.pending], ["active", 0]);
  });

  it("is a failed call when no model begins one: nothing is streamed", async () => {
    await using upstream = await startUpstream(status(503));
    await using one = strictClient({ alpha: upstream.url });
    const error = await assertRejects(() => one.client.chat.completions.create({ messages, stream: true }), MeshError);
    assertEquals(error.code, "overloaded");
    assert(routingOf(error) !== undefined);
  });
});
