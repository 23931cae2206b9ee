/** One call for several callers: who gets what, who may leave, and what is kept of its events. */
import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ChatCompletion, ChatCompletionChunk } from "../../src/contracts/openai.ts";
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import { DeadlineError, ProviderError, StreamInterruptedError } from "../../src/errors.ts";
import type { EventStream } from "../../src/pipeline/committed_stream.ts";
import { type CallTerms, type Recording, SharedCall } from "../../src/pipeline/cache/shared_call.ts";
import type { Caller, OpenedResponse } from "../../src/pipeline/cache/waiting_caller.ts";
import { settle, testRuntime } from "../../src/runtime/test.ts";

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

function createEvent(content: string, more: Partial<ChatCompletionChunk> = {}): ChatCompletionChunk {
  const choices = content === "" ? [] : [{ index: 0, delta: { content }, finish_reason: null }];
  return { id: "1", object: "chat.completion.chunk", created: 0, model: "m", choices, ...more };
}

/** The stream of a provider, which sends what the test lets it send. */
class ScriptedStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly isStopped = false;
  /** Why it was cancelled. */
  cancelled: unknown;
  /** Number of reads so far. */
  reads = 0;
  #arrived: (CompletionChunk | Error | undefined)[] = [];
  #wake: (() => void) | undefined;

  send(...events: (ChatCompletionChunk | CompletionChunk | Error | undefined)[]): Promise<void> {
    for (const event of events) {
      const isChunk = event === undefined || event instanceof Error || "value" in event;
      this.#arrived.push(
        isChunk ? event as CompletionChunk | Error | undefined : { value: event as ChatCompletionChunk },
      );
    }
    this.#wake?.();
    return settle();
  }

  async read(): Promise<CompletionChunk | undefined> {
    this.reads++;
    if (this.#arrived.length === 0) await new Promise<void>((resolve) => this.#wake = resolve);
    const chunk = this.#arrived.shift();
    if (chunk instanceof Error) throw chunk;
    return chunk;
  }

  cancel(reason?: unknown): void {
    this.cancelled = reason ?? "cancelled";
  }
}

/** A call whose response the test gives, and what becomes of it. */
function start(maxChars = 10_000) {
  const runtime = testRuntime();
  const ends: (Recording | undefined)[] = [];
  const opened: CallTerms[] = [];
  let resolve!: (response: OpenedResponse) => void;
  let reject!: (error: unknown) => void;
  const response = new Promise<OpenedResponse>((accept, refuse) => {
    resolve = accept;
    reject = refuse;
  });
  const call = new SharedCall({
    runtime,
    maxChars,
    open: (terms) => {
      opened.push(terms);
      terms.signal.addEventListener("abort", () => reject(terms.signal.reason)); // as a call that is aborted does
      return response;
    },
    onOver: (recording) => ends.push(recording),
  });
  const join = (caller: Partial<Caller> = {}) =>
    call.join({ timeoutMs: 60_000, isStreamed: false, wantsUsage: false, onEnd: () => {}, ...caller });
  return { call, join, resolve, reject, opened, ends, clock: runtime.clock };
}

const completion = (text = "Hello"): ChatCompletion => ({
  id: "1",
  object: "chat.completion",
  created: 0,
  model: "m",
  choices: [{
    index: 0,
    message: { role: "assistant", content: text, refusal: null },
    finish_reason: "stop",
    logprobs: null,
  }],
  usage,
});

function toBody(opened: OpenedResponse): ChatCompletion {
  assert(opened.kind === "complete");
  return opened.response.body as ChatCompletion;
}

function toStream(opened: OpenedResponse): EventStream {
  assert(opened.kind === "stream");
  return opened.stream;
}

async function readTexts(stream: EventStream): Promise<string[]> {
  const texts: string[] = [];
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) {
    const { choices, usage } = chunk.value;
    texts.push(usage ? `${usage.total_tokens} tokens` : choices[0]?.delta.content ?? "");
  }
  return texts;
}

describe("a call for several callers", () => {
  it("is made once, and gives each a response of its own", async () => {
    const { join, resolve, opened, ends } = start();
    const all = Array.from({ length: 50 }, () => join());
    resolve({ kind: "complete", response: { body: completion() } });
    const bodies = (await Promise.all(all)).map(toBody);
    assertEquals(opened.length, 1);
    for (const body of bodies) assertEquals(body, completion());
    assert(bodies[0] !== bodies[1]);
    assert(bodies[1] !== bodies[2]);
    assertEquals(ends.map((recording) => recording?.kind), ["complete"]);
  });

  it("gives each the form that it requested", async () => {
    const whole = start();
    const streamed = start();
    const wants = { isStreamed: true, wantsUsage: true };
    const fromWhole = [whole.join(), whole.join(wants), whole.join({ isStreamed: true })];
    whole.resolve({ kind: "complete", response: { body: completion() } });
    const [, withUsage, without] = await Promise.all(fromWhole);
    assertEquals((await readTexts(toStream(withUsage!))).join(""), "Hello3 tokens");
    assertEquals((await readTexts(toStream(without!))).join(""), "Hello");

    const fromStream = [streamed.join(wants), streamed.join()];
    const source = new ScriptedStream();
    streamed.resolve({ kind: "stream", stream: source });
    await source.send(
      createEvent("Hel"),
      createEvent("lo"),
      createEvent("", { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }),
      createEvent("", { usage }),
      undefined,
    );
    const [stream, complete] = await Promise.all(fromStream);
    assertEquals(toBody(complete!), completion());
    assertEquals((await readTexts(toStream(stream!))).join(""), "Hello3 tokens");
  });

  it("gives all of a stream to those who come later, each at its own pace", async () => {
    const { call, join, resolve, ends } = start();
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const fast = toStream(await join({ isStreamed: true }));
    await source.send(createEvent("a"), createEvent("b"));
    assertEquals((await fast.read())?.value, createEvent("a"));
    const slow = toStream(await join({ isStreamed: true }));
    assertEquals((await slow.read())?.value, createEvent("a"));
    assertEquals((await fast.read())?.value, createEvent("b"));
    const waiting = readTexts(fast);
    await source.send(createEvent("c"), undefined);
    assertEquals(await waiting, ["c"]);
    assert(!call.isJoinable, "a call that is over takes no more callers");
    assertEquals(await readTexts(slow), ["b", "c"]);
    assertEquals(ends.map((recording) => recording?.kind === "stream" && recording.events.length), [3]);
  });

  it("reads no further than its fastest reader", async () => {
    const { join, resolve } = start();
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const [first] = [toStream(await join({ isStreamed: true })), await join({ isStreamed: true })];
    await source.send(createEvent("a"), createEvent("b"), createEvent("c"));
    assertEquals(source.reads, 0);
    await first.read();
    assertEquals(source.reads, 1);
  });

  it("passes pings on to those who wait, and does not keep them", async () => {
    const { join, resolve, ends } = start();
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const stream = toStream(await join({ isStreamed: true }));
    const pinged = stream.read();
    await source.send({ value: createEvent(""), isPing: true }, createEvent("a"), undefined);
    assertEquals((await pinged)?.isPing, true);
    assertEquals(await readTexts(stream), ["a"]);
    assertEquals(ends.map((recording) => recording?.kind === "stream" && recording.events.length), [1]);
  });

  it("gives events that arrived as one text each as its own", async () => {
    const { join, resolve } = start();
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const stream = toStream(await join({ isStreamed: true }));
    const [first, second] = [createEvent("a"), createEvent("b")];
    const wire = `${JSON.stringify(first)}\n\ndata: ${JSON.stringify(second)}`;
    await source.send({ value: first, wire, others: [second] }, undefined);
    assertEquals(await readTexts(stream), ["a", "b"]);
  });
});

describe("callers of a shared call that leave", () => {
  for (const kind of ["complete", "stream"] as const) {
    const isStreamed = kind === "stream";
    const finish = async (stage: ReturnType<typeof start>) => {
      if (!isStreamed) return stage.resolve({ kind, response: { body: completion() } });
      const source = new ScriptedStream();
      stage.resolve({ kind, stream: source });
      await source.send(createEvent("Hello"), undefined);
    };

    it(`leave the call to the others, also the first one: ${kind}`, async () => {
      for (const leaving of [0, 1]) {
        const stage = start();
        const controllers = [new AbortController(), new AbortController()];
        const calls = controllers.map(({ signal }) => stage.join({ signal, isStreamed }));
        controllers[leaving]!.abort("I leave");
        assertEquals(await calls[leaving]!.catch((error) => error), "I leave");
        assert(!stage.opened[0]!.signal.aborted);
        await finish(stage);
        const opened = await calls[1 - leaving]!;
        assertEquals(opened.kind, kind);
        if (opened.kind === "stream") assertEquals(await readTexts(opened.stream), ["Hello"]);
      }
    });

    it(`have their own deadline: ${kind}`, async () => {
      const stage = start();
      const calls = [stage.join({ timeoutMs: 1_000, isStreamed }), stage.join({ timeoutMs: 9_000, isStreamed })];
      assertEquals(stage.opened[0]!.deadlineAt, stage.clock.monotonic() + 9_000);
      const late = assertRejects(() => calls[0]!, DeadlineError, "1000 ms");
      await stage.clock.advance(1_000);
      await late;
      await finish(stage);
      assertEquals((await calls[1]!).kind, kind);
    });

    it(`end the call when none is left: ${kind}`, async () => {
      const stage = start();
      const controllers = [new AbortController(), new AbortController()];
      const calls = controllers.map(({ signal }) => stage.join({ signal, isStreamed }).catch((error) => error));
      controllers.forEach((controller, index) => controller.abort(`caller ${index}`));
      assertEquals(await Promise.all(calls), ["caller 0", "caller 1"]);
      const { signal } = stage.opened[0]!;
      assert(signal.aborted);
      assertEquals(signal.reason, "caller 1");
      assertEquals(stage.ends, [undefined]);
      assert(!stage.call.isJoinable);
    });
  }

  it("end a stream in the middle when none is left", async () => {
    const stage = start();
    const source = new ScriptedStream();
    stage.resolve({ kind: "stream", stream: source });
    const causes: unknown[] = [];
    const controller = new AbortController();
    const onEnd = (cause: unknown) => void causes.push(cause);
    const stopped = toStream(await stage.join({ isStreamed: true, signal: controller.signal, onEnd }));
    const cancelled = toStream(await stage.join({ isStreamed: true, onEnd }));
    await source.send(createEvent("a"));
    await cancelled.read();
    const pending = stopped.read().then(() => stopped.read()).catch((error) => error);
    await settle();
    controller.abort("I leave");
    assertEquals(await pending, "I leave");
    assert(stopped.isStopped);
    assertEquals(source.cancelled, undefined);
    cancelled.cancel("blocked");
    assertEquals(source.cancelled, "blocked");
    assertEquals(causes, ["I leave", "blocked"]);
    assertEquals(stage.ends, [undefined]);
  });

  it("end a response that begins just then", async () => {
    const stage = start();
    const controller = new AbortController();
    const call = stage.join({ isStreamed: true, signal: controller.signal }).catch((error) => error);
    const source = new ScriptedStream();
    stage.resolve({ kind: "stream", stream: source });
    controller.abort("I leave");
    assertEquals(await call, "I leave");
    assertEquals(source.cancelled, "I leave");
  });

  it("are those who do not read for ten minutes, too", async () => {
    const stage = start();
    const source = new ScriptedStream();
    stage.resolve({ kind: "stream", stream: source });
    const causes: unknown[] = [];
    const stream = toStream(await stage.join({ isStreamed: true, onEnd: (cause) => void causes.push(cause) }));
    const reading = readTexts(toStream(await stage.join({ isStreamed: true })));
    await stage.clock.advance(9 * 60_000);
    assertEquals(causes.length, 0);
    await stage.clock.advance(11 * 60_000);
    assertEquals(causes.length, 1);
    await assertRejects(() => stream.read(), DOMException);
    await source.send(createEvent("a"), undefined);
    assertEquals(await reading, ["a"]);
  });
});

describe("a shared call that fails", () => {
  it("fails for all, each with an error of its own, and takes no more callers", async () => {
    const { call, join, reject, ends } = start();
    const calls = [join(), join({ isStreamed: true }), join()].map((joined) => joined.catch((error) => error));
    const facts = { code: "all_attempts_failed" as const, status: 502, type: "server_error", attempts: [] };
    reject(new ProviderError("It failed", facts));
    const errors = await Promise.all(calls);
    for (const error of errors) {
      assertInstanceOf(error, ProviderError);
      assertEquals([error.message, error.status, error.name], ["It failed", 502, "ProviderError"]);
      assert(error.stack?.includes("It failed"));
    }
    assertEquals(new Set(errors).size, 3);
    assert(!call.isJoinable);
    assertEquals(ends, [undefined]);
  });

  it("in the middle of a stream, gives all what was sent before", async () => {
    const { call, join, resolve, ends } = start();
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const streams = [toStream(await join({ isStreamed: true })), toStream(await join({ isStreamed: true }))];
    const whole = assertRejects(() => join(), StreamInterruptedError);
    const cut = new StreamInterruptedError("The response was cut short", "");
    await source.send(createEvent("a"), cut);
    await whole;
    const errors = [];
    for (const stream of streams) {
      assertEquals((await stream.read())?.value, createEvent("a"));
      errors.push(await assertRejects(() => stream.read(), StreamInterruptedError));
      assertEquals(await stream.read(), undefined);
    }
    assert(errors[0] !== errors[1]);
    assert(!call.isJoinable);
    assertEquals(ends, [undefined]);
  });
});

describe("the events that a shared call keeps", () => {
  const long = createEvent("x".repeat(400));

  it("are at most as long as the limit: then it takes no more callers, and is not recorded", async () => {
    const { call, join, resolve, ends } = start(1_000);
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const stream = toStream(await join({ isStreamed: true }));
    await source.send(long, long, long);
    await stream.read();
    assert(call.isJoinable);
    await stream.read();
    await stream.read();
    assert(!call.isJoinable);
    await source.send(undefined);
    assertEquals(await stream.read(), undefined);
    assertEquals(ends, [undefined]);
  });

  it("do not hold up a fast reader: a slow one that is too far behind is cut", async () => {
    const { join, resolve } = start(1_000);
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const causes: unknown[] = [];
    const fast = toStream(await join({ isStreamed: true }));
    const slow = toStream(await join({ isStreamed: true, onEnd: (cause) => void causes.push(cause) }));
    await source.send(...Array.from({ length: 20 }, () => long), undefined);
    assertEquals((await readTexts(fast)).length, 20);
    await assertRejects(() => slow.read(), StreamInterruptedError, "too slowly");
    assertInstanceOf(causes[0], StreamInterruptedError);
  });

  it("may be many and long in one chunk", async () => {
    const { join, resolve } = start(1_000);
    const source = new ScriptedStream();
    resolve({ kind: "stream", stream: source });
    const stream = toStream(await join({ isStreamed: true }));
    await source.send({ value: long, others: Array.from({ length: 9 }, () => long) }, undefined);
    assertEquals((await readTexts(stream)).length, 10);
  });

  it("of a long complete response are given to all callers, but not recorded", async () => {
    const { join, resolve, ends } = start(100);
    const calls = [join(), join()];
    resolve({ kind: "complete", response: { body: completion("x".repeat(200)) } });
    for (const opened of await Promise.all(calls)) {
      assertEquals(toBody(opened).choices[0]!.message.content?.length, 200);
    }
    assertEquals(ends, [undefined]);
  });
});
